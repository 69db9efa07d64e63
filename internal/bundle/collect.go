package bundle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// maxPods is how many pods are kept: failed pods first, then the newest.
	maxPods = 20_000
	// maxLogs is how many logs are read, and maxNodes how many nodes.
	maxLogs  = 100
	maxNodes = 20
)

// Collector reads a Job and all objects that are related to it.
type Collector struct {
	Client kube.Interface
	Now    func() time.Time
	// LogLines is how many lines from the end of each log are read; 0 reads no logs.
	LogLines int64
	// Progress, if set, is called with the name of the part that is read next.
	Progress func(what string)
}

// collection is the state of one Collect call.
type collection struct {
	*Collector
	*Contents
	job *batchv1.Job
	// known holds, for each of Pods, the fields that explanations read.
	known []*input.Pod
}

// Collect reads the data. It fails only if the Job cannot be decoded or ctx ends: data that could not be read is a Gap.
func (c *Collector) Collect(ctx context.Context, object *unstructured.Unstructured) (*Contents, error) {
	job, err := feed.NamedJob(object)
	if err != nil {
		return nil, err
	}
	r := &collection{Collector: c, job: &job.Job, Contents: &Contents{Job: object, Manifest: Manifest{
		TypeMeta:  metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: Kind},
		Namespace: object.GetNamespace(), Name: object.GetName(), Taken: metav1.NewTime(c.Now()),
	}}}
	for _, part := range []struct {
		what string
		read func(context.Context)
	}{{"pods", r.pods}, {"events", r.events}, {"nodes", r.nodes}, {"logs", r.logs}, {"retries", r.relatives}} {
		if c.Progress != nil {
			c.Progress(part.what)
		}
		part.read(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if managedBy := explain.LeasedBy(r.job, controller.DefaultManagedBy); managedBy != "" {
		r.Manifest.Lease, _ = gather.ReadLease(ctx, r.Client, leader.Leases{}, managedBy, r.job.Namespace)
	}
	if r.Manifest.Workload, err = gather.Workload(ctx, r.Client, r.job); err != nil {
		r.gap("list", kueue.Workloads, err)
	}
	if version, err := kube.ServerVersion(ctx, c.Client); err == nil {
		r.Manifest.Server = version.GitVersion
	}
	return r.Contents, ctx.Err()
}

func (r *collection) gap(verb, resource string, err error) {
	r.Manifest.Gaps = append(r.Manifest.Gaps, gather.GapOf(r.job.Namespace, verb, resource, err))
}

func (r *collection) pods(ctx context.Context) {
	left := 0
	begin := func() { r.Pods, left = nil, 0 }
	_, err := gather.EachWholePod(ctx, r.Client, r.job, begin, func(pod *corev1.Pod) {
		pod.ManagedFields = nil
		r.Pods = append(r.Pods, *pod)
		if len(r.Pods) == maxPods+maxPods/4 { // This bounds the memory.
			left += r.cutPods()
		}
	})
	if err != nil {
		r.Pods = nil
		r.gap("list", "pods", err)
		return
	}
	left += r.cutPods()
	r.Manifest.PodsRead = left == 0
	if left > 0 {
		r.Manifest.Cut = append(r.Manifest.Cut, wording.Plural(left, "older pod that did not fail", "older pods that did not fail"))
	}
	r.known = podsOf(r.Pods)
}

// cutPods sorts the pods, keeps the first maxPods, and returns how many it dropped.
func (r *collection) cutPods() (left int) {
	slices.SortStableFunc(r.Pods, func(a, b corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
	})
	left = max(0, len(r.Pods)-maxPods)
	clear(r.Pods[len(r.Pods)-left:])
	r.Pods = r.Pods[:len(r.Pods)-left]
	return left
}

// rank orders failed pods first, then pods that have not ended.
func rank(pod *corev1.Pod) int {
	switch pod.Status.Phase {
	case corev1.PodFailed:
		return 0
	case corev1.PodSucceeded:
		return 2
	}
	return 1
}

func (r *collection) events(ctx context.Context) {
	about := []fields.Set{gather.EventsOfJob(r.job), gather.EventsOfPods()}
	var complete bool
	var err error
	r.Events, complete, err = gather.Events(ctx, r.Client, r.job, r.known, about, func(event *corev1.Event, _ input.Event) corev1.Event {
		event.ManagedFields = nil
		return *event
	})
	switch {
	case err != nil:
		r.gap("list", "events", err)
	case !complete:
		r.Manifest.Gaps = append(r.Manifest.Gaps, gather.ManyEvents())
	default:
		r.Manifest.EventsRead = true
	}
}

// nodes reads the nodes of pods that failed or are terminating.
func (r *collection) nodes(ctx context.Context) {
	var names []string
	for _, pod := range r.known {
		interesting := pod.Phase == corev1.PodFailed || pod.IsTerminating()
		if interesting && pod.Node != "" && !slices.Contains(names, pod.Node) && len(names) < maxNodes {
			names = append(names, pod.Node)
		}
	}
	for _, name := range names {
		node, err := r.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			node.ManagedFields = nil
			r.Nodes = append(r.Nodes, *node)
		case !kube.IsNotFound(err):
			r.gap("get", "nodes", err)
			return
		}
	}
	gone, err := gather.GoneNodes(ctx, r.Client, r.known, r.Manifest.Taken.Time)
	if err != nil {
		r.gap("get", "nodes", err)
	}
	r.Manifest.GoneNodes = gone
}

// logs reads the logs of containers that failed: of the last run and of the run before. After a failure of a kubelet, the
// other logs of its node are skipped.
func (r *collection) logs(ctx context.Context) {
	if r.LogLines <= 0 {
		return
	}
	targets, more := r.logTargets()
	if more > 0 {
		r.Manifest.Cut = append(r.Manifest.Cut, wording.Plural(more, "log of another container that failed", "logs of other containers that failed"))
	}
	silent := map[string]bool{}
	for i, t := range targets {
		if silent[t.pod.Node] {
			continue
		}
		if r.Progress != nil {
			r.Progress(fmt.Sprintf("logs %d of %d", i+1, len(targets)))
		}
		tail, err := gather.Tail(ctx, r.Client, r.job.Namespace, t.LogTarget, r.LogLines)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if gap := gather.LogGap(ctx, r.Client, r.job.Namespace, []*input.Pod{t.pod}, t.LogTarget, err); gap != nil {
				r.Manifest.Gaps = append(r.Manifest.Gaps, *gap)
			}
			if apierrors.IsForbidden(err) {
				return
			}
			silent[t.pod.Node] = gather.KubeletFailure(err) != ""
		case len(tail.Lines) > 0:
			r.Logs = append(r.Logs, Log{Pod: t.Pod, Container: t.Container, Previous: t.Previous, Lines: tail.Lines})
		}
	}
}

// logTarget is a log with its pod.
type logTarget struct {
	input.LogTarget
	pod *input.Pod
}

// logTargets returns the logs of containers that failed, and the number of logs beyond maxLogs.
func (r *collection) logTargets() (targets []logTarget, more int) {
	for _, pod := range r.known {
		for j := range pod.Containers {
			c := &pod.Containers[j]
			if !c.Ended || c.ExitCode == 0 || pod.Node == "" || c.NeverStarted() {
				continue
			}
			if len(targets) == maxLogs {
				more++
				continue
			}
			targets = append(targets, logTarget{input.LogTarget{Pod: pod.Name, Container: c.Name, Previous: c.Before}, pod})
		}
	}
	return targets, more
}

// relatives reads the retry family, as an explanation does.
func (r *collection) relatives(ctx context.Context) {
	if !gather.MayHaveRelatives(r.job) {
		r.Manifest.RelativesRead = true
		return
	}
	family, err := gather.Family(ctx, r.Client, r.job)
	switch {
	case apierrors.IsForbidden(err):
		return
	case err != nil:
		r.gap("list", "jobs", err)
		return
	}
	r.Manifest.RelativesRead = true
	for _, member := range family {
		if member.UID == r.job.UID {
			continue
		}
		relative := Relative{Job: *member}
		if reconcile.IsFinished(member) && member.Status.Failed > 0 {
			_, err := gather.EachWholePod(ctx, r.Client, member, func() { relative.Pods = nil }, func(pod *corev1.Pod) {
				pod.ManagedFields = nil
				relative.Pods = append(relative.Pods, *pod)
			})
			relative.PodsRead = err == nil
		}
		r.Relatives = append(r.Relatives, relative)
	}
}
