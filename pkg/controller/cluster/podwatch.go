package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// watchedPods selects the pods to watch, which are the pods that may belong to a Job. restartPolicy is immutable, and
// is Always in pods of Deployments, StatefulSets and DaemonSets (ADR 0025).
var watchedPods = fields.OneTermNotEqualSelector("spec.restartPolicy", string(corev1.RestartPolicyAlways)).String()

// PodListWatch is like JobListWatch, but for the pods to watch.
func (l *Live) PodListWatch(namespace string) (lw *cache.ListWatch, example runtime.Object) {
	api := l.client.CoreV1().Pods(namespace)
	return listWatch(l,
		func(ctx context.Context, options metav1.ListOptions) (*corev1.PodList, error) {
			options.FieldSelector = watchedPods
			return api.List(ctx, options)
		},
		func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = watchedPods
			return api.Watch(ctx, options)
		},
	), &corev1.Pod{}
}
