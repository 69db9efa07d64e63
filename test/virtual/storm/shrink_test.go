package storm

import (
	"context"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// maxAttempts limits how many smaller storms are tried.
const maxAttempts = 3000

// shrinker searches for the smallest storm that still shows the violation.
type shrinker struct {
	t        *testing.T
	ctx      context.Context
	shows    func(played) bool
	attempts int
	best     randomStorm
}

// shrink removes the parts of a storm that are not needed to break the first broken invariant.
func shrink(ctx context.Context, t *testing.T, storm *randomStorm, out played) *randomStorm {
	return shrinkTo(ctx, t, storm, out, func(p played) bool { return p.invariant() == out.invariant() })
}

// shrinkTo removes the parts of a storm that are not needed for shows to return true: faults, actions, and features of
// its Jobs. The faults that the dice drew replace the dice.
func shrinkTo(ctx context.Context, t *testing.T, storm *randomStorm, out played, shows func(played) bool) *randomStorm {
	s := &shrinker{t: t, ctx: ctx, shows: shows, best: *storm}
	s.best.dice, s.best.faults = nil, out.faults
	if !s.take(s.best) {
		return storm // It cannot be replayed.
	}
	for before := -1; before != s.attempts && s.attempts < maxAttempts; {
		before = s.attempts
		if !s.fewer() {
			break
		}
	}
	return &s.best
}

// take replaces the best storm by a smaller one if that still shows the violation.
func (s *shrinker) take(storm randomStorm) bool {
	s.attempts++
	if s.attempts > maxAttempts || s.ctx.Err() != nil || !s.shows(storm.play(s.t)) {
		return false
	}
	s.best = storm
	return true
}

// fewer tries to remove each part once, and reports whether any was removed.
func (s *shrinker) fewer() (smaller bool) {
	for _, part := range []func(*randomStorm) *[]*datadriven.TestData{
		func(r *randomStorm) *[]*datadriven.TestData { return &r.faults },
		func(r *randomStorm) *[]*datadriven.TestData { return &r.actions },
		func(r *randomStorm) *[]*datadriven.TestData { return &r.body },
	} {
		smaller = s.fewerCommands(part) || smaller
	}
	smaller = s.fewerArguments() || smaller
	return s.simplerJobs() || smaller
}

// fewerCommands removes commands, first many at once.
func (s *shrinker) fewerCommands(part func(*randomStorm) *[]*datadriven.TestData) (smaller bool) {
	for size := len(*part(&s.best)); size > 0; size /= 2 {
		for at := 0; at < len(*part(&s.best)); {
			storm := s.best
			list := *part(&storm)
			*part(&storm) = slices.Delete(slices.Clone(list), at, min(at+size, len(list)))
			if !s.take(storm) {
				at += size
				continue
			}
			smaller = true
		}
	}
	return smaller
}

// optional holds the arguments that may be removed from a storm.
var optional = []string{"lag", "latency", "qps", "max-uncounted", "clock", "jobs-older", "pods-older", "gap", "stale", "overlap", "exit", "verb"}

// fewerArguments removes arguments of actions and of the world.
func (s *shrinker) fewerArguments() (smaller bool) {
	try := func(d *datadriven.TestData, put func(*randomStorm, *datadriven.TestData)) {
		for i := len(d.CmdArgs) - 1; i >= 0; i-- {
			if key := d.CmdArgs[i].Key; !slices.Contains(optional, key) || key == "jobs-older" && d.HasArg("pods-older") {
				continue
			}
			less, storm := *d, s.best
			less.CmdArgs = slices.Delete(slices.Clone(d.CmdArgs), i, i+1)
			if put(&storm, &less); s.take(storm) {
				d, smaller = &less, true
			}
		}
	}
	try(s.best.world, func(r *randomStorm, d *datadriven.TestData) { r.world = d })
	for at, d := range s.best.actions {
		try(d, func(r *randomStorm, d *datadriven.TestData) {
			r.actions = slices.Clone(r.actions)
			r.actions[at] = d
		})
	}
	return smaller
}

// simplerJobs removes Jobs, and simplifies the others.
func (s *shrinker) simplerJobs() (smaller bool) {
	for at := 0; at < len(s.best.jobs); {
		storm := s.best
		storm.jobs = slices.Delete(slices.Clone(storm.jobs), at, at+1)
		if s.take(storm) {
			smaller = true
			continue
		}
		at++
	}
	for at := range s.best.jobs {
		for again := true; again && s.attempts < maxAttempts; {
			again = slices.ContainsFunc(cases.Simpler(s.best.jobs[at].Case), func(c *model.Case) bool {
				storm := s.best
				storm.jobs = slices.Clone(storm.jobs)
				storm.jobs[at].Case = c
				return s.take(storm)
			})
			smaller = smaller || again
		}
	}
	return smaller
}
