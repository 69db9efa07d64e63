package cli

import (
	"context"
	"fmt"
	"io"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// logPods reads the pods of a Job for their logs.
type logPods struct {
	client kubernetes.Interface
	job    *batchv1.Job
}

func (p logPods) call(verb string) apiCall {
	return apiCall{verb: verb, resource: "pods", namespace: p.job.Namespace}
}

// list returns the pods, and the resourceVersion to watch from.
func (p logPods) list(ctx context.Context) (pods []*logs.Pod, version string, err error) {
	begin := func() { pods = nil }
	version, err = gather.EachPod(ctx, p.client, p.job, begin, func(pod *corev1.Pod) { pods = append(pods, logs.NewPod(pod)) })
	return pods, version, p.call("list").wrap(err)
}

// followedPods keeps a Follower up to date.
type followedPods struct {
	logPods
	follower *logs.Follower
}

func (p followedPods) list(ctx context.Context) (string, error) {
	pods, version, err := p.logPods.list(ctx)
	if err == nil {
		p.follower.Replace(pods)
	}
	return version, err
}

func (p followedPods) watch(ctx context.Context, version string) (watch.Interface, error) {
	selector, err := gather.PodSelector(p.job)
	if err != nil {
		return nil, err
	}
	opened, err := p.client.CoreV1().Pods(p.job.Namespace).Watch(ctx, metav1.ListOptions{
		LabelSelector: selector, ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: ptr.To[int64](watchSeconds),
	})
	return opened, p.call("watch").wrap(err)
}

func (p followedPods) watchCall() apiCall { return p.call("watch") }

func (p followedPods) event(kind watch.EventType, object runtime.Object) error {
	pod, ok := object.(*corev1.Pod)
	switch {
	case !ok:
		return fmt.Errorf("unexpected %T in the watch of pods", object)
	case observe.JobUID(pod) != p.job.UID:
	case kind == watch.Deleted:
		p.follower.Remove(pod.UID)
	default:
		p.follower.Put(logs.NewPod(pod))
	}
	return nil
}

// openLog requests logs of a namespace.
func openLog(client kubernetes.Interface, namespace string) func(context.Context, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return func(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error) {
		body, err := client.CoreV1().Pods(namespace).GetLogs(pod, request).Stream(ctx)
		return body, apiCall{verb: "get", resource: "pods/log", namespace: namespace, name: pod}.wrap(err)
	}
}

// logConnection paces the requests for a log as a link does.
type logConnection struct{ *link }

func (c logConnection) Connected() { c.connected() }
func (c logConnection) Heard()     { c.heard() }

func (c logConnection) Retry(ctx context.Context, failure error, news <-chan struct{}) error {
	if failure == nil {
		return c.sleep(ctx, news)
	}
	return c.wait(ctx, failure)
}
