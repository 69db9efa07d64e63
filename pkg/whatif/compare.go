package whatif

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Kind is the kind of a Comparison in JSON or YAML; its version is explain.APIVersion.
const Kind = "JobComparison"

// Comparison compares a Job as it ran with the Job under other policies.
type Comparison struct {
	metav1.TypeMeta `json:",inline"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// Changes are the changed policies.
	Changes []Change `json:"changes"`
	// Actual is the replay with the Job's own policies, New the replay with the changed ones.
	Actual Result `json:"actual"`
	New    Result `json:"new"`
	// FirstDifference is the point where the replays diverge; nil if they do not.
	FirstDifference *Divergence `json:"firstDifference,omitempty"`
	// NotReproduced lists the differences between Actual and what really happened.
	NotReproduced []Difference `json:"notReproduced,omitempty"`
}

// Divergence is the point where two replays diverge: for each, the first decision that the other did not make, or not
// at that time. At least one of them is set.
type Divergence struct {
	Actual *Decision `json:"actual,omitempty"`
	New    *Decision `json:"new,omitempty"`
}

// Compare replays the Job with its own policies, and with the changed ones. It returns the error of Policies.Apply, of
// the API server, which rejects the policies, or of the context.
func (h *History) Compare(ctx context.Context, policies Policies, limit time.Duration) (Comparison, error) {
	changed, err := policies.Apply(h.Job)
	if err != nil {
		return Comparison{}, fmt.Errorf("the policies are not valid: %w", err)
	}
	c := Comparison{
		TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: Kind}, Changes: Changes(h.Job, changed),
		Namespace: h.Job.Namespace, Name: h.Job.Name,
	}
	if c.Actual, err = h.Replay(ctx, h.Job, limit); err == nil {
		c.New, err = h.Replay(ctx, changed, limit)
	}
	was, is := firstOnlyIn(c.Actual.decisions, c.New.decisions), firstOnlyIn(c.New.decisions, c.Actual.decisions)
	if was != nil || is != nil {
		c.FirstDifference = &Divergence{was, is}
	}
	c.NotReproduced = h.Differences(&c.Actual)
	return c, err
}

// maxTimeDifference is the maximum difference in seconds between equal decisions: replays differ by the latency of the virtual
// API server.
const maxTimeDifference = 0.9

// firstOnlyIn returns the first decision in list that other does not contain at about the same time.
func firstOnlyIn(list, other []Decision) *Decision {
	identity := func(d *Decision) string {
		return fmt.Sprintf("%s %d.%d %s %s", d.Kind, ptr.Deref(d.Index, reconcile.NoIndex), d.Attempt, d.Condition, d.Reason)
	}
	times := map[string][]float64{}
	for i := range other {
		id := identity(&other[i])
		times[id] = append(times[id], other[i].AfterSeconds)
	}
	for i := range list {
		near := func(at float64) bool { return math.Abs(at-list[i].AfterSeconds) <= maxTimeDifference }
		if !slices.ContainsFunc(times[identity(&list[i])], near) {
			return &list[i]
		}
	}
	return nil
}

// Limits of the Jobs that Quote replays, so that a replay takes a fraction of a second: few pods, and policies that do
// not create many more.
const (
	quotedPods   = 500
	quotedWrites = 10_000
	// DefaultLimit is the maximum virtual time of a replay.
	DefaultLimit = 24 * time.Hour
)

// Quote adds to the advice on the policies of a finished Job what they would have changed.
func Quote(ctx context.Context, in input.Input, advice []explain.Advice) {
	if !reconcile.IsFinished(in.Job) || !in.PodsRead || len(in.Pods) > quotedPods {
		return
	}
	h := Observe(in)
	h.maxWrites = quotedWrites
	for i := range advice {
		if advice[i].Policies != nil {
			if advice[i].WhatIf = h.quote(ctx, advice[i].Policies); advice[i].WhatIf != nil {
				advice[i].Command = command(in.Job, advice[i].Policies)
			}
		}
	}
}

// command returns the command that shows the whole effect of the policies.
func command(job *batchv1.Job, p *explain.Policies) string {
	field, value := "podFailurePolicy", any(p.PodFailurePolicy)
	if p.ActiveDeadlineSeconds != nil {
		field, value = "activeDeadlineSeconds", *p.ActiveDeadlineSeconds
	}
	data, _ := json.Marshal(value) // It holds only values that JSON can represent.
	return fmt.Sprintf("kubectl batchjob what-if %s --set %s -n %s",
		explain.ShellWord(job.Name), explain.ShellWord(field+"="+string(data)), explain.ShellWord(job.Namespace))
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
	cheaper := is.Type == was.Type && w.Seconds < w.ActualSeconds && isWorthwhile(w.PodSecondsSaved, c.Actual.PodSeconds)
	completes := is.Type != was.Type && is.Type == string(batchv1.JobComplete)
	if !cheaper && !completes {
		return nil
	}
	w.Text = words.WhatIfText(p, w)
	return w
}

// isWorthwhile reports whether policies save enough to justify a change: ten minutes of pod time, or a tenth of it, and a second.
func isWorthwhile(saved, spent float64) bool {
	const enough, part, least = 600, 0.1, 1
	return saved >= enough || saved >= max(least, part*spent)
}
