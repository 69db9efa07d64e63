// Package follow fills a history from the watches of an API server.
package follow

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

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// All records all versions of the Jobs and pods of a namespace ("" for all) that are stored from now on, until ctx is
// done. The returned function waits for its goroutines.
func All(ctx context.Context, client kubernetes.Interface, namespace string, r history.Recorder) (wait func(), err error) {
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

func follow(ctx context.Context, w watch.Interface, r history.Recorder) {
	defer w.Stop()
	for event := range w.ResultChan() {
		v, err := history.FromEvent(event, time.Now())
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

// Behind returns the stored Jobs and pods of a namespace ("" for all) that differ from those of a log.
func Behind(ctx context.Context, client kubernetes.Interface, namespace string, log *history.Log) (names []string, err error) {
	_, broken := log.Changes()
	jobs, jobErr := client.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
	pods, podErr := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err := errors.Join(broken, jobErr, podErr); err != nil {
		return nil, err
	}
	var stored []metav1.Object
	for i := range jobs.Items {
		stored = append(stored, &jobs.Items[i])
	}
	for i := range pods.Items {
		stored = append(stored, &pods.Items[i])
	}
	return log.Missing(stored), nil
}
