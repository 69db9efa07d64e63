package controller

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// eventWriter writes events in the background. When it stops it waits a while for those
// that are not written yet: an event goes with one status write, and nobody repeats it.
type eventWriter struct {
	broadcaster record.EventBroadcaster
	pending     *atomic.Int64
}

// maxDrain is how long the end of a process may wait for its events.
const maxDrain = 3 * time.Second

func newEventWriter() eventWriter { return eventWriter{record.NewBroadcaster(), &atomic.Int64{}} }

// recorder is where to say events.
func (w eventWriter) recorder() record.EventRecorder {
	return pendingRecorder{w.broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: FieldManager}), w.pending}
}

func (w eventWriter) start(client kubernetes.Interface) {
	w.broadcaster.StartRecordingToSink(pendingSink{&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events(metav1.NamespaceAll)}, w.pending})
}

func (w eventWriter) stop() {
	// An error says that time is up: some may have been left out as too many of a kind.
	_ = wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, maxDrain, true, func(context.Context) (bool, error) {
		return w.pending.Load() <= 0, nil
	})
	w.broadcaster.Shutdown()
}

type pendingRecorder struct {
	record.EventRecorder
	pending *atomic.Int64
}

func (r pendingRecorder) Event(about runtime.Object, kind, reason, message string) {
	r.pending.Add(1)
	r.EventRecorder.Event(about, kind, reason, message)
}

type pendingSink struct {
	record.EventSink
	pending *atomic.Int64
}

func (s pendingSink) Create(e *corev1.Event) (*corev1.Event, error) {
	defer s.pending.Add(-1)
	return s.EventSink.Create(e)
}

func (s pendingSink) Update(e *corev1.Event) (*corev1.Event, error) {
	defer s.pending.Add(-1)
	return s.EventSink.Update(e)
}

func (s pendingSink) Patch(e *corev1.Event, data []byte) (*corev1.Event, error) {
	defer s.pending.Add(-1)
	return s.EventSink.Patch(e, data)
}
