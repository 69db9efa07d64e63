package cmdutil

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
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
	// Keeps keeps what Reports reads of Jobs for WithPodEvents and WithOutput.
	Keeps bool

	once   sync.Once
	reader *gather.Reader
	// kept has, by UID, what Reports has read of Jobs whose pods may have events, or a log, that say more.
	kept map[types.UID]input.Input
}

// OpenJobs creates the clients of a verb that reads Jobs.
func OpenJobs(kube *KubeFlags, choice JobChoice, warnings io.Writer, env Env) (feed.JobSet, *Explainer, error) {
	config, set, err := NewJobSet(kube, choice, warnings)
	if err != nil {
		return set, nil, err
	}
	explainer, err := env.NewExplainer(config)
	return set, explainer, err
}

// GCPercent is the limit of garbage for verbs that read Jobs. For a Job with 100,000 pods, a quarter of Go's
// default saves a third of the memory, and costs up to a third more CPU time.
const GCPercent = 25

// NewExplainer returns an Explainer for a verb that reads Jobs: it limits the garbage that the process keeps.
func (e Env) NewExplainer(config *rest.Config) (*Explainer, error) {
	e.LimitGarbage(GCPercent)
	return NewExplainer(config, e.Now)
}

// NewExplainer returns an Explainer that uses protobuf, which costs a fifth of JSON for a Job with 10,000 pods.
func NewExplainer(config *rest.Config, now func() time.Time) (*Explainer, error) {
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
	e.kept = map[types.UID]input.Input{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ExplainAtOnce)
	var mu sync.Mutex
	finished := 0
	for i, job := range jobs {
		group.Go(func() error {
			in, err := e.Input(ctx, job)
			if err == nil {
				reports[i], err = analysis.Explain(in, e.Options), ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			if e.Keeps && (mayLackEvents(&in, &reports[i]) || e.mayLackOutput(&reports[i])) {
				e.kept[in.Job.UID] = in
			}
			finished++
			done(finished)
			return err
		})
	}
	return reports, group.Wait()
}

// mayLackEvents reports whether events of pods may say more about the Job: one has not started, the Job is stalled, or its deadline passed
// and its pods are gone, which may not have started.
func mayLackEvents(in *input.Input, r *explain.Report) bool {
	switch {
	case in.Job == nil:
		return false
	case r.Verdict.EndedBy == explain.EndedByDeadline && len(in.Pods) == 0:
		return true
	}
	return r.Verdict.Stalled && !r.Job.Suspend || slices.ContainsFunc(in.Pods, func(p *input.Pod) bool { return p.Phase == corev1.PodPending })
}

// LacksEvents reports whether events of the Job's pods may add something to the report, which is one of the last Reports.
func (e *Explainer) LacksEvents(r *explain.Report) bool {
	in, kept := e.kept[types.UID(r.Job.UID)]
	return kept && mayLackEvents(&in, r)
}

// mayLackOutput reports whether the log of a Job without failures may say more about it.
func (e *Explainer) mayLackOutput(r *explain.Report) bool {
	return e.LogLines > 0 && !r.Verdict.Outcome.Fails() && !r.Verdict.Stalled && !r.Job.Suspend && r.Counts.Failed == 0
}

// LacksOutput reports whether the log of the Job of the report, which is one of the last Reports, may add something to it.
func (e *Explainer) LacksOutput(r *explain.Report) bool {
	_, kept := e.kept[types.UID(r.Job.UID)]
	return kept && e.mayLackOutput(r)
}

// WithOutput replaces the report on a Job without failures, which is one of the last Reports, with one that has read the end of its log.
func (e *Explainer) WithOutput(ctx context.Context, r *explain.Report) error {
	if in, kept := e.kept[types.UID(r.Job.UID)]; kept {
		e.reader.AddOutput(ctx, &in)
		*r = analysis.Explain(in, e.Options)
	}
	return ctx.Err()
}

// WithPodEvents replaces the reports on Jobs to which events of pods may add something, with one request for all of them. Without such
// Jobs, it makes none.
func (e *Explainer) WithPodEvents(ctx context.Context, namespace string, reports []explain.Report) error {
	lacks := func(r explain.Report) bool { return e.LacksEvents(&r) }
	if !slices.ContainsFunc(reports, lacks) {
		return nil
	}
	events := e.reader.PodEvents(ctx, namespace)
	for i := range reports {
		if lacks(reports[i]) {
			in := e.kept[types.UID(reports[i].Job.UID)]
			events.AddTo(&in)
			reports[i] = analysis.Explain(in, e.Options)
		}
	}
	return ctx.Err()
}
