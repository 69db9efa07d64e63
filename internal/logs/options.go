package logs

import (
	"context"
	"io"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Options are which logs are read, and how.
type Options struct {
	Selection

	// TailLines is how many last lines of each log are read; negative for all.
	TailLines int64
	// Since and SinceTime leave out what is older; at most one of them is set.
	Since     time.Duration
	SinceTime time.Time
	// LimitBytes is how many first bytes of each log are read; 0 for all.
	LimitBytes int64
	// Timestamps requests the time of each line. What is followed has it anyway.
	Timestamps bool
	// Concurrency is how many logs are requested at a time, at least 1.
	Concurrency int

	// Open requests a log of a pod.
	Open func(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error)
	// Connect returns the Connection of one more log that is followed.
	Connect func() Connection
	// Now is the clock of what is followed.
	Now func() time.Time
}

// Connection paces the requests for one log.
type Connection interface {
	// Connected is called when the server has answered, and when no other request will come.
	Connected()
	// Heard is called for each line.
	Heard()
	// Retry waits before the next request: after a failure of the connection or, if that is nil, after the server has ended
	// a log or cannot read it, and then no longer than until there is news. An error means that there is no next request.
	Retry(ctx context.Context, failure error, news <-chan struct{}) error
}

// Output takes what is read. An error from it ends the reading. A Follower calls it from several goroutines.
type Output interface {
	// Found comes before the first line, and again whenever there are more logs.
	Found(found Found) error
	// Line takes the lines of each log in order.
	Line(source Source, line Line) error
	// Interrupted takes why a log cannot be read for now although the API server answers, and nil when it can again.
	Interrupted(source Source, failure error)
	// Unreadable takes a log that cannot be read, or not to its end. The others can.
	Unreadable(failure *UnreadableError)
}

// Found is what a look at the pods has found.
type Found struct {
	// Pods are all pods, in the order of reading.
	Pods []*Pod
	// Sources are the logs that are read now. The first Found has all, also those that have to wait.
	Sources []Source
	// Unstarted are those wanted that do not exist yet, each once for a reason. A Follower leaves out what every pod
	// waits for before it starts.
	Unstarted []Unstarted
	// Waiting is how many logs have to wait until another one ends; 0 if that was in a Found before.
	Waiting int
}

// UnreadableError is why one log cannot be read.
type UnreadableError struct {
	Source Source
	Err    error
}

func (e *UnreadableError) Error() string {
	return "the log of " + e.Source.String() + ": " + e.Err.Error()
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// request is the first request for a log.
func (o *Options) request(source Source) *corev1.PodLogOptions {
	request := &corev1.PodLogOptions{Container: source.Container, Previous: source.Previous, Timestamps: o.Timestamps}
	if o.TailLines >= 0 {
		request.TailLines = &o.TailLines
	}
	if o.Since > 0 {
		request.SinceSeconds = wholeSeconds(o.Since)
	}
	if !o.SinceTime.IsZero() {
		request.SinceTime = &metav1.Time{Time: o.SinceTime}
	}
	return request
}

func wholeSeconds(d time.Duration) *int64 {
	seconds := max(1, int64(math.Ceil(d.Seconds())))
	return &seconds
}
