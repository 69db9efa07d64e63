package analysis

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

func (a *analysis) countPods() explain.Counts {
	status := &a.job.Status
	c := explain.Counts{Active: status.Active, Ready: status.Ready, Terminating: status.Terminating, Succeeded: status.Succeeded, Failed: status.Failed}
	if u := status.UncountedTerminatedPods; u != nil {
		c.UncountedSucceeded, c.UncountedFailed = int32(len(u.Succeeded)), int32(len(u.Failed))
	}
	for i := range a.failures {
		if m := a.failures[i].match; m != nil && m.Action == batchv1.PodFailurePolicyActionIgnore {
			c.IgnoredFailures++
		}
	}
	if !a.PodsRead {
		return c
	}
	accounting := a.accounting()
	for i := range a.failures { // A pod that terminates may be due for replacement before it has failed.
		if accounting[a.failures[i].pod.UID] == explain.AwaitsReplacement {
			c.AwaitReplacement++
		}
		if f := &a.failures[i]; f.pod.Phase == corev1.PodFailed && a.stopReasonOf(f) != "" {
			c.StoppedPods++
		}
	}
	c.Pods, c.FailedPods, c.Finalizers = ptr.To(int32(len(a.pods))), ptr.To(a.phaseFailed), ptr.To(a.tracked)
	ready := int32(0)
	for _, p := range a.active {
		if p.Ready {
			ready++
		}
	}
	c.ActivePods, c.ReadyPods, c.TerminatingPods = ptr.To(int32(len(a.active))), ptr.To(ready), ptr.To(int32(len(a.terminating)))
	return c
}

// The status lags behind the pods. What is said of a Job that is not finished goes by the
// pods, if they could be read, as Report.Indexes does: numbers side by side have to agree.

// succeededNow is how many indexes, or pods of a NonIndexed Job, have succeeded, counted or
// not.
func (a *numbers) succeededNow() int32 {
	if a.indexed() {
		return a.indexes.CompletedCount
	}
	n := a.job.Status.Succeeded + a.counts.UncountedSucceeded
	for _, p := range a.terminal {
		if p.Phase == corev1.PodSucceeded && a.notRecorded(p) {
			n++
		}
	}
	return n
}

// activeNow is how many pods are active.
func (a *numbers) activeNow() int32 {
	if !a.PodsRead {
		return a.job.Status.Active
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
		return ", " + words.Count(all, "failed")
	}
	return fmt.Sprintf(", %s failed (%s counted)", words.Number(all), words.Number(counted))
}

// mostlyFailed is mostly, if anything has failed.
func (a *numbers) mostlyFailed() string {
	if all, _ := a.failuresNow(); all == 0 {
		return ""
	}
	return a.mostly()
}

// uncountedPods are the pods in status.uncountedTerminatedPods, with the phase that they are
// recorded with.
func uncountedPods(job *batchv1.Job) map[types.UID]corev1.PodPhase {
	u := job.Status.UncountedTerminatedPods
	if u == nil {
		return nil
	}
	pods := make(map[types.UID]corev1.PodPhase, len(u.Succeeded)+len(u.Failed))
	for _, uid := range u.Succeeded {
		pods[uid] = corev1.PodSucceeded
	}
	for _, uid := range u.Failed {
		pods[uid] = corev1.PodFailed
	}
	return pods
}

// notRecorded reports whether the status does not account for an ended pod yet: the pod has
// its finalizer, and is not recorded as one that will be counted.
func (a *analysis) notRecorded(p *explain.Pod) bool {
	return p.Finalizer && a.uncounted[p.UID] == ""
}
