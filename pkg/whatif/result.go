package whatif

import (
	"cmp"
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

// Status is the relevant part of a Job's status.
type Status struct {
	// Conditions are the conditions that are True, by type.
	Conditions []Condition `json:"conditions,omitempty"`
	// Active, Succeeded, Failed, and the lists of indexes are copied from the status.
	Active           int32  `json:"active"`
	Succeeded        int32  `json:"succeeded"`
	Failed           int32  `json:"failed"`
	CompletedIndexes string `json:"completedIndexes,omitempty"`
	FailedIndexes    string `json:"failedIndexes,omitempty"`
}

// Result is the result of a replay.
type Result struct {
	// Outcome is the condition that ended the Job, or that decided its outcome; empty if there is none.
	Outcome Condition `json:"outcome"`
	// Finished reports whether the Job finished within the limit; Seconds is the time from its creation to its end, or
	// the duration of the replay.
	Finished bool `json:"finished"`
	// GaveUp reports that the replay reached its limit of pods or writes before the Job had finished: all numbers are
	// as of then.
	GaveUp  bool    `json:"gaveUp,omitempty"`
	Seconds float64 `json:"seconds"`
	Status  `json:",inline"`
	// PodsStarted is the number of pods created. PodsEstimated is the number of pods with behavior that was not
	// observed in their place.
	PodsStarted   int `json:"podsStarted"`
	PodsEstimated int `json:"podsEstimated"`
	// PodSeconds is the total run time of the pods, PodSecondsWasted the run time of pods that ended without success.
	PodSeconds       float64 `json:"podSeconds"`
	PodSecondsWasted float64 `json:"podSecondsWasted"`

	decisions []Decision
}

func indexesOf(text *string) indexset.Set {
	set, _ := indexset.Parse(ptr.Deref(text, ""))
	return set
}

func statusOf(job *batchv1.Job) Status {
	from := &job.Status
	s := Status{
		Active: from.Active, Succeeded: from.Succeeded, Failed: from.Failed,
		CompletedIndexes: from.CompletedIndexes, FailedIndexes: ptr.Deref(from.FailedIndexes, ""),
	}
	for _, c := range from.Conditions {
		if c.Status == corev1.ConditionTrue {
			s.Conditions = append(s.Conditions, Condition{string(c.Type), c.Reason})
		}
	}
	slices.SortFunc(s.Conditions, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return s
}

func (t *tracer) result(job *batchv1.Job) Result {
	now := t.world.Elapsed()
	r := Result{Status: statusOf(job), Finished: t.world.Finished(job.Name), Seconds: tenths(now.Seconds()), PodsStarted: len(t.pods), decisions: t.decisions}
	r.GaveUp = !r.Finished && (t.world.GaveUp() || t.hasTooManyPods())
	// Conditions that end a Job sort before the ones that decide its outcome.
	if len(r.Conditions) > 0 && r.Conditions[0].Type != string(batchv1.JobSuspended) {
		r.Outcome = r.Conditions[0]
	}
	var used, wasted float64
	for _, p := range t.pods {
		// Estimated pods have behavior that was not observed in their place.
		a, known := t.model.lookup(p.key)
		lasted := cmp.Or(p.ended, now) - p.created
		if !known || a.ending == stopped && (p.ended > 0 && !p.deleted || lasted > a.known+margin) {
			r.PodsEstimated++
		}
		if p.begun == 0 {
			continue
		}
		used += (cmp.Or(p.ended, now) - p.begun).Seconds() // The sum may exceed a Duration.
		if p.ended > 0 && !p.succeeded {
			wasted += (p.ended - p.begun).Seconds()
		}
	}
	r.PodSeconds, r.PodSecondsWasted = tenths(used), tenths(wasted)
	return r
}

// tenths rounds to a tenth.
func tenths(seconds float64) float64 { return math.Round(10*seconds) / 10 }

// Difference is a difference between a replay with the unchanged policies and what happened.
type Difference struct {
	Field    string `json:"field"`
	Happened string `json:"happened"`
	Replayed string `json:"replayed"`
}

// Differences returns the differences between a replay with the unchanged policies and what happened.
func (h *History) Differences(r *Result) (list []Difference) {
	was := statusOf(h.Job)
	for _, d := range []Difference{
		{"conditions", fmt.Sprint(was.Conditions), fmt.Sprint(r.Conditions)},
		{"active", fmt.Sprint(was.Active), fmt.Sprint(r.Active)},
		{"succeeded", fmt.Sprint(was.Succeeded), fmt.Sprint(r.Succeeded)},
		{"failed", fmt.Sprint(was.Failed), fmt.Sprint(r.Failed)},
		{"completedIndexes", was.CompletedIndexes, r.CompletedIndexes},
		{"failedIndexes", was.FailedIndexes, r.FailedIndexes},
	} {
		if d.Happened != d.Replayed {
			list = append(list, d)
		}
	}
	return list
}
