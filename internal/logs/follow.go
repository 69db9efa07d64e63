package logs

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Follower reads the logs of pods as they are written. The caller that watches the pods calls Replace, Put, Remove and
// Finish, from any goroutine, and must not use the pods afterwards. Each log has a goroutine; on each change, Run decides
// what to read next.
type Follower struct {
	options Options
	out     Output
	wake    chan struct{} // wakes Run

	mu       sync.Mutex
	pods     *podSet
	finished bool
	listed   bool                        // a Listing was reported
	running  map[sourceKey]chan struct{} // wakes the log when its pod has changed
	started  map[sourceKey]bool          // the log is or was read
	reported map[unstartedKey]bool
	waiting  bool // logs wait for another one to end, and a Listing has reported that
}

// NewFollower returns a Follower without pods.
func NewFollower(o Options, out Output) *Follower {
	return &Follower{
		options: o, out: out, wake: make(chan struct{}, 1), pods: newPodSet(),
		running: map[sourceKey]chan struct{}{}, started: map[sourceKey]bool{}, reported: map[unstartedKey]bool{},
	}
}

// Replace replaces the pods of a Job by a complete list.
func (f *Follower) Replace(job types.UID, pods []*Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.replace(job, pods)
	for _, wake := range f.running {
		notify(wake)
	}
	notify(f.wake)
}

// Put adds or updates a pod.
func (f *Follower) Put(pod *Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.put(pod)
	f.notify(pod.UID)
}

// Remove removes the pod with this UID.
func (f *Follower) Remove(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.remove(uid)
	f.notify(uid)
}

// Finish declares that no more pods will be created: Run returns when all logs have ended.
func (f *Follower) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finished = true
	notify(f.wake)
}

// notify wakes Run and the logs of a pod that has changed. The caller holds f.mu.
func (f *Follower) notify(uid types.UID) {
	for key, wake := range f.running {
		if key.pod == uid {
			notify(wake)
		}
	}
	notify(f.wake)
}

// notify wakes the receiver; pending notifications are coalesced.
func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Run reads logs until all are done, or until an error that is not about a single log. It may be called again, to read the
// logs of pods that were added later.
func (f *Follower) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var tails sync.WaitGroup
	defer tails.Wait()
	defer cancel(nil)
	for ctx.Err() == nil {
		listing, open, done := f.next()
		if listing != nil {
			if err := f.out.OnListing(*listing); err != nil {
				return err
			}
		}
		for _, source := range open {
			tail := f.start(source)
			tails.Go(func() {
				if err := f.logEnded(tail.Run(ctx)); err != nil {
					cancel(err)
				}
				f.setEnded(source)
			})
		}
		if done {
			break
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx) // nil if all logs are done
}

// next returns the Listing to report (or nil), the logs to open, and whether all logs are done.
func (f *Follower) next() (report *Listing, open []Source, done bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting && len(f.running) >= f.options.Concurrency {
		return nil, nil, false // Nothing can start before another log ends, so do not search the pods.
	}
	listing := f.pods.list(f.options.Selection)
	listing.Unstarted = f.dropReported(listing.Unstarted)
	left := slices.DeleteFunc(listing.Sources, func(s Source) bool { return f.started[s.key()] })
	n := min(len(left), f.options.Concurrency-len(f.running))
	open, left = left[:n], left[n:]
	if !f.waiting {
		listing.Waiting = len(left)
	}
	f.waiting = len(left) > 0
	ended := f.finished || len(f.options.Pods) > 0 && f.pods.hasEnded(f.options.Pods)
	done = ended && len(open) == 0 && len(f.running) == 0
	if f.listed { // Nothing was read before the first Listing, so Sources has all logs.
		listing.Sources = open
	}
	if !f.listed || len(listing.Sources)+len(listing.Unstarted)+listing.Waiting > 0 {
		report = &listing
	}
	f.listed = true
	return report, open, done
}

// dropReported removes entries that an earlier Listing contained, and the waiting that every pod does at its start. The caller
// holds f.mu.
func (f *Follower) dropReported(unstarted []Unstarted) []Unstarted {
	return slices.DeleteFunc(unstarted, func(u Unstarted) bool {
		known := u.isStarting || f.reported[u.key()]
		if !known {
			f.reported[u.key()] = true
		}
		return known
	})
}

func (f *Follower) start(source Source) *Tail {
	f.mu.Lock()
	defer f.mu.Unlock()
	podChanged := make(chan struct{}, 1)
	f.started[source.key()], f.running[source.key()] = true, podChanged
	return &Tail{
		Options: f.options, Source: source, PodChanged: podChanged,
		HasEnded: func() bool { return source.HasEnded(f.pod(source.Pod.UID)) },
		OnLine:   func(line Line) error { return f.out.OnLine(source, line) },

		OnInterrupted: func(failure error) { f.out.OnInterrupted(source, failure) },
	}
}

// pod returns the current state of a pod; nil if it was removed.
func (f *Follower) pod(uid types.UID) *Pod {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pods.pods[uid]
}

// logEnded handles the end of a log. It returns errors that are not about this log alone.
func (f *Follower) logEnded(err error) error {
	var unreadable *UnreadableError
	switch {
	case errors.As(err, &unreadable):
		f.out.OnUnreadable(unreadable)
		return nil
	case kube.IsNotFound(err): // It was removed before it could be read.
		return nil
	}
	return err
}

func (f *Follower) setEnded(source Source) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, source.key())
	notify(f.wake)
}
