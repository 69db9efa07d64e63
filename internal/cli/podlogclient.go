package cli

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// podPage is how many pods a list request asks for.
const podPage = 500

// podLogClient reads the pods of one Job, and their logs.
type podLogClient struct {
	namespace string
	selector  string // of the Job's pods
	job       types.UID
	pods      typedcorev1.PodInterface
}

func newPodLogClient(config *rest.Config, namespace, selector string, job types.UID) (*podLogClient, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // --max-log-requests is the limit, and one request follows the other
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := typedcorev1.NewForConfig(config)
	if err != nil {
		return nil, explainConfigError(err)
	}
	return &podLogClient{namespace: namespace, selector: selector, job: job, pods: client.Pods(namespace)}, nil
}

func (c *podLogClient) call(verb, resource, name string) apicall.Call {
	return apicall.Call{Verb: verb, Resource: resource, Namespace: c.namespace, Name: name}
}

// list reads in pages, and keeps of each pod what its logs need.
func (c *podLogClient) list(ctx context.Context) ([]*podLog, string, error) {
	var pods []*podLog
	options := metav1.ListOptions{LabelSelector: c.selector, Limit: podPage}
	for {
		page, err := c.pods.List(ctx, options)
		if err != nil {
			return nil, "", c.call("list", "pods", "").Wrap(err)
		}
		for i := range page.Items {
			if pod := &page.Items[i]; observe.JobUID(pod) == c.job {
				pods = append(pods, newPodLog(pod))
			}
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return pods, page.ResourceVersion, nil
		}
	}
}

func (c *podLogClient) open(ctx context.Context, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	body, err := c.pods.GetLogs(pod, options).Stream(ctx)
	return body, c.call("get", "pods/log", pod).Wrap(err)
}

// podSink is told what becomes of the pods of the Job.
type podSink interface {
	replace(pods []*podLog)
	put(pod *podLog)
	remove(uid types.UID)
}

// collection is the pods, for a watch that tells sink of them.
func (c *podLogClient) collection(sink podSink) feed.Collection {
	return feed.Collection{
		Call: c.call("", "pods", ""),
		List: func(ctx context.Context) (string, error) {
			pods, version, err := c.list(ctx)
			if err == nil {
				sink.replace(pods)
			}
			return version, err
		},
		Open: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = c.selector
			return c.pods.Watch(ctx, options)
		},
		Take: func(kind watch.EventType, object runtime.Object) error {
			pod, ok := object.(*corev1.Pod)
			switch {
			case !ok:
				return fmt.Errorf("unexpected %T in the watch of pods", object)
			case observe.JobUID(pod) != c.job:
			case kind == watch.Deleted:
				sink.remove(pod.UID)
			default:
				sink.put(newPodLog(pod))
			}
			return nil
		},
	}
}
