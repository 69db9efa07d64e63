//go:build builtin

package beside

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
)

const (
	// calm is how long equal states must last; it is longer than the second that both controllers wait to batch changes.
	calm = 2200 * time.Millisecond
	// patience is how long different states must last. A controller that waits for the exit codes of a pod takes 30 s.
	patience = 45 * time.Second
	// unrest is how long two states may keep changing.
	unrest = 10 * time.Minute
	// A state does not count as settled from dueSoon before a deadline or the end of a back-off until dueLate after it.
	dueSoon = 3 * time.Second
	dueLate = 1500 * time.Millisecond
)

// settle waits until both Jobs have settled after a step, and returns the differences that explain their states, or an
// error that reports a difference without a name.
func (p *pair) settle(ctx context.Context) ([]string, error) {
	unsettled := p.c.unsettled[p.story.runner]
	held := false
	defer func() {
		if held {
			unsettled.RUnlock()
		}
	}()
	since := time.Now()
	changed, last := since, differences.Pair{}
	for ctx.Err() == nil {
		if err := p.c.dead(); err != nil {
			return nil, err
		}
		seen := p.look()
		if !seen.Ours.Equal(last.Ours) || !seen.BuiltIn.Equal(last.BuiltIn) {
			changed, last = time.Now(), seen
		}
		names, same := differences.Explained(seen)
		switch {
		case !same && !held:
			unsettled.RLock()
			held, changed = true, time.Now()
		case same && held:
			unsettled.RUnlock()
			held = false
		}
		quiet, answered := time.Since(changed), p.answered(changed)
		switch {
		case same && quiet > calm && answered && !p.isDue():
			return names, nil
		case !same && quiet > patience && answered, time.Since(since) > unrest:
			return nil, errors.New(p.report(seen))
		}
		p.c.view.next(ctx)
	}
	return nil, ctx.Err()
}

// look returns the states of both sides.
func (p *pair) look() differences.Pair {
	seen := differences.Pair{RuleNames: p.story.job.RuleNames, Spec: p.spec, Deleted: p.deleted, MayRestart: p.story.mayRestart(), Steps: p.did}
	seen.Ours, seen.BuiltIn = p.c.view.state(p.sides[0].name), p.c.view.state(p.sides[1].name)
	return seen
}

// answered reports whether both controllers have reacted to a pulse that began after t.
func (p *pair) answered(t time.Time) bool {
	return !slices.ContainsFunc(p.sides[:], func(s side) bool { return !p.c.answered(s.manager, t) })
}

// isDue reports whether one of the controllers may act now without a change.
func (p *pair) isDue() bool {
	return slices.ContainsFunc(p.sides[:], func(s side) bool {
		return !p.c.view.state(s.name).Finished() && slices.ContainsFunc(p.c.view.due(s.name), func(t time.Time) bool {
			left := time.Until(t)
			return left < dueSoon && left > -dueLate
		})
	})
}

// dueSince reports whether one of the controllers had to act since a time without a change.
func (p *pair) dueSince(t time.Time) bool {
	now := time.Now()
	return slices.ContainsFunc(p.sides[:], func(s side) bool {
		return !p.c.view.state(s.name).Finished() && slices.ContainsFunc(p.c.view.due(s.name), func(due time.Time) bool {
			return due.After(t) && due.Before(now)
		})
	})
}

// nextDue returns the time until one of the controllers may act without a change, if it is at most a limit.
func (p *pair) nextDue(limit time.Duration) (time.Duration, bool) {
	next := limit + 1
	for _, s := range p.sides {
		for _, t := range p.c.view.due(s.name) {
			if left := time.Until(t); left > 0 {
				next = min(next, left)
			}
		}
	}
	return next, next <= limit
}

// report describes a mismatch.
func (p *pair) report(seen differences.Pair) string {
	steps := ""
	for _, s := range p.did {
		steps += "\n    - " + s
	}
	return fmt.Sprintf("seed %d, our runner %d, node %v, unbound %v, held %v\n%s  steps:%s\n  ours:     %v\n  built-in: %v\n",
		p.story.seed, p.story.runner, p.story.ownNode, p.story.unbound, p.story.job.Held, p.story.describe(), steps, seen.Ours, seen.BuiltIn)
}
