package analysis

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// The status lags behind the pods. What is said of a Job that is not finished goes by the
// pods, if they could be read, as Report.Indexes does: numbers side by side have to agree.

// succeededNow is how many indexes, or pods of a NonIndexed Job, have succeeded, counted or
// not.
func (a *numbers) succeededNow() int32 {
	switch {
	case !a.PodsRead:
		return a.job.Status.Succeeded
	case a.indexed():
		return a.indexes.CompletedCount
	}
	n := a.job.Status.Succeeded
	if u := a.job.Status.UncountedTerminatedPods; u != nil {
		n += int32(len(u.Succeeded))
	}
	for _, p := range a.terminal {
		if p.Phase == corev1.PodSucceeded && a.notRecorded(p) {
			n++
		}
	}
	return n
}

// activeNow is how many pods are active.
func (a *numbers) activeNow() int32 {
	switch {
	case !a.PodsRead:
		return a.job.Status.Active
	case a.indexed():
		return a.indexes.ActiveCount
	}
	return int32(len(a.active))
}

// failuresNow is how many failures there are so far, and how many the status counts.
func (a *numbers) failuresNow() (all, counted int32) {
	counted = a.job.Status.Failed + int32(a.uncountedFailed())
	all = a.untold
	for i := range a.causes {
		all += a.causes[i].Count
	}
	return max(all, counted), counted
}

// failedNow is the number of failures for the end of a clause, and how many of them the
// status counts if that is another number.
func (a *numbers) failedNow() string {
	all, counted := a.failuresNow()
	switch all {
	case 0:
		return ""
	case counted:
		return fmt.Sprintf(", %d failed", all)
	}
	return fmt.Sprintf(", %d failed (%d counted)", all, counted)
}

// mostlyFailed is mostly, if anything has failed.
func (a *numbers) mostlyFailed() string {
	if all, _ := a.failuresNow(); all == 0 {
		return ""
	}
	return a.mostly()
}

// notRecorded reports whether the status does not include an ended pod yet: no controller removed its
// finalizer away, and it is not on the list of those that will be counted.
func (a *analysis) notRecorded(p *explain.Pod) bool {
	if !p.Finalizer {
		return false
	}
	if a.recorded == nil {
		a.recorded = map[types.UID]bool{}
		if u := a.job.Status.UncountedTerminatedPods; u != nil {
			for _, uid := range slices.Concat(u.Succeeded, u.Failed) {
				a.recorded[uid] = true
			}
		}
	}
	return !a.recorded[p.UID]
}
