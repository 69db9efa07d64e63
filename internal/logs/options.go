package logs

import (
	"context"
	"io"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Options defines which logs are read, and how.
type Options struct {
	Selection

	// TailLines is how many lines from the end of each log are read; negative for all.
	TailLines int64
	// Since and SinceTime skip older lines; at most one of them is set.
	Since     time.Duration
	SinceTime time.Time
	// LimitBytes is how many bytes from the start of each log are read; 0 for all.
	LimitBytes int64
	// Timestamps requests the time of each line. Followed logs always have it.
	Timestamps bool
	// Concurrency is the maximum number of logs that are requested at a time, at least 1.
	Concurrency int

	// Open requests a log of a pod.
	Open func(ctx context.Context, pod string, request *corev1.PodLogOptions) (io.ReadCloser, error)
	// Connect returns a Connection for one more followed log.
	Connect func() Connection
	// Now is the clock for followed logs.
	Now func() time.Time
}

// Connection paces the requests for one log.
type Connection interface {
	// Connected is called when the server has responded, and when no other request will follow.
	Connected()
	// Received is called for each line.
	Received()
	// AwaitRetry waits before the next request. After a lost connection, failure is the error. After the server has ended a log,
	// or cannot read it, failure is nil, and wake ends the wait. An error means that there must be no next request.
	AwaitRetry(ctx context.Context, failure error, wake <-chan struct{}) error
}

// Output receives the lines and reports. An error that it returns ends the reading. A Follower calls it from several
// goroutines.
type Output interface {
	// OnListing is called before the first line, and again when there are more logs.
	OnListing(listing Listing) error
	// OnLine receives the lines of each log in order.
	OnLine(source Source, line Line) error
	// OnInterrupted receives the error if a log cannot be read for now although the API server responds, and nil when it can be
	// read again.
	OnInterrupted(source Source, failure error)
	// OnUnreadable reports a log that cannot be read, or not to its end. The other logs are not affected.
	OnUnreadable(failure *UnreadableError)
}

// Listing is the result of searching the pods for logs.
type Listing struct {
	// Pods are all pods, in the order of reading.
	Pods []*Pod
	// Sources are the logs that are read now. The first Listing has all logs, even if they have to wait.
	Sources []Source
	// Unstarted are the selected logs that do not exist yet, each once per reason. A Follower leaves out the normal waiting
	// at the start of every pod.
	Unstarted []Unstarted
	// Waiting is how many logs have to wait until another one ends; 0 if that was reported before.
	Waiting int
}

// UnreadableError is the error of a single log that cannot be read.
type UnreadableError struct {
	Source Source
	Err    error
}

func (e *UnreadableError) Error() string {
	return "the log of " + e.Source.String() + ": " + e.Err.Error()
}

func (e *UnreadableError) Unwrap() error { return e.Err }

// maxBytes is the number of bytes that are read of each log.
func (o *Options) maxBytes() int64 {
	if o.LimitBytes > 0 {
		return o.LimitBytes
	}
	return math.MaxInt64
}

// request returns the first request for a log.
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
