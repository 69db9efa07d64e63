package history

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

// Recorder receives versions from Follow. Its methods are called by several goroutines.
type Recorder interface {
	// Record receives a version. Versions of Jobs arrive in order, and so do versions of pods.
	Record(Version)
	// BreakOff reports that versions are missing from now on, and why.
	BreakOff(error)
}

// Follow records all versions of the Jobs and pods of a namespace ("" for all) that are stored from now on, until ctx is
// done. The returned function waits for its goroutines.
func Follow(ctx context.Context, client kubernetes.Interface, namespace string, r Recorder) (wait func(), err error) {
	jobs, err := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, fmt.Errorf("listing jobs: %w", err)
	}
	var watches sync.WaitGroup
	for _, resource := range []cache.WatchFuncWithContext{
		client.BatchV1().Jobs(namespace).Watch, client.CoreV1().Pods(namespace).Watch,
	} {
		// The API server ends the watch of a slow client; a RetryWatcher resumes at the same version, and misses nothing.
		w, err := toolswatch.NewRetryWatcherWithContext(ctx, jobs.ResourceVersion, &cache.ListWatch{WatchFuncWithContext: resource})
		if err != nil {
			return nil, fmt.Errorf("watching: %w", err)
		}
		watches.Go(func() { follow(ctx, w, r) })
	}
	return watches.Wait, nil
}

func follow(ctx context.Context, w watch.Interface, r Recorder) {
	defer w.Stop()
	for event := range w.ResultChan() {
		v, err := FromEvent(event, time.Now())
		if err != nil {
			r.BreakOff(err)
			return
		}
		r.Record(v)
	}
	if ctx.Err() == nil {
		r.BreakOff(errors.New("a watch of the history ended"))
	}
}
