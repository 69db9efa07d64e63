package live

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// podWatch keeps, for each pod of a Job, the fields that an explanation needs.
type podWatch struct {
	source  *Source
	related *related
	set     feed.PodSet
}

func newPodWatch(s *Source, r *related, job *batchv1.Job) *podWatch {
	return &podWatch{source: s, related: r, set: feed.PodSet{Client: s.Client, Job: job}}
}

func (w *podWatch) run(ctx context.Context) error {
	return w.source.watchOptional(ctx, w.set.Collection(w.list, w.onEvent), w.onRefusal)
}

func (w *podWatch) list(ctx context.Context) (string, error) {
	var pods *rows[*input.Pod]
	begin := func() { pods = newRowsFor[*input.Pod](gather.ExpectedPods(w.set.Job)) }
	version, err := w.set.List(ctx, begin, func(pod *corev1.Pod) { pods.put(pod.Name, input.PodOf(pod)) })
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	r := w.related
	r.setPodsTried()
	if err == nil {
		r.pods, r.podsRead = pods, true
		r.events[1].matchEarly(w.source.Now(), r.hasPod)
		notify(r.podsListed)
		w.source.podsChanged()
		if w.source.pod != nil {
			notify(w.source.pod.changes)
		}
	} else if !r.podsRead {
		r.podsGap = ptr.To(gather.GapOf(w.set.Job.Namespace, "list", "pods", errors.Unwrap(err)))
	}
	r.touch(w.source)
	return version, err
}

func (w *podWatch) onEvent(kind watch.EventType, pod *corev1.Pod) {
	row := input.PodOf(pod)
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	before, known := w.related.pods.get(pod.Name)
	switch {
	case kind != watch.Deleted:
		w.related.pods.put(pod.Name, row)
		if !known {
			w.related.events[1].matchEarly(w.source.Now(), func(name string) bool { return name == pod.Name })
		}
	case known && before.UID == pod.UID:
		w.related.pods.remove(pod.Name)
	}
	w.source.podChanged(pod.Name)
	w.source.podsChanged()
	w.related.touch(w.source)
}

// podChanged causes the open pod to be read again if it has this name. The caller holds s.mu.
func (s *Source) podChanged(name string) {
	if s.pod != nil && s.pod.name == name {
		notify(s.pod.changes)
	}
}

// onRefusal drops the pods if they cannot be listed, because data that is not kept up to date is not shown.
func (w *podWatch) onRefusal(r *feed.Refusal) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if r == nil && w.related.podsGap == nil {
		return
	}
	w.related.podsGap = gapOf(r)
	if r != nil && r.Call.Verb != "watch" {
		w.related.podsRead, w.related.pods = false, newRows[*input.Pod]()
	}
	w.related.setPodsTried()
	w.related.touch(w.source)
	w.source.podsChanged()
}

// FailedPods are the pods of the open Job that have failed, or in which a container has.
type FailedPods struct {
	Job  string
	Pods []*input.Pod
	// Read is set if Pods is complete; otherwise, Gap is why it is not, "" if the pods are not read yet.
	Read bool
	Gap  string
}

// podsChanged tells the open logs of failed pods that pods have changed. The caller holds s.mu.
func (s *Source) podsChanged() {
	if s.pod == nil && s.log != nil {
		s.log.SetPod(PodState{})
	}
}

// failedPods returns the failed pods, without those that the Job's controller stopped.
func (s *Source) failedPods() (failed FailedPods) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job == nil || s.job.related == nil {
		failed.Read = s.job != nil && s.job.gone
		return failed
	}
	r := s.job.related
	failed.Job = s.job.key.Name
	failed.Read = r.podsRead || s.job.gone
	if r.podsGap != nil {
		failed.Gap = r.podsGap.Text
	}
	for _, pod := range r.pods.rows {
		if pod.LastFailure() != nil || pod.Phase == corev1.PodFailed && (!pod.Deleting || pod.EndedBeforeDeletion()) {
			failed.Pods = append(failed.Pods, pod)
		}
	}
	return failed
}
