package main

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// all holds if all conditions hold.
func all(conditions ...func(*view) bool) func(*view) bool {
	return func(v *view) bool {
		return !slices.ContainsFunc(conditions, func(holds func(*view) bool) bool { return !holds(v) })
	}
}

// failed holds once the only Job has failed for the reason, all pods are counted, and the event about the failure
// exists. The reason may be a prefix that is followed by the name of a rule.
func failed(reason string) func(*view) bool {
	return all(one, has(batchv1.JobFailed, reason), counted, event("Job", reason))
}

// completed holds once the only Job is Complete, all pods are counted, and the event about it exists.
func completed(reason string) func(*view) bool {
	return all(one, has(batchv1.JobComplete, reason), counted, event("Job", "Completed"))
}

func one(v *view) bool { return len(v.jobs) == 1 }

func has(condition batchv1.JobConditionType, reason string) func(*view) bool {
	return func(v *view) bool {
		return slices.ContainsFunc(v.jobs, func(j batchv1.Job) bool {
			return slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
				return c.Type == condition && c.Status == corev1.ConditionTrue && strings.HasPrefix(c.Reason, reason)
			})
		})
	}
}

// counted holds if no ended pod has the tracking finalizer.
func counted(v *view) bool {
	for _, p := range v.pods {
		if ended(p) && slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) {
			return false
		}
	}
	for _, j := range v.jobs {
		if u := j.Status.UncountedTerminatedPods; u != nil && len(u.Succeeded)+len(u.Failed) > 0 {
			return false
		}
	}
	return true
}

func ended(p corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// event holds if an event about an object of the kind has the reason, or a reason that begins with it.
func event(kind, reason string) func(*view) bool {
	return events(kind, reason, 1)
}

// events holds if at least n such events were reported; repetitions of an event are included.
func events(kind, reason string, n int) func(*view) bool {
	return func(v *view) bool {
		told := 0
		for _, e := range v.events {
			if e.InvolvedObject.Kind == kind && strings.HasPrefix(e.Reason, reason) {
				told += int(max(1, e.Count))
			}
		}
		return told >= n
	}
}

// status holds if the condition holds for the first Job's status.
func status(holds func(batchv1.JobStatus) bool) func(*view) bool {
	return func(v *view) bool { return len(v.jobs) > 0 && holds(v.jobs[0].Status) }
}

// active holds if the status has n active pods, all of them ready.
func active(n int32) func(*view) bool {
	return status(func(s batchv1.JobStatus) bool { return s.Active == n && value(s.Ready) == n })
}

func terminating(n int32) func(*view) bool {
	return status(func(s batchv1.JobStatus) bool { return value(s.Terminating) == n })
}

func countedFailures(n int32) func(*view) bool {
	return status(func(s batchv1.JobStatus) bool { return s.Failed == n })
}

func countedSuccesses(n int32) func(*view) bool {
	return status(func(s batchv1.JobStatus) bool { return s.Succeeded == n })
}

// havePods holds if exactly n pods match fits.
func havePods(n int, fits func(corev1.Pod) bool) func(*view) bool {
	return func(v *view) bool { return v.count(fits) == n }
}

func (v *view) count(fits func(corev1.Pod) bool) (n int) {
	for _, p := range v.pods {
		if fits(p) {
			n++
		}
	}
	return n
}

func every(corev1.Pod) bool { return true }

func running(p corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
}

func stopping(p corev1.Pod) bool { return p.DeletionTimestamp != nil && !ended(p) }
