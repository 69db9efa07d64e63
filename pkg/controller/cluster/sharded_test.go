package cluster

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A list and a watch return only the namespaces of the shard, whether or not the API server filters; bookmarks, which
// have no namespace, are kept.
// Requirements: SHD-06
func TestForeignNamespacesAreDropped(t *testing.T) {
	var own, foreign string
	for _, namespace := range []string{"alpha", "beta", "gamma", "delta"} {
		if shard.Of(1, 2).Contains(namespace) {
			own = namespace
		} else {
			foreign = namespace
		}
	}
	pod := func(namespace string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: namespace}}
	}
	var selectors []string
	events := watch.NewFakeWithChanSize(4, false)
	unfiltered := &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
			selectors = append(selectors, o.ShardSelector)
			return &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*pod(foreign), *pod(own)}}, nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			selectors = append(selectors, o.ShardSelector)
			return events, nil
		},
	}
	dropped := 0
	lw := Sharded(unfiltered, shard.Of(1, 2), func() { dropped++ })
	list, err := lw.ListWithContextFunc(t.Context(), metav1.ListOptions{})
	if pods := list.(*corev1.PodList); err != nil || len(pods.Items) != 1 || pods.Items[0].Namespace != own || pods.ResourceVersion != "7" {
		t.Errorf("the list is %v, %v", list, err)
	}
	w, err := lw.WatchFuncWithContext(t.Context(), metav1.ListOptions{})
	assert.NoError(t, err)
	events.Add(pod(foreign))
	events.Delete(pod(foreign))
	events.Add(pod(own))
	events.Action(watch.Bookmark, &corev1.Pod{})
	for _, want := range []watch.EventType{watch.Added, watch.Bookmark} {
		if e := <-w.ResultChan(); e.Type != want || want == watch.Added && e.Object.(*corev1.Pod).Namespace != own {
			t.Errorf("the watch brings %v", e)
		}
	}
	w.Stop()
	want := "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')"
	if dropped != 3 || !slices.Equal(selectors, []string{want, want}) {
		t.Errorf("%d objects were dropped, and the selectors were %q", dropped, selectors)
	}
	assert.Equal(t, Sharded(unfiltered, shard.Range{}, nil), unfiltered, "the only shard is filtered")
}
