package logprinter

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
)

// List reads the pods of a Job for their logs, and returns the resourceVersion to watch from.
func List(ctx context.Context, set feed.PodSet) (pods []*logs.Pod, version string, err error) {
	begin := func() { pods = nil }
	version, err = set.List(ctx, begin, func(pod *corev1.Pod) { pods = append(pods, logs.NewPod(pod)) })
	return pods, version, err
}

// Pods keeps a Follower up to date with the pods of a Job.
type Pods struct {
	feed.PodSet
	Follower *logs.Follower
	Watch    feed.Watch
}

// List reads the pods, and sets the version from which Run watches them.
func (p *Pods) List(ctx context.Context) error {
	var err error
	p.Watch.Version, err = p.list(ctx)
	return err
}

func (p *Pods) list(ctx context.Context) (string, error) {
	pods, version, err := List(ctx, p.PodSet)
	if err == nil {
		p.Follower.Replace(p.Job.UID, pods)
	}
	return version, err
}

// Run watches the pods.
func (p *Pods) Run(ctx context.Context) error {
	p.Watch.Collection = p.Collection(p.list, p.onEvent)
	return p.Watch.Run(ctx)
}

func (p *Pods) onEvent(kind watch.EventType, pod *corev1.Pod) {
	if kind == watch.Deleted {
		p.Follower.Remove(pod.UID)
		return
	}
	p.Follower.Put(logs.NewPod(pod))
}

// ListLast lists the pods once more after the Job has finished, to find pods that the watch has not delivered.
func (p *Pods) ListLast(ctx context.Context, connection *feed.Connection) error {
	defer connection.Connected()
	for {
		_, err := p.list(ctx)
		if err == nil {
			return nil
		}
		if err := connection.AwaitRetry(ctx, err, nil); err != nil {
			return err
		}
	}
}
