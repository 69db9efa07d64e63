package cli

import (
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
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
}

func (p followedPods) list(ctx context.Context) (string, error) {
	pods, version, err := listPods(ctx, p.PodSet)
	if err == nil {
		p.follower.Replace(pods)
	}
	return version, err
}

func (p followedPods) take(kind watch.EventType, pod *corev1.Pod) {
	if kind == watch.Deleted {
		p.follower.Remove(pod.UID)
		return
	}
	p.follower.Put(logs.NewPod(pod))
}

// openLog requests logs of a namespace.
func openLog(client kubernetes.Interface, namespace string) func(context.Context, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return func(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error) {
		body, err := client.CoreV1().Pods(namespace).GetLogs(pod, request).Stream(ctx)
		return body, apicall.Call{Verb: "get", Resource: "pods/log", Namespace: namespace, Name: pod}.Wrap(err)
	}
}
