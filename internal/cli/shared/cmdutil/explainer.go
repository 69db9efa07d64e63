package cmdutil

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Explainer reads a Job with its pods, events and logs, and explains it.
type Explainer struct {
	Client   kube.Interface
	now      func() time.Time
	Options  explain.Options
	LogLines int64
	// Brief omits the evidence that only the explanation of a single Job shows: the events of its pods.
	Brief bool

	once   sync.Once
	reader *gather.Reader
}

// OpenJobs creates the clients of a verb that reads Jobs.
func OpenJobs(kube *KubeFlags, choice JobChoice, warnings io.Writer, env Env) (feed.JobSet, *Explainer, error) {
	config, set, err := NewJobSet(kube, choice, warnings)
	if err != nil {
		return set, nil, err
	}
	explainer, err := NewExplainer(config, env.Now)
	return set, explainer, err
}

// gcPercent is the garbage allowed, in percent of the live heap. For a Job with 100,000 pods, a quarter of Go's
// default saves a third of the memory, and costs up to a third more CPU time.
const gcPercent = 25

// NewExplainer returns an Explainer that uses protobuf, which costs a fifth of JSON for a Job with 10,000 pods.
func NewExplainer(config *rest.Config, now func() time.Time) (*Explainer, error) {
	debug.SetGCPercent(gcPercent)
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.QPS = -1 // ExplainAtOnce is the limit.
	client, err := kube.NewForConfig(config)
	if err != nil {
		return nil, ExplainConfigError(err)
	}
	return &Explainer{Client: client, now: now}, nil
}

// Input reads everything that an explanation of the Job needs.
func (e *Explainer) Input(ctx context.Context, object *unstructured.Unstructured) (input.Input, error) {
	job, err := feed.NamedJob(object)
	if err != nil {
		return input.Input{}, err
	}
	return e.read(ctx, &job.Job, job.RuleNames), nil
}

func (e *Explainer) read(ctx context.Context, job *batchv1.Job, ruleNames []string) input.Input {
	e.once.Do(func() {
		e.reader = gather.NewReader(e.Client, gather.Options{
			Report: e.Options, LogLines: e.LogLines, WithoutPodEvents: e.Brief, OurName: controller.DefaultManagedBy, Leases: leader.Leases{},
		})
	})
	return e.reader.Read(ctx, job, ruleNames, e.now())
}

// Stall reads everything about one Job, and returns why it is stalled, nil if it is not. It is more exact than
// Stalls, which does not read the warnings about pods.
func (e *Explainer) Stall(ctx context.Context, job *batchv1.Job) (*explain.Stall, error) {
	return analysis.StallOf(e.read(ctx, job, nil)), ctx.Err()
}

// Stalls finds the stalled Jobs of a namespace, or of all namespaces with "".
func (e *Explainer) Stalls(namespace string, timing feed.Timing) *feed.Stalls {
	return &feed.Stalls{Timing: timing, Client: e.Client, Namespace: namespace, OurName: controller.DefaultManagedBy}
}

// NoteStalls prints one notice, unless noted is set, that stalled Jobs may be missed because of the gaps. It sets
// noted.
func NoteStalls(out io.Writer, gaps []input.Gap, noted *bool) {
	if len(gaps) == 0 || *noted {
		return
	}
	*noted = true
	line := section.MissedStalls(gaps)
	for i, prefix := 0, ". Check it with: "; i < len(gaps); i++ {
		if gaps[i].Command != "" {
			line += prefix + gaps[i].Command
			prefix = "; "
		}
	}
	fmt.Fprintln(out, OneLine(line))
}

// Report explains one Job.
func (e *Explainer) Report(ctx context.Context, object *unstructured.Unstructured) (explain.Report, error) {
	input, err := e.Input(ctx, object)
	if err != nil {
		return explain.Report{}, err
	}
	return analysis.Explain(input, e.Options), ctx.Err()
}

// CronJob reads a CronJob. It is nil in the result if it does not exist, which is not an error.
func (e *Explainer) CronJob(ctx context.Context, namespace, name string, jobs []input.OwnedJob) (input.CronJob, error) {
	return gather.CronJob(ctx, e.Client, namespace, name, jobs, e.now())
}

// JobSet reads a JobSet that has so many Jobs.
func (e *Explainer) JobSet(ctx context.Context, namespace, name string, jobs int) (input.JobSet, error) {
	return gather.JobSet(ctx, e.Client, namespace, name, jobs, e.now())
}

// ExplainAtOnce is the number of Jobs that are read concurrently.
const ExplainAtOnce = 4

// Reports explains several Jobs, in order. After each Job, it calls done with the number of Jobs explained so far.
func (e *Explainer) Reports(ctx context.Context, jobs []*unstructured.Unstructured, done func(int)) ([]explain.Report, error) {
	reports := make([]explain.Report, len(jobs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ExplainAtOnce)
	var mu sync.Mutex
	finished := 0
	for i, job := range jobs {
		group.Go(func() error {
			var err error
			reports[i], err = e.Report(ctx, job)
			mu.Lock()
			defer mu.Unlock()
			finished++
			done(finished)
			return err
		})
	}
	return reports, group.Wait()
}
