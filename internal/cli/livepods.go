package cli

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// watchSeconds is when the server ends a watch, which is then continued.
const watchSeconds = 300

// livePodWatch keeps of each pod of a Job what an explanation needs.
type livePodWatch struct {
	source *liveSource
	facts  *liveFacts
	job    *batchv1.Job
}

func (w *livePodWatch) call(verb string) apiCall {
	return apiCall{verb: verb, resource: "pods", namespace: w.job.Namespace}
}

func (w *livePodWatch) watchCall() apiCall { return w.call("watch") }

func (w *livePodWatch) list(ctx context.Context) (string, error) {
	var rows *liveRows[explain.Pod]
	begin := func() { rows = newLiveRows[explain.Pod]() }
	version, err := gather.EachPod(ctx, w.source.client, w.job, begin, func(pod *corev1.Pod) { rows.put(pod.Name, explain.PodOf(pod)) })
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	w.facts.triedPods()
	if err == nil {
		w.facts.pods, w.facts.podsRead = rows, true
		w.facts.events[1].match(w.source.env.now(), w.facts.hasPod)
		notify(w.facts.overdue)
		if w.source.pod != nil {
			notify(w.source.pod.news)
		}
	} else if !w.facts.podsRead {
		w.facts.podsGap = ptr.To(gather.GapOf(w.job.Namespace, "list", "pods", err))
	}
	w.facts.touch(w.source)
	return version, w.call("list").wrap(err)
}

func (w *livePodWatch) watch(ctx context.Context, version string) (watch.Interface, error) {
	selector, err := gather.PodSelector(w.job)
	if err != nil {
		return nil, err
	}
	opened, err := w.source.client.CoreV1().Pods(w.job.Namespace).Watch(ctx, metav1.ListOptions{
		LabelSelector: selector, ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: ptr.To[int64](watchSeconds),
	})
	return opened, w.call("watch").wrap(err)
}

func (w *livePodWatch) event(kind watch.EventType, object runtime.Object) error {
	pod, ok := object.(*corev1.Pod)
	switch {
	case !ok:
		return fmt.Errorf("unexpected %T in the watch of pods", object)
	case observe.JobUID(pod) != w.job.UID:
		return nil
	case kind == watch.Deleted:
		w.remove(pod)
		return nil
	}
	row := explain.PodOf(pod)
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	known := w.facts.hasPod(pod.Name)
	w.facts.pods.put(pod.Name, row)
	if !known {
		w.facts.events[1].match(w.source.env.now(), func(name string) bool { return name == pod.Name })
	}
	w.source.podChanged(pod.Name)
	w.facts.touch(w.source)
	return nil
}

func (w *livePodWatch) remove(pod *corev1.Pod) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if known := w.facts.pods.get(pod.Name); known != nil && known.UID == pod.UID {
		w.facts.pods.remove(pod.Name)
	}
	w.source.podChanged(pod.Name)
	w.facts.touch(w.source)
}

// missed drops the pods if they cannot be listed: what is not kept up to date is not told.
func (w *livePodWatch) missed(err error) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	if err == nil {
		if w.facts.podsGap != nil {
			w.facts.podsGap = nil
			w.facts.touch(w.source)
		}
		return
	}
	w.facts.podsGap = ptr.To(w.gapOf(err))
	if callOf(err).verb != "watch" {
		w.facts.podsRead, w.facts.pods = false, newLiveRows[explain.Pod]()
	}
	w.facts.triedPods()
	w.facts.touch(w.source)
}

func (w *livePodWatch) gapOf(err error) explain.Gap {
	if mayNotWatch(err) {
		return gather.UnwatchedGap(w.job.Namespace, "pods", refusedPause)
	}
	return gather.GapOf(w.job.Namespace, "list", "pods", err)
}
