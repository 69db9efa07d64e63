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
	usage := "Give up if stalled this long.\nIt is checked every 10 seconds. The exit code is 4 once all Jobs left have been stalled for so long, not counting queues; 0 for never."
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
		s.stalls = append(s.stalls, s.Explainer.Stalls(namespace, s.Timing()))
	}
	ctx, cancel := context.WithCancel(ctx)
	s.readStalls(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		limit, noted := feed.StallLimit{After: s.Stalled.After}, !s.NoteGaps
		for s.Timing().Pause(ctx, feed.StallsInterval, nil) == nil {
			s.readStalls(ctx)
			s.showAll()
			if s.Stalled.After > 0 {
				for _, stalls := range s.stalls {
					cmdutil.NoteStalls(s, stalls.Gaps(), &noted)
				}
				s.checkStalls(ctx, &limit)
			}
		}
	})
	return func() {
		cancel()
		reading.Wait()
	}
}

func (s *Set) readStalls(ctx context.Context) {
	open := s.Open()
	var reading sync.WaitGroup
	for _, stalls := range s.stalls {
		reading.Go(func() {
			stalls.Read(ctx, slices.DeleteFunc(slices.Clone(open), func(job *batchv1.Job) bool {
				return stalls.Namespace != "" && job.Namespace != stalls.Namespace
			}))
		})
	}
	reading.Wait()
}

// showAll shows the open Jobs once more, as their stalls may have changed although the objects have not.
func (s *Set) showAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(slices.DeleteFunc(slices.Clone(s.jobs), func(j *Job) bool { return j.End != "" }))
}

// checkStalls cancels once the limit is exceeded. Lists lack the warnings about pods, so it reads each Job first.
func (s *Set) checkStalls(ctx context.Context, limit *feed.StallLimit) {
	open, retrying := s.unfinished()
	if !limit.Exceeded(s.now(), open, s.Stall) || retrying {
		return
	}
	blockers := map[types.UID]*explain.Stall{}
	for _, job := range open {
		stall, err := s.Explainer.Stall(ctx, job)
		if err != nil {
			return
		}
		if stall == nil || stall.MayContinue {
			limit.Restart(job)
			return
		}
		blockers[job.UID] = stall
	}
	open, retrying = s.unfinished() // A Job may have failed meanwhile.
	if retrying || slices.ContainsFunc(open, func(job *batchv1.Job) bool { return blockers[job.UID] == nil }) {
		return
	}
	s.Blockers = blockers
	s.Cancel(ErrStalled)
}
