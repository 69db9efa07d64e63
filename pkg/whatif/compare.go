package whatif

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Kind is that of a Comparison as JSON or YAML; its version is explain.APIVersion.
const Kind = "JobComparison"

// Comparison is a Job as it ran, and as it would have run with other policies.
type Comparison struct {
	metav1.TypeMeta `json:",inline"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// Changes are the policies that differ.
	Changes []Change `json:"changes"`
	// Actual is the replay with the policies that the Job had, New the one with the others.
	Actual Result `json:"actual"`
	New    Result `json:"new"`
	// FirstDifference is the first decision that differs; nil if none does.
	FirstDifference *Divergence `json:"firstDifference,omitempty"`
	// PodsKnown is how many pods of the Job are known. If it is less than Actual.PodsStarted, the others are gone.
	PodsKnown int `json:"podsKnown"`
	// NotReproduced is how Actual differs from what really happened.
	NotReproduced []Difference `json:"notReproduced,omitempty"`
}

// Divergence is where two replays part: the first decision with each policy that the other did not lead to, or not at
// that time. At least one of them is set.
type Divergence struct {
	Actual *Decision `json:"actual,omitempty"`
	New    *Decision `json:"new,omitempty"`
}

// Compare replays the Job with its own policies, and with others. An error is that of Policies.Apply, that of the API
// server, which rejects them, or that of the context.
func (h *History) Compare(ctx context.Context, policies Policies, limit time.Duration) (Comparison, error) {
	changed, err := policies.Apply(h.Job)
	if err != nil {
		return Comparison{}, fmt.Errorf("the policies are not valid: %w", err)
	}
	c := Comparison{
		TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: Kind}, Changes: Changes(h.Job, changed),
		Namespace: h.Job.Namespace, Name: h.Job.Name, PodsKnown: h.PodsKnown,
	}
	if c.Actual, err = h.Replay(ctx, h.Job, limit); err == nil {
		c.New, err = h.Replay(ctx, changed, limit)
	}
	c.FirstDifference, c.NotReproduced = diverge(c.Actual.decisions, c.New.decisions), h.Differences(&c.Actual)
	return c, err
}

// sameTime is how many seconds may lie between two decisions that are the same: replays differ by the latency of the
// virtual API server.
const sameTime = 0.9

// diverge returns the first decision that differs.
func diverge(actual, changed []Decision) *Divergence {
	was, is := onlyIn(actual, changed), onlyIn(changed, actual)
	if was == nil && is == nil {
		return nil
	}
	return &Divergence{was, is}
}

// identity is what makes two decisions the same, apart from their time.
type identity struct {
	kind              DecisionKind
	index             int32
	attempt           int
	condition, reason string
}

func (d *Decision) identity() identity {
	i := identity{d.Kind, -1, d.Attempt, d.Condition, d.Reason}
	if d.Index != nil {
		i.index = *d.Index
	}
	return i
}

// onlyIn returns the first decision in one list that the other does not have at about the same time.
func onlyIn(list, other []Decision) *Decision {
	times := map[identity][]float64{}
	for i := range other {
		id := other[i].identity()
		times[id] = append(times[id], other[i].AfterSeconds)
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Decision) int { return cmp.Compare(a.AfterSeconds, b.AfterSeconds) })
	for i := range sorted {
		d := &sorted[i]
		near := func(at float64) bool { return math.Abs(at-d.AfterSeconds) <= sameTime }
		if !slices.ContainsFunc(times[d.identity()], near) {
			return d
		}
	}
	return nil
}
