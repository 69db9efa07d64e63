package whatif

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
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
		Namespace: h.Job.Namespace, Name: h.Job.Name,
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
	Decision
	index int32
}

func (d Decision) identity() identity {
	index := ptr.Deref(d.Index, reconcile.NoIndex)
	d.AfterSeconds, d.Index = 0, nil
	return identity{d, index}
}

// onlyIn returns the first decision in one list that the other does not have at about the same time.
func onlyIn(list, other []Decision) *Decision {
	times := map[identity][]float64{}
	for _, d := range other {
		times[d.identity()] = append(times[d.identity()], d.AfterSeconds)
	}
	for _, d := range list {
		near := func(at float64) bool { return math.Abs(at-d.AfterSeconds) <= sameTime }
		if !slices.ContainsFunc(times[d.identity()], near) {
			return &d
		}
	}
	return nil
}
