package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

// Sharded limits lists and watches to the namespaces of a shard. An API server with the feature ShardedListAndWatch
// filters them (KEP-5866); others ignore the selector. A watch does not show whether the server filters, so every
// object is checked: objects of other shards are dropped as soon as they are decoded, and foreign is called for each.
func Sharded(lw *cache.ListWatch, r shard.Range, foreign func()) *cache.ListWatch {
	if r.IsWhole() {
		return lw
	}
	belongs := func(object runtime.Object) bool {
		accessor, err := meta.Accessor(object)
		if err != nil || r.Contains(accessor.GetNamespace()) {
			return true
		}
		foreign()
		return false
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.ShardSelector = r.Selector()
			list, err := lw.ListWithContextFunc(ctx, options)
			if err != nil {
				return nil, err
			}
			return list, keepItems(list, belongs)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.ShardSelector = r.Selector()
			w, err := lw.WatchFuncWithContext(ctx, options)
			if err != nil {
				return nil, err
			}
			return watch.Filter(w, func(e watch.Event) (watch.Event, bool) {
				// Bookmarks and errors belong to no namespace.
				return e, e.Type == watch.Bookmark || e.Type == watch.Error || belongs(e.Object)
			}), nil
		},
	}
}

// keepItems removes the items of a list for which belongs returns false.
func keepItems(list runtime.Object, belongs func(runtime.Object) bool) error {
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	kept := items[:0:0]
	for _, item := range items {
		if belongs(item) {
			kept = append(kept, item)
		}
	}
	if len(kept) == len(items) {
		return nil
	}
	return meta.SetList(list, kept)
}
