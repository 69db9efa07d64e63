package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// PodWatch is which pods are watched (ADR 0020).
type PodWatch struct {
	// Label is the value of observe.ManagedByLabel that pods get.
	Label string
	// OfAllJobs watches all pods that may belong to a Job, not only those with the label.
	OfAllJobs bool
}

// maybeOfJob selects the pods that may belong to a Job: restartPolicy is immutable, and Always in
// pods of Deployments, StatefulSets and DaemonSets.
var maybeOfJob = fields.OneTermNotEqualSelector("spec.restartPolicy", string(corev1.RestartPolicyAlways)).String()

// watchedPods selects the pods to watch.
func (w PodWatch) watchedPods(options *metav1.ListOptions) {
	if w.OfAllJobs {
		options.FieldSelector = maybeOfJob
		return
	}
	options.LabelSelector = labels.Set{observe.ManagedByLabel: w.Label}.String()
}

// otherPods selects the pods that are not watched, may belong to a Job, and match a selector.
func (w PodWatch) otherPods(options *metav1.ListOptions, selector labels.Selector) error {
	unlabeled, err := labels.NewRequirement(observe.ManagedByLabel, selection.NotEquals, []string{w.Label})
	if err != nil {
		return err
	}
	options.LabelSelector, options.FieldSelector = selector.Add(*unlabeled).String(), maybeOfJob
	return nil
}

// PodListWatch is JobListWatch for the pods to watch.
func (l *Live) PodListWatch(namespace string) (lw *cache.ListWatch, example runtime.Object) {
	api := l.client.CoreV1().Pods(namespace)
	return listWatch(l,
		func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
			l.watch.watchedPods(&options)
			return api.List(ctx, options)
		},
		func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			l.watch.watchedPods(&options)
			return api.Watch(ctx, options)
		},
	), &corev1.Pod{}
}

// unwatchedPage is how many pods Unwatched reads at once, which limits its memory.
const unwatchedPage = 500

// onlyMetadata asks for the metadata of objects.
const onlyMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," +
	"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// Unwatched implements quorum reads.
func (l *Live) Unwatched(ctx context.Context, namespace string, selector labels.Selector, each func([]metav1.PartialObjectMetadata)) error {
	options := metav1.ListOptions{Limit: unwatchedPage}
	if err := l.watch.otherPods(&options, selector); err != nil {
		return err
	}
	for {
		page, err := l.podMetadata(ctx, namespace, options)
		if err != nil {
			return err
		}
		each(page.Items)
		if options.Continue = page.Continue; options.Continue == "" {
			return nil
		}
	}
}

func (l *Live) podMetadata(ctx context.Context, namespace string, options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	ctx, cancel := l.limit(ctx)
	defer cancel()
	page := &metav1.PartialObjectMetadataList{}
	if !l.isReal() { // A fake client has no other lists.
		pods, err := l.client.CoreV1().Pods(namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range pods.Items {
			page.Items = append(page.Items, metav1.PartialObjectMetadata{ObjectMeta: pods.Items[i].ObjectMeta})
		}
		return page, nil
	}
	err := l.client.CoreV1().RESTClient().Get().NamespaceIfScoped(namespace, namespace != "").Resource("pods").
		VersionedParams(&options, kube.ParameterCodec).SetHeader("Accept", onlyMetadata).Do(ctx).Into(page)
	return page, l.checkList(page, err)
}
