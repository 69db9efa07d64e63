package run

import (
	"context"
	"errors"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// errNoRetryLeft reports that a Job that did not run out of memory has had all of its retries.
var errNoRetryLeft = errors.New("no retry is left")

// mayRetry reports whether the last Job is retried if it fails; whether it ran out of memory is known only then.
func (r *runner) mayRetry(t *task) bool {
	return r.plainRetries(t) < r.o.retries || r.o.raise != nil && t.raises < r.o.retries
}

// plainRetries returns the number of retries with the same memory.
func (r *runner) plainRetries(t *task) int { return len(t.attempts) - 1 - t.raises }

// raiseMemory raises the memory of the containers that ran out of it in the copy of the last Job, if --on-oom asks for it. It
// returns an error if they cannot get more, or if no retry is left.
func (r *runner) raiseMemory(ctx context.Context, client *rerun.Client, t *task, found *rerun.Candidate) error {
	if r.o.raise == nil {
		return nil
	}
	plan, err := found.Plan(retry.Request{})
	if err != nil {
		return err
	}
	chosen, err := client.Choose(ctx, found, plan.Indexes, rerun.ByFailure{Memory: true})
	if err != nil {
		return err
	}
	switch ranOut := chosen.RanOut(); {
	case !ranOut && r.plainRetries(t) >= r.o.retries, ranOut && t.raises >= r.o.retries:
		return errNoRetryLeft
	case !ranOut:
		t.raised = nil
		return nil
	}
	raised, err := chosen.Raise(ctx, found.Object, r.o.raise)
	if err == nil {
		t.raised = raised
	}
	return err
}
