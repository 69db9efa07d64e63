package logs

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Follower reads the logs of pods as they are written. What watches the pods calls Replace, Put, Remove and Finish, from
// any goroutine; the pods are the Follower's from then on. Each log has a goroutine, and Run decides, whenever there is
// news, what to read next.
type Follower struct {
	options Options
	out     Output
	wake    chan struct{} // there is news

	mu       sync.Mutex
	pods     *podSet
	finished bool
	begun    bool                        // Found was called
	running  map[sourceKey]chan struct{} // news of their pods
	taken    map[sourceKey]bool          // was or is read
	reported map[unstartedKey]bool
	waiting  bool // logs wait for another one to end, and a Found has said so
}

// NewFollower returns a Follower that knows of no pods.
func NewFollower(o Options, out Output) *Follower {
	return &Follower{
		options: o, out: out, wake: make(chan struct{}, 1), pods: newPodSet(),
		running: map[sourceKey]chan struct{}{}, taken: map[sourceKey]bool{}, reported: map[unstartedKey]bool{},
	}
}

// Replace takes all pods of a Job that exist.
func (f *Follower) Replace(job types.UID, pods []*Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.replace(job, pods)
	for _, news := range f.running {
		notify(news)
	}
	notify(f.wake)
}

// Put takes a pod that is new or has changed.
func (f *Follower) Put(pod *Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.put(pod)
	f.notify(pod.UID)
}

// Remove takes the UID of a pod that is gone.
func (f *Follower) Remove(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pods.remove(uid)
	f.notify(uid)
}

// Finish notes that no more pods will be created: Run returns when all logs have ended.
func (f *Follower) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finished = true
	notify(f.wake)
}

// notify passes on that a pod has changed. f.mu is held.
func (f *Follower) notify(uid types.UID) {
	for key, news := range f.running {
		if key.pod == uid {
			notify(news)
		}
	}
	notify(f.wake)
}

// notify leaves one note, however much there is to be noted.
func notify(news chan<- struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

// Run reads logs until all is over, or until an error that is not about one of them alone. It may be called again, for
// logs of pods that came later.
func (f *Follower) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var tails sync.WaitGroup
	defer tails.Wait()
	defer cancel(nil)
	for ctx.Err() == nil {
		found, open, over := f.next()
		if found != nil {
			if err := f.out.Found(*found); err != nil {
				return err
			}
		}
		for _, source := range open {
			tail := f.start(source)
			tails.Go(func() {
				if err := f.report(tail.Run(ctx)); err != nil {
					cancel(err)
				}
				f.end(source)
			})
		}
		if over {
			break
		}
		select {
		case <-f.wake:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx) // nil if all is over
}

// next returns what is new, nil for nothing, the logs to open now, and whether nothing is left and nothing will come.
func (f *Follower) next() (news *Found, open []Source, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting && len(f.running) >= f.options.Concurrency {
		return nil, nil, false // Nothing can begin before one ends; there may be thousands of pods to look at.
	}
	found := f.pods.find(f.options.Selection)
	found.Unstarted = f.unreported(found.Unstarted)
	left := slices.DeleteFunc(found.Sources, func(s Source) bool { return f.taken[s.key()] })
	n := min(len(left), f.options.Concurrency-len(f.running))
	open, left = left[:n], left[n:]
	if !f.waiting {
		found.Waiting = len(left)
	}
	f.waiting = len(left) > 0
	ended := f.finished || len(f.options.Pods) > 0 && f.pods.haveEnded(f.options.Pods)
	over = ended && len(open) == 0 && len(f.running) == 0
	if f.begun { // Until then nothing was taken: Sources are still all.
		found.Sources = open
	}
	if !f.begun || len(found.Sources)+len(found.Unstarted)+found.Waiting > 0 {
		news = &found
	}
	f.begun = true
	return news, open, over
}

// unreported leaves out what a Found has had, and what every pod waits for. f.mu is held.
func (f *Follower) unreported(unstarted []Unstarted) []Unstarted {
	return slices.DeleteFunc(unstarted, func(u Unstarted) bool {
		known := u.starting || f.reported[u.key()]
		if !known {
			f.reported[u.key()] = true
		}
		return known
	})
}

func (f *Follower) start(source Source) *Tail {
	f.mu.Lock()
	defer f.mu.Unlock()
	news := make(chan struct{}, 1)
	f.taken[source.key()], f.running[source.key()] = true, news
	return &Tail{
		Options: f.options, Source: source, News: news,
		HasEnded: func() bool { return source.HasEnded(f.pod(source.Pod.UID)) },
		Print:    func(line Line) error { return f.out.Line(source, line) },

		Interrupted: func(failure error) { f.out.Interrupted(source, failure) },
	}
}

// pod is nil for one that is gone.
func (f *Follower) pod(uid types.UID) *Pod {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pods.pods[uid]
}

// report takes the end of a log. It returns an error that is about more than this log.
func (f *Follower) report(err error) error {
	var unreadable *UnreadableError
	switch {
	case errors.As(err, &unreadable):
		f.out.Unreadable(unreadable)
		return nil
	case kube.IsNotFound(err): // It was gone before it could be read.
		return nil
	}
	return err
}

func (f *Follower) end(source Source) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, source.key())
	notify(f.wake)
}
