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
	c.FirstDifference, c.NotReproduced = diverge(c.Actual.decisions, c.New.decisions), h.Differences(&c.Actual)
	return c, err
}

// sameTime is the maximum difference in seconds between equal decisions: replays differ by the latency of the virtual
// API server.
const sameTime = 0.9

// diverge returns the first decisions that differ.
func diverge(actual, changed []Decision) *Divergence {
	was, is := onlyIn(actual, changed), onlyIn(changed, actual)
	if was == nil && is == nil {
		return nil
	}
	return &Divergence{was, is}
}

// onlyIn returns the first decision in list that other does not contain at about the same time.
func onlyIn(list, other []Decision) *Decision {
	identity := func(d *Decision) string {
		return fmt.Sprintf("%s %d.%d %s %s", d.Kind, ptr.Deref(d.Index, reconcile.NoIndex), d.Attempt, d.Condition, d.Reason)
	}
	times := map[string][]float64{}
	for i := range other {
		id := identity(&other[i])
		times[id] = append(times[id], other[i].AfterSeconds)
	}
	for i := range list {
		near := func(at float64) bool { return math.Abs(at-list[i].AfterSeconds) <= sameTime }
		if !slices.ContainsFunc(times[identity(&list[i])], near) {
			return &list[i]
		}
	}
	return nil
}
