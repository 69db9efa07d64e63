// Package eventwriter writes events about Jobs. The broadcaster of client-go is not sufficient: it has one budget for
// all events about one object, and one queue that drops events when it is full, so that many created pods may cost a
// Job the event about its end; and it increases the count of an event by one at a time.
//
// Events wait in lanes: one for each reason of a Job, one for each cause of failures. A lane merges events instead of
// dropping them: repeated text increases the count, pods become "500 pods", failures a count. Each lane may write ten
// events at once, then one per minute, and everything when the Job finishes or the process ends. Lanes about pods have
// a separate queue: other events do not wait behind them.
//
// The name of an event is derived from the Job's UID and the message. So a repeated event, even from the next process,
// increases the count of one object.
//
// An event is stored at most once: events not stored when the process dies are lost. So pods whose failure was stored
// just before a crash are missing from the count of its cause, but no pod is counted twice. The API server deletes an
// event an hour after its last change, and the count starts over. If it is deleted sooner, the process that wrote it
// continues with the full count.
package eventwriter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/tools/reference"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Writer writes events in the background. It is a record.EventRecorder that never blocks.
type Writer struct {
	clock  clock.WithTicker
	store  store
	retry  retryPolicy
	logger klog.Logger

	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
	queues  [queues]workqueue.TypedDelayingInterface[laneKey]

	mu    sync.Mutex
	lanes laneSet
	// complained holds the kinds of errors that were logged recently.
	complained map[string]bool
}

// Config configures a Writer. All fields are required.
type Config struct {
	// RetryMin and RetryMax bound the exponential wait after a failed write.
	RetryMin, RetryMax time.Duration
	// CallTimeout is the timeout of an API call.
	CallTimeout time.Duration
	Clock       clock.WithTicker
}

// retryPolicy bounds the wait after a failed write.
type retryPolicy struct{ min, max time.Duration }

// maxDrain is how long a shutdown may wait for pending events.
const maxDrain = 3 * time.Second

// maxEventAge is how long writing an event is retried. The API server does not keep events longer.
const maxEventAge = time.Hour

// New returns a Writer that is not started.
func New(config Config) *Writer {
	w := &Writer{
		clock: config.Clock, retry: retryPolicy{config.RetryMin, config.RetryMax},
		lanes: newLaneSet(), complained: map[string]bool{},
	}
	w.store.timeout = config.CallTimeout
	for i := range w.queues {
		w.queues[i] = workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[laneKey]{Clock: config.Clock})
	}
	return w
}

var _ record.EventRecorder = &Writer{}

// Event implements record.EventRecorder.
func (w *Writer) Event(about runtime.Object, kind, reason, message string) {
	w.add(about, kind, laneKey{reason: reason}, note{message: message, count: 1})
}

// Eventf implements record.EventRecorder.
func (w *Writer) Eventf(about runtime.Object, kind, reason, format string, args ...any) {
	w.Event(about, kind, reason, fmt.Sprintf(format, args...))
}

// AnnotatedEventf implements record.EventRecorder. Only failures have an annotation.
func (w *Writer) AnnotatedEventf(about runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	w.Eventf(about, kind, reason, format, args...)
}

// Pods writes events about pods that were created or deleted; the messages start with verb.
func (w *Writer) Pods(job *batchv1.Job, reason, verb string, names []string) {
	if len(names) == 0 {
		return
	}
	names = slices.Sorted(slices.Values(names))
	w.add(job, corev1.EventTypeNormal, laneKey{reason: reason, pods: true}, note{message: verb, pods: firstOf(names), count: len(names)})
}

// Failures counts n pods that failed for the same cause in one event.
func (w *Writer) Failures(job *batchv1.Job, reason string, r cause.Record, n int) {
	w.add(job, corev1.EventTypeWarning, laneKey{reason: reason, cause: r.Text()}, note{message: r.Message(), record: &r, count: n})
}

// Finished writes all pending events about the Job: no more events about it are expected.
func (w *Writer) Finished(job *batchv1.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range w.lanes.finish(job.UID, w.clock.Now()) {
		w.queues[key.queue()].Add(key)
	}
}

func (w *Writer) add(about runtime.Object, kind string, key laneKey, n note) {
	ref, err := reference.GetReference(kube.Scheme, about)
	if err != nil {
		return // Events cannot be about this type.
	}
	// One event covers several versions of the object.
	ref.ResourceVersion = ""
	key.object = ref.UID
	n.first = w.clock.Now()
	n.last = n.first
	w.mu.Lock()
	defer w.mu.Unlock()
	key, added := w.lanes.add(key, *ref, kind, n)
	if !added {
		w.complain("waiting", nil, "Too many events wait to be written: some are left out", "object", klog.KRef(ref.Namespace, ref.Name))
		return
	}
	w.queues[key.queue()].Add(key)
}

// Start starts writing events.
func (w *Writer) Start(ctx context.Context, client kube.Interface) {
	w.logger = klog.FromContext(ctx)
	w.store.events = client.CoreV1()
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, q := range w.queues {
		w.workers.Go(func() { w.work(q) })
	}
}

// Stop writes the pending events, within maxDrain.
func (w *Writer) Stop() {
	for _, q := range w.queues {
		q.ShutDown()
	}
	defer w.cancel()
	defer time.AfterFunc(maxDrain, w.cancel).Stop()
	w.workers.Wait()
	w.drain()
}

func (w *Writer) work(q workqueue.TypedDelayingInterface[laneKey]) {
	for {
		key, shutdown := q.Get()
		if shutdown {
			return
		}
		if wait, more := w.writeNext(key); more {
			q.AddAfter(key, wait)
		}
		q.Done(key)
	}
}

// writeNext writes one event of a lane, if the budget allows it. It returns how long to wait for the next event, if
// there is one.
func (w *Writer) writeNext(key laneKey) (wait time.Duration, more bool) {
	e, wait := w.take(key)
	if e == nil {
		return wait, wait > 0
	}
	done, err := w.store.write(w.ctx, e)
	return w.wrote(key, e, done, err)
}

func (w *Writer) take(key laneKey) (e *outgoing, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lanes.get(key)
	if l == nil {
		return nil, 0
	}
	return l.take(w.clock.Now())
}

// wrote handles the result of writing an event.
func (w *Writer) wrote(key laneKey, e *outgoing, done bool, err error) (wait time.Duration, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, now := w.lanes.get(key), w.clock.Now()
	if !done && now.Sub(e.last.Time) < maxEventAge {
		return l.failed(now, w.retry), true
	}
	if err != nil && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		w.complain(e.about.Namespace+"\n"+string(apierrors.ReasonForError(err)), err, "An event cannot be written, and is left out", "object", klog.KRef(e.about.Namespace, e.about.Name), "reason", e.reason, "message", e.message)
	}
	return 0, w.lanes.wrote(l, now)
}

// complain logs an error, but not too often for each kind. The caller holds the lock.
func (w *Writer) complain(about string, err error, message string, values ...any) {
	if w.lanes.sweep(w.clock.Now()) {
		clear(w.complained)
	}
	if !w.complained[about] {
		w.complained[about] = true
		w.logger.Error(err, message, values...)
	}
}

// drain tries once more to write the pending events: urgent lanes first, then the oldest.
func (w *Writer) drain() {
	w.mu.Lock()
	left := openAll(maps.Values(w.lanes.of))
	w.mu.Unlock()
	for _, key := range left {
		for wait, more := time.Duration(0), true; more && wait == 0; {
			if w.ctx.Err() != nil {
				w.logger.Error(w.ctx.Err(), "The process ends before all events are written")
				return
			}
			wait, more = w.writeNext(key)
		}
	}
}
