package feed

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// PodSet selects the pods that a Job controls.
type PodSet struct {
	Client kube.Interface
	Job    *batchv1.Job
	// Indexes selects pods by completion index, using the label of KEP-4017; nil selects all pods.
	Indexes *indexset.Set
}

// selectedIndexes is the maximum number of indexes that fit into the URL of a request.
const selectedIndexes = 100

// selector returns a label selector for the pods; it ignores Indexes if there are too many.
func (s PodSet) selector() (string, error) {
	selector, err := gather.PodSelector(s.Job)
	if err != nil || s.Indexes == nil || s.Indexes.Len() > selectedIndexes {
		return selector, err
	}
	var indexes []string
	for i := range s.Indexes.All() {
		indexes = append(indexes, strconv.Itoa(int(i)))
	}
	return selector + "," + batchv1.JobCompletionIndexAnnotation + " in (" + strings.Join(indexes, ",") + ")", nil
}

func (s PodSet) call(verb string) apicall.Call {
	return apicall.Call{Verb: verb, Resource: "pods", Namespace: s.Job.Namespace}
}

// List reads the pods in pages, see gather.EachPod, and returns the resourceVersion to watch from.
func (s PodSet) List(ctx context.Context, begin func(), onPod func(*corev1.Pod)) (version string, err error) {
	selector, err := s.selector()
	if err != nil {
		return "", err
	}
	version, err = gather.EachPodOf(ctx, s.Client, s.Job, selector, begin, onPod)
	return version, s.call("list").Wrap(err)
}

// Collection returns the pods as a Collection for a Watch. list must call List; onPod receives each pod event of the Job.
func (s PodSet) Collection(list func(context.Context) (string, error), onPod func(watch.EventType, *corev1.Pod)) Collection {
	return Collection{
		Call: s.call(""),
		List: list,
		Open: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			var err error
			if options.LabelSelector, err = s.selector(); err != nil {
				return nil, err
			}
			return s.Client.CoreV1().Pods(s.Job.Namespace).Watch(ctx, options)
		},
		OnEvent: func(kind watch.EventType, object runtime.Object) error {
			pod, ok := object.(*corev1.Pod)
			if !ok {
				return fmt.Errorf("unexpected %T in the watch of pods", object)
			}
			if observe.JobUID(pod) == s.Job.UID {
				onPod(kind, pod)
			}
			return nil
		},
	}
}
