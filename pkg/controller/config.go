package controller

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/record"
	"k8s.io/component-base/featuregate"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/metrics"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

const (
	// DefaultManagedBy is the default spec.managedBy of the Jobs that this controller
	// reconciles.
	DefaultManagedBy = reconcile.DefaultManagedBy
	// AnnotationPrefix begins every annotation of this project.
	AnnotationPrefix = "batchjob.dev/"
	// AttemptAnnotation is on every pod that this program creates.
	AttemptAnnotation = observe.AttemptAnnotation
	// FieldManager identifies our writes (MGB-13).
	FieldManager = cluster.FieldManager
)

// Config configures a Runtime or an Engine. Zero fields get their default.
type Config struct {
	// Client reads, writes and watches, with its own rate limits. Runtime requires it.
	Client kube.Interface
	// ManagedBy selects the Jobs to reconcile, by spec.managedBy.
	ManagedBy string
	// ReplaceBuiltin also reconciles the Jobs without managedBy or with the built-in
	// controller's, and releases the pods of every deleted Job, as that controller does. It
	// must not run then: kube-controller-manager --controllers=*,-job-controller.
	ReplaceBuiltin bool
	// Namespaces are the namespaces to watch; none means all.
	Namespaces []string
	// Shard limits the namespaces to a range of their hash; the zero Range is no limit.
	Shard shard.Range
	// Unfiltered is called for each object of another shard that the API server sends; a server with the feature
	// ShardedListAndWatch sends none.
	Unfiltered func()
	// Limits are the limits for decisions. Limits.Features is used only without a
	// FeatureGate; its zero value means all features.
	Limits reconcile.Config
	// FeatureGate enables and disables features; NewFeatureGate returns a gate with all features enabled.
	FeatureGate featuregate.FeatureGate
	// BatchPeriod is the minimum time between two syncs of a Job that pod events cause, and between two status writes
	// that change no condition. Default 1 s.
	BatchPeriod time.Duration
	// SyncBudget is the time after which a sync yields to other Jobs; it still completes the calls in flight, and
	// changes at least 100 pods if that many need changes. A Job of at most 100 pods has ten times as long. Default 750 ms.
	SyncBudget time.Duration
	// RetryMin and RetryMax bound the exponential wait after a failed sync of a
	// Job. Default 1 s and 60 s.
	RetryMin, RetryMax time.Duration
	// Workers is the number of Jobs synced concurrently. Default 50.
	Workers int
	// PodConcurrency is the most API calls that one sync makes at once; it makes fewer if they would wait for one
	// another in the API server (docs/internals/adr/0022). Default 32.
	PodConcurrency int
	// CallTimeout is the timeout of an API call. Default 30 s.
	CallTimeout time.Duration
	// EventClient writes events. Default Client; a separate one keeps events from using up
	// the rate limit of more important calls (SCL-03).
	EventClient kube.Interface
	// Recorder records events; nil records none. The default of a Runtime writes events with EventClient.
	Recorder record.EventRecorder
	// Metrics are the metrics to update; nil disables metrics.
	Metrics *metrics.Metrics
	// Clock is the source of time; the system clock by default.
	Clock clock.WithTicker
}

func (c *Config) setDefaults() {
	defaultTo(&c.ManagedBy, DefaultManagedBy)
	defaultTo(&c.BatchPeriod, time.Second)
	defaultTo(&c.SyncBudget, 750*time.Millisecond)
	defaultTo(&c.RetryMin, time.Second)
	defaultTo(&c.RetryMax, time.Minute)
	defaultTo(&c.Workers, 50)
	defaultTo(&c.PodConcurrency, 32)
	defaultTo(&c.CallTimeout, 30*time.Second)
	limits := reconcile.DefaultConfig()
	defaultTo(&c.Limits.MaxUncounted, limits.MaxUncounted)
	defaultTo(&c.Limits.MaxPodChanges, limits.MaxPodChanges)
	defaultTo(&c.Limits.Backoff.Base, limits.Backoff.Base)
	defaultTo(&c.Limits.Backoff.Max, limits.Backoff.Max)
	defaultTo(&c.Limits.MinRequeue, limits.MinRequeue)
	defaultTo(&c.Limits.ReportWait, limits.ReportWait)
	defaultTo(&c.Limits.FailureHold, c.BatchPeriod)
	defaultTo(&c.Limits.Features, limits.Features)
	if c.FeatureGate != nil {
		c.Limits.Features = featuresOf(c.FeatureGate)
	}
	if c.Unfiltered == nil {
		c.Unfiltered = func() {}
	}
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
}

// WithDefaults returns the configuration with the defaults of a Runtime filled in.
func (c Config) WithDefaults() Config {
	c.setDefaults()
	return c
}

func defaultTo[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// Validate checks the configuration. Its errors are worded for users of the flags. Zero fields mean their defaults.
func (c Config) Validate() error {
	c.setDefaults()
	errs := []error{ValidateManagedBy(c.ManagedBy, c.ReplaceBuiltin)}
	if !c.Limits.Features.ManagedBy && !c.ReplaceBuiltin {
		errs = append(errs, errors.New("feature gate JobManagedBy=false: without spec.managedBy no Job is this controller's, unless it runs in place of the built-in one (--replace-builtin)"))
	}
	for name, n := range map[string]int{
		"workers": c.Workers, "pod concurrency": c.PodConcurrency,
		"uncounted pods of a status": c.Limits.MaxUncounted, "pod changes of a plan": c.Limits.MaxPodChanges,
	} {
		if n < 1 {
			errs = append(errs, fmt.Errorf("%s must be at least 1, not %d", name, n))
		}
	}
	for _, namespace := range c.Namespaces {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			errs = append(errs, fmt.Errorf("namespace %q: %s", namespace, strings.Join(problems, "; ")))
		}
	}
	return errors.Join(errs...)
}
