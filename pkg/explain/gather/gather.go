// Package gather reads the input of an explanation of a Job: its pods, events, the Lease of its controller, the Workload of a
// suspended Job, the nodes of pods that do not end, the claims of pods that wait for them, the last lines of logs, and
// its retries.
//
// It needs only get, list and watch on jobs, pods and events; other missing permissions reduce the input. No error ends it:
// data that could not be read is reported as a Gap. Pods and events are read in pages, and only the fields of input.Pod and
// input.Event are kept.
package gather

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/secrets"
)

const (
	// podPageSize is the number of pods per list request. An API server has the first page in its cache, and reads all other
	// pages from etcd once nothing has changed for a while: 25 pages of 2,000 pods take four times the CPU time of one page
	// of 50,000, and five times as long. Pods are decoded as they arrive, so that large pages need no more memory.
	podPageSize = 100_000
	// eventPageSize is the number of events per list request.
	eventPageSize = 2000
	// maxExpectedPods limits the memory allocated before pods are read.
	maxExpectedPods = 200_000
	// MaxEvents is the maximum number of pod events of a namespace that are searched.
	MaxEvents = 5000
	// MaxLogs is the maximum number of containers whose logs are read, readBytes the maximum size read of the last lines of
	// each, and logBytes the size kept of that.
	MaxLogs   = 3
	readBytes = 4 << 20
	logBytes  = 64 << 10
	// maxNodes is the maximum number of nodes that are looked up.
	maxNodes = 5
)

// Options select the data to read in addition to pods and events.
type Options struct {
	// Report restricts the logs that are read.
	Report explain.Options
	// LogLines is the number of last lines to read of the most informative logs; 0 for none.
	LogLines int64
	// WithoutPodEvents leaves out the events of pods, which require a search of all pod events of the namespace.
	WithoutPodEvents bool
	// OurName is the default managedBy value of this project's controller. If Leases is nil, no Lease is read.
	OurName string
	Leases  Leases
}

// Reader reads the input for several Jobs at one moment. Data shared by several Jobs is read once. It is safe for concurrent
// use.
type Reader struct {
	client  kube.Interface
	options Options

	mu         sync.Mutex
	leases     []coordinationv1.Lease
	leasesRead bool
}

// NewReader returns a Reader.
func NewReader(client kube.Interface, o Options) *Reader {
	return &Reader{client: client, options: o}
}

// Read reads the input for a Job, at the time now.
func (r *Reader) Read(ctx context.Context, job *batchv1.Job, ruleNames []string, now time.Time) input.Input {
	in := input.Input{Now: now, OurName: r.options.OurName, Job: job, RuleNames: ruleNames}
	var err error
	missing := func(verb, resource string, err error) {
		if err != nil {
			in.Gaps = append(in.Gaps, GapOf(job.Namespace, verb, resource, err))
		}
	}

	in.Pods, err = podsOf(ctx, r.client, job)
	in.PodsRead = err == nil
	missing("list", "pods", err)

	// Without permission to list Jobs, a Job has no family.
	in.Relatives, err = Relatives(ctx, r.client, job, nil)
	in.RelativesRead = err == nil
	if !apierrors.IsForbidden(err) {
		missing("list", "jobs", err)
	}

	about := []fields.Set{EventsNamed(job.Name), EventsOfPods()}
	if r.options.WithoutPodEvents {
		about = about[:1]
	}
	keep := func(of *corev1.Event, e input.Event) ofJob {
		return ofJob{e, of.InvolvedObject.Kind == "Job" && of.InvolvedObject.UID != "" && of.InvolvedObject.UID != job.UID}
	}
	all, complete, err := Events(ctx, r.client, job, in.Pods, about, keep)
	for i := range all {
		if all[i].earlier {
			in.Earlier = append(in.Earlier, all[i].Event)
		} else {
			in.Events = append(in.Events, all[i].Event)
		}
	}
	in.EventsRead = complete && !r.options.WithoutPodEvents
	missing("list", "events", err)
	if err == nil && !complete && !r.options.WithoutPodEvents {
		in.Gaps = append(in.Gaps, ManyEvents())
	}

	// Few users may read Leases, and a Lease is only one of several signs that a controller runs: a failure is not a Gap.
	if managedBy := explain.LeasedBy(job, r.options.OurName); managedBy != "" && r.options.Leases != nil {
		in.Lease = leaseFor(r.readLeases(ctx), r.options.Leases, managedBy, job.Namespace)
	}

	in.Workload, err = Workload(ctx, r.client, job)
	missing("list", kueue.Workloads, err)
	in.OwnerRuns = err == nil && in.Workload == nil && ownerRuns(ctx, r.client, job)

	in.GoneNodes, err = GoneNodes(ctx, r.client, in.Pods, now)
	missing("get", "nodes", err)
	if err == nil { // Few explanations need the nodes of deleted pods: an error is not a Gap.
		_ = findGoneNodes(ctx, r.client, nodesOfGonePods(&in), &in.GoneNodes, func(*corev1.Node) string { return "" })
	}

	in.Claims, err = Claims(ctx, r.client, job, in.Pods, in.Events)
	missing("get", "persistentvolumeclaims", err)

	r.readLogs(ctx, &in)
	return in
}

// ofJob is an event about the Job or one of its pods, or about an earlier Job of its name.
type ofJob struct {
	input.Event
	earlier bool
}

// PodEvents are the events of all pods of a namespace.
type PodEvents struct {
	all      []input.Event
	complete bool
	gap      *input.Gap
}

// PodEvents reads the events of all pods of the namespace, for Jobs that Read has read without (WithoutPodEvents).
func (r *Reader) PodEvents(ctx context.Context, namespace string) *PodEvents {
	var e PodEvents
	_, complete, err := EachEvent(ctx, r.client, namespace, EventsOfPods(), func() { e.all = nil }, func(event *corev1.Event) {
		e.all = append(e.all, input.EventOf(event))
	})
	e.complete = complete
	switch {
	case err != nil:
		e.gap = ptr.To(GapOf(namespace, "list", "events", err))
	case !complete:
		e.gap = ptr.To(ManyEvents())
	}
	return &e
}

// AddTo adds the events of the Job's pods.
func (e *PodEvents) AddTo(in *input.Input) {
	mine := map[string]bool{}
	for _, pod := range in.Pods {
		mine[pod.Name] = true
	}
	in.Events = slices.Clone(in.Events)
	for i := range e.all {
		if event := &e.all[i]; mine[event.Pod] || MayBeOfJob(in.Job, event) {
			in.Events = append(in.Events, *event)
		}
	}
	in.EventsRead = e.complete
	if e.gap != nil && !slices.ContainsFunc(in.Gaps, func(g input.Gap) bool { return g.What == "events" }) {
		in.Gaps = append(slices.Clone(in.Gaps), *e.gap)
	}
}

// readLogs reads the ends of the logs that may say why containers failed, and, if the first has nothing, that of a container that failed beside
// it.
func (r *Reader) readLogs(ctx context.Context, in *input.Input) {
	if r.options.LogLines <= 0 {
		return
	}
	targets := analysis.LogTargets
	if !r.options.WithoutPodEvents { // It is about one Job.
		targets = analysis.LogTargetsWithOutput
	}
	failed := func(in *input.Input) bool {
		return slices.ContainsFunc(in.Gaps, func(g input.Gap) bool { return g.OfLogs() })
	}
	switch complete := r.readTails(ctx, in, targets); {
	case complete && !failed(in) && slices.ContainsFunc(in.Logs, func(tail input.LogTail) bool { return meaning.Collides(meaning.LastLine(tail.Lines)) }):
		r.readTails(ctx, in, targets) // The first attempt says what the retries do not.
	case complete && (len(in.Logs) > 0 && in.Logs[0].IsEmpty() || failed(in)):
		r.readTails(ctx, in, analysis.LogTargetsBeside)
	}
}

// AddOutput reads the end of one log of a Job that has succeeded, or runs without trouble.
func (r *Reader) AddOutput(ctx context.Context, in *input.Input) {
	if r.options.LogLines > 0 {
		r.readTails(ctx, in, analysis.LogTargetsWithOutput)
	}
}

// readTails reads the targets that have not been read yet. It reports whether it may read more: after an error, it reads no more of them, and
// none at all if the log may be there.
func (r *Reader) readTails(ctx context.Context, in *input.Input, targets func(input.Input, explain.Options, int) []input.LogTarget) bool {
	for _, target := range targets(*in, r.options.Report, MaxLogs) {
		if slices.ContainsFunc(in.Logs, func(tail input.LogTail) bool { return tail.Pod == target.Pod && tail.Container == target.Container }) {
			continue
		}
		tail, err := Tail(ctx, r.client, in.Job.Namespace, target, r.options.LogLines)
		if err != nil && target.Output {
			return false
		}
		if err != nil {
			if gap := LogGap(ctx, r.client, in.Job.Namespace, in.Pods, target, err); gap != nil {
				in.Gaps = append(in.Gaps, *gap)
			}
			return kube.IsNotFound(err) || apierrors.IsBadRequest(err) // This log is not there, another one may be.
		}
		tail.Lines, tail.Repeated = secrets.RemoveFromLines(tail.Lines), secrets.Remove(tail.Repeated)
		in.Logs = append(in.Logs, tail)
	}
	return true
}

// GapOf describes a resource of a namespace, or of all namespaces with "", that could not be read, and why.
func GapOf(namespace, verb, resource string, err error) input.Gap {
	g := input.Gap{What: resource}
	where := "namespace " + namespace
	if namespace == "" {
		where = "all namespaces"
	}
	switch {
	case apierrors.IsForbidden(err):
		g.Text = fmt.Sprintf("%s could not be read: no permission to %s %s in %s", resource, verb, resource, where)
		g.Verb, g.Resource, g.Namespace = verb, resource, namespace
		if resource == "nodes" {
			g.Text, g.Namespace = "nodes could not be read: no permission to get nodes", ""
		}
		g.MakeCommand()
	case errors.Is(err, context.DeadlineExceeded):
		g.Text = resource + " could not be read: timed out"
	default:
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err // The URL does not help users.
		}
		g.Text = fmt.Sprintf("%s could not be read: %v", resource, err)
	}
	return g
}

// UnwatchedGap describes a resource of a namespace that may be read but not watched, and is read every interval instead. Its
// What is "watch pods" for pods, as the pods themselves are not missing.
func UnwatchedGap(namespace, resource string, every time.Duration) input.Gap {
	g := input.Gap{
		What: "watch " + resource, Text: fmt.Sprintf("no permission to watch %s: they are read every %s instead", resource, every),
		Verb: "watch", Resource: resource, Namespace: namespace,
	}
	g.MakeCommand()
	return g
}
