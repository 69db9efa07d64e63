package whatif

import (
	"fmt"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Condition is a condition of a Job that is True.
type Condition struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// Result is what a replay led to.
type Result struct {
	// Outcome is the condition that ended the Job, or that decided its end; empty if none has.
	Outcome Condition `json:"outcome"`
	// Conditions are those that are True.
	Conditions []Condition `json:"conditions,omitempty"`
	// Finished reports whether the Job came to an end within the limit; Seconds is how long after its creation,
	// or how much time the replay took.
	Finished bool    `json:"finished"`
	Seconds  float64 `json:"seconds"`
	// Active, Succeeded, Failed, and the lists of indexes are those of the status.
	Active           int32  `json:"active"`
	Succeeded        int32  `json:"succeeded"`
	Failed           int32  `json:"failed"`
	CompletedIndexes string `json:"completedIndexes,omitempty"`
	FailedIndexes    string `json:"failedIndexes,omitempty"`
	// PodsStarted is how many pods were created. PodsEstimated is how many of them did something that no pod in
	// their place is known to have done.
	PodsStarted   int `json:"podsStarted"`
	PodsEstimated int `json:"podsEstimated"`
	// PodSeconds is how long pods ran, and PodSecondsWasted how long those that did not succeed.
	PodSeconds       float64 `json:"podSeconds"`
	PodSecondsWasted float64 `json:"podSecondsWasted"`

	decisions []Decision
}

func indexesOf(text *string) indexset.Set {
	set, _ := indexset.Parse(ptr.Deref(text, ""))
	return set
}

func trueConditions(job *batchv1.Job) (list []Condition) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			list = append(list, Condition{string(c.Type), c.Reason})
		}
	}
	return list
}

func (t *tracer) result(job *batchv1.Job) Result {
	now := t.world.Elapsed()
	s := &job.Status
	r := Result{
		Conditions: trueConditions(job), Finished: t.finished > 0, Seconds: seconds(now.Seconds()), PodsStarted: len(t.pods),
		Active: s.Active, Succeeded: s.Succeeded, Failed: s.Failed, CompletedIndexes: s.CompletedIndexes, FailedIndexes: ptr.Deref(s.FailedIndexes, ""),
		decisions: t.decisions,
	}
	for _, p := range t.pods {
		if !p.over {
			p.ended = now
		}
		if t.isEstimated(p) {
			r.PodsEstimated++
		}
		if !p.running {
			continue
		}
		ran := (p.ended - p.begun).Seconds()
		r.PodSeconds += ran
		if p.over && !p.succeeded {
			r.PodSecondsWasted += ran
		}
	}
	for _, c := range r.Conditions {
		if c.Type != string(batchv1.JobSuspended) {
			r.Outcome = c
		}
	}
	r.PodSeconds, r.PodSecondsWasted = seconds(r.PodSeconds), seconds(r.PodSecondsWasted)
	return r
}

// isEstimated reports whether the pod did something that no pod in its place is known to have done.
func (t *tracer) isEstimated(p *podRun) bool {
	a, _ := t.model.lookup(p.key)
	return !p.known || a.ending == stopped && (p.over && !p.deleted || p.ended-p.created > a.known+margin)
}

// seconds rounds to a tenth.
func seconds(s float64) float64 { return math.Round(10*s) / 10 }

// Difference is how a replay with the unchanged policy differs from what happened.
type Difference struct {
	Field    string `json:"field"`
	Happened string `json:"happened"`
	Replayed string `json:"replayed"`
}

// Differences returns how a replay with the unchanged policy differs from what happened.
func (h *History) Differences(r *Result) (list []Difference) {
	s := &h.Job.Status
	conditions := func(all []Condition) string {
		all = slices.Clone(all)
		slices.SortFunc(all, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
		return fmt.Sprint(all)
	}
	for _, f := range []struct {
		field    string
		was, now any
	}{
		{"conditions", conditions(trueConditions(h.Job)), conditions(r.Conditions)},
		{"active", s.Active, r.Active},
		{"succeeded", s.Succeeded, r.Succeeded},
		{"failed", s.Failed, r.Failed},
		{"completedIndexes", s.CompletedIndexes, r.CompletedIndexes},
		{"failedIndexes", ptr.Deref(s.FailedIndexes, ""), r.FailedIndexes},
	} {
		if f.was != f.now {
			list = append(list, Difference{f.field, fmt.Sprint(f.was), fmt.Sprint(f.now)})
		}
	}
	return list
}
