package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// logFollower reads the logs of a Job as they are written. Two watches tell it of the Job and of its pods, each log has
// a goroutine, and run decides, whenever there is news, what to read next and when all is over.
type logFollower struct {
	o     *logsOptions
	notes *logNotes
	link  *feed.Link
	wake  chan struct{} // there is news
	ended chan error    // from every log

	mu      sync.Mutex
	book    *podBook
	job     *batchv1.Job
	end     feed.End // of the Job
	running map[sourceKey]*followedLog
	taken   map[sourceKey]bool // was or is read
	waiting bool               // logs wait for a turn, and a note has said so
}

func newLogFollower(o *logsOptions) *logFollower {
	return &logFollower{
		o: o, notes: newLogNotes(o), link: o.env.newLink(o.ErrOut), wake: make(chan struct{}, 1), ended: make(chan error),
		book: newPodBook(), job: o.job, end: feed.EndOf(o.job, ""), running: map[sourceKey]*followedLog{}, taken: map[sourceKey]bool{},
	}
}

func (f *logFollower) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()

	pods, version, err := f.o.pods.list(ctx)
	if err != nil {
		return err
	}
	f.replace(pods)
	failed := make(chan error, 2)
	// The pods were listed after the Job was read: of a Job that had finished they are all there are.
	complete := f.end != ""
	if !complete {
		podWatch := feed.Watch{Collection: f.o.pods.collection(f), Connection: f.link.Open(), Version: version}
		wg.Go(func() { failed <- podWatch.Run(ctx) })
		wg.Go(func() { failed <- f.followJob(ctx) })
	}
	f.begin()
	return f.follow(ctx, &wg, complete, failed)
}

// follow reads logs until all is over; complete says that no more pods will come.
func (f *logFollower) follow(ctx context.Context, wg *sync.WaitGroup, complete bool, failed <-chan error) error {
	unread := 0
	for {
		sources, over := f.next()
		for _, source := range sources {
			f.start(ctx, wg, source)
		}
		if over && complete {
			return f.result(unread)
		}
		if over {
			if err := f.listLast(ctx); err != nil {
				return err
			}
			complete = true
			continue
		}
		select {
		case <-f.wake:
		case err := <-f.ended:
			if err := f.judge(err, &unread); err != nil {
				return err
			}
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin says what a first look at the pods lacks.
func (f *logFollower) begin() {
	f.mu.Lock()
	defer f.mu.Unlock()
	sources := f.wanted()
	f.notes.pods(f.job, f.book, len(sources))
	f.o.printer.arrange(sources)
}

// judge takes the end of a log. Of one that cannot be read there is a note; any other error ends the command.
func (f *logFollower) judge(err error, unread *int) error {
	var one *unreadLogError
	if !errors.As(err, &one) {
		return err
	}
	if *unread++; *unread <= noteLines {
		fmt.Fprintf(f.o.ErrOut, "Cannot read the log of %s: %s\n", sourceName(one.source), cause(one.err))
	}
	return nil
}

func (f *logFollower) result(unread int) error {
	switch {
	case f.end == feed.Deleted || f.end == feed.Replaced:
		return newUserError(kindNotFound, nil, f.o.jobLabel()+" was deleted before it had finished", "")
	case unread > 0:
		return newUserError(kindOther, nil, fmt.Sprintf("%d logs could not be read", unread), "")
	}
	return nil
}

// listLast looks for pods that the watch has not told of, when the Job is known to have finished.
func (f *logFollower) listLast(ctx context.Context) error {
	link := f.link.Open()
	for {
		pods, _, err := f.o.pods.list(ctx)
		if err == nil {
			link.Connected()
			f.replace(pods)
			return nil
		}
		if err := link.Retry(ctx, err, nil); err != nil {
			return err
		}
	}
}

// wanted are the logs to read, those that were read included. f.mu is held.
func (f *logFollower) wanted() []logSource {
	var sources []logSource
	for _, pod := range f.book.sorted() {
		wanted, without := f.o.choice.of(pod)
		sources = append(sources, wanted...)
		f.notes.unstarted(pod, without)
	}
	return sources
}

// next returns the logs to open now, and whether nothing is left and nothing will come.
func (f *logFollower) next() (open []logSource, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting && len(f.running) >= f.o.maxRequests {
		return nil, false // Nothing can begin before one ends; there may be thousands of pods to look at.
	}
	left := slices.DeleteFunc(f.wanted(), func(s logSource) bool { return f.taken[s.key()] })
	f.notes.flush()
	n := min(len(left), f.o.maxRequests-len(f.running))
	open, left = left[:n], left[n:]
	if len(left) > 0 && !f.waiting {
		fmt.Fprintf(f.o.ErrOut, "%d logs are followed at a time (--max-log-requests); %d more wait until one ends.\n", f.o.maxRequests, len(left))
	}
	f.waiting = len(left) > 0
	over = len(open) == 0 && len(f.running) == 0 && f.end != ""
	return open, over
}

func (f *logFollower) start(ctx context.Context, wg *sync.WaitGroup, source logSource) {
	log := &followedLog{
		o: f.o, to: f.o.printer, source: source, link: f.link.Open(), news: make(chan struct{}, 1), budget: newByteBudget(f.o.limitBytes),
		ended: func() bool { return source.previous || f.hasEnded(source.key()) },
	}
	f.o.printer.arrange([]logSource{source})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken[source.key()] = true
	f.running[source.key()] = log
	wg.Go(func() {
		err := log.run(ctx)
		f.mu.Lock()
		delete(f.running, source.key())
		f.mu.Unlock()
		select {
		case f.ended <- err:
		case <-ctx.Done():
		}
	})
}

func (f *logFollower) hasEnded(key sourceKey) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	pod := f.book.pods[key.pod]
	if pod == nil {
		return true
	}
	container := pod.container(key.container)
	return container == nil || container.ended
}

// replace, put and remove take news of the pods.
func (f *logFollower) replace(pods []*podLog) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.book.replace(pods)
	for key := range f.running {
		f.poke(key.pod)
	}
	f.signal()
}

func (f *logFollower) put(pod *podLog) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.book.put(pod)
	f.poke(pod.uid)
	f.signal()
}

func (f *logFollower) remove(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.book.pods, uid)
	f.poke(uid)
	f.signal()
}

// poke tells the logs of a pod that are read to look at it.
func (f *logFollower) poke(uid types.UID) {
	for key, log := range f.running {
		if key.pod == uid {
			select {
			case log.news <- struct{}{}:
			default:
			}
		}
	}
}

func (f *logFollower) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// followJob takes news of the Job until it has ended.
func (f *logFollower) followJob(ctx context.Context) error {
	jobs := &feed.Jobs{Watch: feed.Watch{Connection: f.link.Open()}, Set: f.o.jobs}
	jobs.Each = func(updates []feed.Update) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		defer f.signal()
		for i := range updates {
			if err := f.takeJob(&updates[i]); err != nil {
				return err
			}
		}
		if jobs.Len() == 0 && f.end == "" {
			f.end = feed.Deleted
		}
		return nil
	}
	return jobs.Run(ctx)
}

// takeJob notes a change of the Job, or of another one of its name. f.mu is held.
func (f *logFollower) takeJob(u *feed.Update) error {
	if f.end != "" {
		return nil
	}
	if u.UID != f.o.job.UID {
		f.end = feed.Replaced
		return nil
	}
	if u.Job != nil {
		job, err := toJob(u.Job)
		if err != nil {
			return err
		}
		f.job = job
	}
	f.end = feed.EndOf(f.job, u.Gone)
	return nil
}
