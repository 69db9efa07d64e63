// Package follow follows Jobs until they have ended, for the verbs that wait for them. A Set keeps the last state of each
// Job, shows the progress on stderr, gives up after a timeout or on stalled Jobs, and makes the error that ends the verb.
package follow

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/requests"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Job is a followed Job, as last seen.
type Job struct {
	*batchv1.Job
	Object *unstructured.Unstructured
	// End is how the Job ended, "" while it is open.
	End reconcile.Outcome
	// Verdict is why the Job has failed; zero if that was not read.
	Verdict explain.Verdict

	printed string // the last line of progress, without ready pods
	retried bool   // see Set.ExpectRetry
}

// NewJob returns the Job that an object describes.
func NewJob(object *unstructured.Unstructured) (*Job, error) {
	job, err := cmdutil.ToJob(object)
	return &Job{Job: job, Object: object}, err
}

// IsLost reports whether the Job was deleted before it finished.
func (j *Job) IsLost() bool { return isLost(j.End) }

// Options choose how a Set follows its Jobs, and what it shows.
type Options struct {
	cmdutil.Env
	Client kube.Interface
	Kube   *cmdutil.KubeFlags
	Words

	Timeout time.Duration // 0 for none
	Stalled StallFlags
	// NoteGaps prints one notice if stalls may be missed because something cannot be read.
	NoteGaps  bool
	Explainer *cmdutil.Explainer // reads stalls; nil if FollowStalls is not called

	// EndOf returns how a Job ends with an update, "" if it does not end yet; nil for feed.EndOf.
	EndOf func(*batchv1.Job, *feed.Update) (reconcile.Outcome, error)
	// OnUpdate is called after each update with the Jobs that ended with it. If over is set, or if no Job is open, Follow
	// returns err. It may be nil.
	OnUpdate func(ctx context.Context, ended []*Job) (over bool, err error)

	Quiet bool // show no progress
	// Bar draws a bar on a terminal, in ASCII only if ASCII is set.
	Bar, ASCII bool
}

// Set holds the Jobs that a verb follows. Other output to the terminal must go through Write or Around.
type Set struct {
	Options
	Link *feed.Link
	// Cancel ends the context that Start returned.
	Cancel context.CancelCauseFunc
	// Blockers are the reasons why the Jobs are stalled, set before ErrStalled ends the context.
	Blockers map[types.UID]*explain.Stall

	watch feed.Watch // template that is copied for each watch

	mu     sync.Mutex
	jobs   []*Job
	stalls []*feed.Stalls // by namespace; empty if they are not read
	shown  int            // columns that the line on a terminal takes now
	closed bool
}

// Start returns a Set without Jobs, and a context that ends at the timeout. The timeout cancels the context instead of
// setting a deadline, because client-go fails early if it expects to exceed one.
func Start(ctx context.Context, o Options) (s *Set, following context.Context, stop func()) {
	s = &Set{Options: o}
	if s.EndOf == nil {
		s.EndOf = func(job *batchv1.Job, u *feed.Update) (reconcile.Outcome, error) { return feed.EndOf(job, u.Gone), nil }
	}
	following, s.Cancel = context.WithCancelCause(requests.Followed(ctx))
	stopTimer := func() {}
	if o.Timeout > 0 {
		stopTimer = o.After(o.Timeout, func() { s.Cancel(ErrTimeout) })
	}
	link, disconnect := o.Connect(following, o.Client, s)
	s.Link, s.watch = link, cmdutil.Watch(link, s)
	stopTicking := s.tick()
	return s, following, func() {
		stopTicking()
		disconnect()
		s.Close()
		stopTimer()
		s.Cancel(nil)
	}
}

// NewWatch returns a Watch with a connection of its own.
func (s *Set) NewWatch() feed.Watch {
	watch := s.watch
	watch.Connection = s.Link.Open()
	return watch
}

// Add adds Jobs.
func (s *Set) Add(jobs ...*Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = append(s.jobs, jobs...)
}

// Replace follows another Job instead of one that has ended.
func (s *Set) Replace(ended, other *Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[slices.Index(s.jobs, ended)] = other
}

// ExpectRetry sets whether another Job replaces this one if it fails. No stall limit applies between the failure and
// Replace.
func (s *Set) ExpectRetry(j *Job, expected bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.retried = expected
}

// Open returns the Jobs that have not ended.
func (s *Set) Open() []*batchv1.Job {
	open, _ := s.unfinished()
	return open
}

// unfinished returns the Jobs that have not ended, and whether another Job is to replace one that has failed.
func (s *Set) unfinished() (open []*batchv1.Job, retrying bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.End == "" {
			open = append(open, j.Job)
		}
		retrying = retrying || j.retried && j.End == reconcile.OutcomeFailed
	}
	return open, retrying
}

// errOver ends a feed whose Jobs are no longer followed.
var errOver = errors.New("the outcome is certain")

// Follow follows Jobs of the Set with a feed that contains them, and returns when all of them have ended.
func (s *Set) Follow(ctx context.Context, jobs *feed.Jobs, own ...*Job) error {
	var result error
	listed, over := false, false
	jobs.OnUpdates = func(updates []feed.Update) error {
		ended, err := s.update(own, updates, !listed)
		listed = true
		if err != nil {
			return err
		}
		if s.OnUpdate != nil {
			over, err = s.OnUpdate(ctx, ended)
		}
		if over = over || !slices.ContainsFunc(own, func(j *Job) bool { return j.End == "" }); over {
			result = err
			return errOver
		}
		return err
	}
	if err := jobs.Run(ctx); !over { // If ctx is done by now, too, the error is not errOver.
		return s.Cause(ctx, err)
	}
	jobs.Connection.Connected() // The last update may be a list after an outage.
	return result
}

// update applies updates, shows them, and returns the Jobs that ended. complete is set for the first list: a Job that it
// lacks is deleted.
func (s *Set) update(own []*Job, updates []feed.Update, complete bool) (ended []*Job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byUID := make(map[types.UID]*feed.Update, len(updates))
	for i := range updates {
		byUID[updates[i].UID] = &updates[i]
	}
	var changed []*Job
	for _, j := range own {
		u := byUID[j.UID]
		if u == nil && complete {
			u = &feed.Update{Gone: feed.Deleted}
		}
		if u == nil || j.End != "" {
			continue
		}
		if err := j.update(u, s.EndOf); err != nil {
			return nil, err
		}
		if j.End != "" {
			ended = append(ended, j)
		} else {
			changed = append(changed, j)
		}
	}
	s.show(changed)
	return ended, nil
}

func (j *Job) update(u *feed.Update, endOf func(*batchv1.Job, *feed.Update) (reconcile.Outcome, error)) error {
	if u.Job != nil {
		job, err := cmdutil.ToJob(u.Job)
		if err != nil {
			return err
		}
		j.Job, j.Object = job, u.Job
	}
	var err error
	j.End, err = endOf(j.Job, u)
	return err
}
