package whatif

import (
	"context"
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Limits of the Jobs that Quote replays, so that a replay takes a fraction of a second: few pods, and policies that do
// not create many more.
const (
	quotedPods   = 500
	quotedWrites = 10_000
	// DefaultLimit is the maximum virtual time of a replay.
	DefaultLimit = 24 * time.Hour
)

// Quote adds to the advice on the policies of a finished Job what they would have changed.
func Quote(ctx context.Context, in explain.Input, advice []explain.Advice) {
	if !reconcile.IsFinished(in.Job) || !in.PodsRead || len(in.Pods) > quotedPods {
		return
	}
	h := Observe(in)
	h.maxWrites = quotedWrites
	for i := range advice {
		if advice[i].Policies != nil {
			advice[i].WhatIf = h.quote(ctx, advice[i].Policies)
		}
	}
}

// quote returns nil unless the policies would have been better, the history is complete, and at least half of the pods
// follow observed pods.
func (h *History) quote(ctx context.Context, p *explain.Policies) *explain.WhatIf {
	c, err := h.Compare(ctx, fieldsOf(p), DefaultLimit)
	known := err == nil && c.Actual.PodsEstimated == 0 && len(c.NotReproduced) == 0
	if !known || !c.New.Finished || 2*c.New.PodsEstimated > c.New.PodsStarted {
		return nil
	}
	is, was := c.New.Outcome, c.Actual.Outcome
	w := &explain.WhatIf{
		Condition: is.Type, Reason: is.Reason, Seconds: c.New.Seconds, ActualSeconds: c.Actual.Seconds,
		PodSecondsSaved: math.Round(10*(c.Actual.PodSeconds-c.New.PodSeconds)) / 10, PodsStarted: c.New.PodsStarted, PodsEstimated: c.New.PodsEstimated,
	}
	cheaper := is.Type == was.Type && w.Seconds < w.ActualSeconds && isWorth(w.PodSecondsSaved, c.Actual.PodSeconds)
	completes := is.Type != was.Type && is.Type == string(batchv1.JobComplete)
	if !cheaper && !completes {
		return nil
	}
	w.Text = words.WhatIfText(p, w)
	return w
}

// isWorth reports whether policies save enough to justify a change: ten minutes of pod time, or a tenth of it.
func isWorth(saved, spent float64) bool {
	const enough, part = 600, 0.1
	return saved > 0 && (saved >= enough || saved >= part*spent)
}
