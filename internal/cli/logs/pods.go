package logs

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
)

// listPods reads the pods of a Job for their logs, and returns the resourceVersion to watch from.
func listPods(ctx context.Context, set feed.PodSet) (pods []*logs.Pod, version string, err error) {
	begin := func() { pods = nil }
	version, err = set.List(ctx, begin, func(pod *corev1.Pod) { pods = append(pods, logs.NewPod(pod)) })
	return pods, version, err
}

// followedPods keeps a Follower up to date.
type followedPods struct {
	feed.PodSet
	follower *logs.Follower
	watch    feed.Watch // of those of a Job that runs
}

func (p *followedPods) list(ctx context.Context) (string, error) {
	pods, version, err := listPods(ctx, p.PodSet)
	if err == nil {
		p.follower.Replace(p.Job.UID, pods)
	}
	return version, err
}

func (p *followedPods) take(kind watch.EventType, pod *corev1.Pod) {
	if kind == watch.Deleted {
		p.follower.Remove(pod.UID)
		return
	}
	p.follower.Put(logs.NewPod(pod))
}
