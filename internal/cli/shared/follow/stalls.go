package follow

import (
	"cmp"
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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
)

// StallFlags are the flags of a verb that gives up on Jobs that are stalled in some way for so long; 0 for never.
type StallFlags struct {
	Stalled, Unscheduled time.Duration
}

// stallFlag is one of the StallFlags.
type stallFlag struct {
	name    string
	after   *time.Duration
	usage   string
	applies func(*explain.Stall) bool
	past    string // in the error
}

func (f *StallFlags) flags() []stallFlag {
	return []stallFlag{
		{"fail-if-stalled", &f.Stalled, "Give up if stalled this long.\nIt is checked every 10 seconds. The exit code is 4 once all Jobs left have been stalled for so long, not counting queues; 0 for never.",
			func(s *explain.Stall) bool { return !s.MayContinue }, "has been stalled"},
		{"fail-if-unscheduled", &f.Unscheduled, "Give up if pods have no node this long.\nFor want of room, quota or claims, not counting queues and gates; the exit code is 4, and 0 is for never.",
			func(s *explain.Stall) bool { return s.Unscheduled }, "has had no node"},
	}
}

// AddTo adds the flags; stalled is the default of --fail-if-stalled.
func (f *StallFlags) AddTo(flags *pflag.FlagSet, stalled time.Duration) {
	f.Stalled = stalled
	for _, flag := range f.flags() {
		flags.DurationVar(flag.after, flag.name, *flag.after, flag.usage)
	}
}

// Validate returns a usage error for a negative duration.
func (f *StallFlags) Validate() error {
	for _, flag := range f.flags() {
		if *flag.after < 0 {
			return cmdutil.UsageErrorf("--%s=%s: must be 0 or more", flag.name, *flag.after)
		}
	}
	return nil
}

func (f *StallFlags) isSet() bool { return f.Stalled > 0 || f.Unscheduled > 0 }

// limitOf returns the shortest limit that applies to a stall; its name is the text of the error.
func (f *StallFlags) limitOf(stall *explain.Stall) (shortest feed.StallLimit) {
	for _, flag := range f.flags() {
		if *flag.after > 0 && flag.applies(stall) && (shortest.After == 0 || *flag.after < shortest.After) {
			shortest = feed.StallLimit{Name: flag.past, After: *flag.after}
		}
	}
	return shortest
}

// FollowStalls shows which Jobs are stalled, until stop is called, and cancels with ErrStalled once all open Jobs have been
// stalled beyond a limit. namespaces has all namespaces of the Jobs, or "" for all at once. Without a limit, stalls do
// not affect whether the verb ends, so missing permissions are not reported.
func (s *Set) FollowStalls(ctx context.Context, namespaces ...string) (stop func()) {
	if s.Quiet && !s.Stalled.isSet() {
		return func() {}
	}
	for _, namespace := range namespaces {
		s.stalls = append(s.stalls, s.Explainer.Stalls(namespace, s.Timing()))
	}
	ctx, cancel := context.WithCancel(ctx)
	s.readStalls(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		clock, noted := feed.StallClock{LimitOf: s.Stalled.limitOf}, !s.NoteGaps
		for s.Timing().Pause(ctx, feed.StallsInterval, nil) == nil {
			s.readStalls(ctx)
			s.showAll()
			if s.Stalled.isSet() {
				for _, stalls := range s.stalls {
					cmdutil.NoteStalls(s, stalls.Gaps(), &noted)
				}
				s.checkStalls(ctx, &clock)
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

// Report explains a Job that ended, with the failures that were seen while it ran: the pods may be gone.
func (s *Set) Report(ctx context.Context, job *Job) (explain.Report, error) {
	input, err := s.Explainer.Input(ctx, job.Object)
	if err != nil {
		return explain.Report{}, err
	}
	for _, stalls := range s.stalls {
		input.SeenRestart = cmp.Or(input.SeenRestart, stalls.Restarted(job.Job))
	}
	return analysis.Explain(input, s.Explainer.Options), ctx.Err()
}

// checkStalls cancels once the limit is exceeded. Lists lack the warnings about pods, so it reads each Job first.
func (s *Set) checkStalls(ctx context.Context, clock *feed.StallClock) {
	open, retrying := s.unfinished()
	if !clock.Exceeded(s.now(), open, s.Stall) || retrying {
		return
	}
	blockers := map[types.UID]*explain.Stall{}
	for _, job := range open {
		stall, err := s.Explainer.Stall(ctx, job)
		if err != nil {
			return
		}
		if stall == nil || !s.isLimited(stall, s.Stall(job)) {
			clock.Restart(job)
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

// isLimited reports whether a limit applies to the stall of a Job that is no longer than that of listed, the stall as a list
// shows it.
func (s *Set) isLimited(stall, listed *explain.Stall) bool {
	limit := s.Stalled.limitOf(stall)
	return limit.After > 0 && (listed == nil || limit.After <= s.Stalled.limitOf(listed).After)
}
