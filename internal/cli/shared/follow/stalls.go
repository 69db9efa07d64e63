package follow

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// StallFlag is --fail-if-stalled of a verb that waits for Jobs.
type StallFlag struct {
	After time.Duration // 0 for no limit
}

// AddTo adds the flag.
func (f *StallFlag) AddTo(flags *pflag.FlagSet, after time.Duration) {
	usage := "Give up if stalled this long.\nThe exit code is 4 once all Jobs left have been stalled for so long, not counting queues; 0 for never."
	flags.DurationVar(&f.After, "fail-if-stalled", after, usage)
}

// Validate returns a usage error for a negative duration.
func (f *StallFlag) Validate() error {
	if f.After < 0 {
		return cmdutil.UsageErrorf("--fail-if-stalled=%s: must be 0 or more", f.After)
	}
	return nil
}

// FollowStalls shows which Jobs are stalled, until stop is called, and cancels with ErrStalled once all open Jobs have been
// stalled for Stalled.After. namespaces has all namespaces of the Jobs, or "" for all at once. Without a limit, stalls do
// not affect whether the verb ends, so missing permissions are not reported.
func (s *Set) FollowStalls(ctx context.Context, namespaces ...string) (stop func()) {
	if s.Quiet && s.Stalled.After == 0 {
		return func() {}
	}
	for _, namespace := range namespaces {
		stalls := s.Explainer.Stalls(namespace, s.Timing())
		stalls.Read(ctx, s.openIn(namespace))
		s.stalls = append(s.stalls, stalls)
	}
	ctx, cancel := context.WithCancel(ctx)
	limit := stallLimit{s: s, noted: !s.NoteGaps, since: feed.StallLimit{After: s.Stalled.After}}
	var reading sync.WaitGroup
	for _, stalls := range s.stalls {
		reading.Go(func() {
			_ = stalls.Run(ctx, nil, func() []*batchv1.Job { return s.openIn(stalls.Namespace) }, func() error { // It returns only the context's error.
				s.showAll()
				limit.check(ctx)
				return nil
			})
		})
	}
	return func() {
		cancel()
		reading.Wait()
	}
}

// openIn returns the open Jobs of a namespace, or all of them with "".
func (s *Set) openIn(namespace string) []*batchv1.Job {
	return slices.DeleteFunc(s.Open(), func(job *batchv1.Job) bool { return namespace != "" && job.Namespace != namespace })
}

// showAll shows the open Jobs once more, as their stalls may have changed although the objects have not.
func (s *Set) showAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(slices.DeleteFunc(slices.Clone(s.jobs), func(j *Job) bool { return j.End != "" }))
}

// stallLimit applies --fail-if-stalled.
type stallLimit struct {
	s *Set

	mu    sync.Mutex
	since feed.StallLimit
	noted bool // the notice about gaps is printed
}

// check cancels once the limit is exceeded. Lists lack the warnings about pods, so it reads each Job first.
func (l *stallLimit) check(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.s
	if s.Stalled.After == 0 || ctx.Err() != nil {
		return
	}
	for _, stalls := range s.stalls {
		cmdutil.NoteStalls(s, stalls.Gaps(), &l.noted)
	}
	open := s.Open()
	if !l.since.Exceeded(s.now(), open, s.Stall) {
		return
	}
	blockers := map[types.UID]*explain.Stall{}
	for _, job := range open {
		stall, err := s.Explainer.Stall(ctx, job)
		if err != nil {
			return
		}
		if stall == nil || stall.MayContinue {
			l.since.Restart(job)
			return
		}
		blockers[job.UID] = stall
	}
	s.Blockers = blockers
	s.Cancel(ErrStalled)
}
