package analysis

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// adviceOnFailure follows from the cause that says most.
func (a *situation) adviceOnFailure() []explain.Advice {
	var out []explain.Advice
	f := a.example()
	if f == nil {
		return a.adviceOnGonePods()
	}
	if c := f.container(); c != nil {
		out = a.adviceOnContainer(f, c)
	}
	if a.ignoredForEver(f) {
		out = append(out, advise("set activeDeadlineSeconds, or change the action of the rule to Count: ignored failures are retried forever", ""))
	}
	if f.pod.Disruption == preempted {
		out = append(out, advise("to avoid preemption, give its pods a higher priority (priorityClassName), or the cluster more room", ""))
	}
	if f.pod.Disruption != "" && (f.match == nil || !f.match.Matched()) {
		out = append(out, a.propose("to keep disruptions from counting, add a podFailurePolicy rule with action Ignore for the pod condition DisruptionTarget", a.ignoringDisruptions()))
	}
	if len(a.failures) > 1 && !a.perIndex() && a.haveLogs() {
		out = append(out, advise("read the logs of all failed pods", fmt.Sprintf("kubectl batchjob logs %s -n %s --failed", a.jobWord(), shellWord(a.job.Namespace))))
	}
	return out
}

// ignoredForEver reports whether only a success can end the Job.
func (a *situation) ignoredForEver(f *failure) bool {
	return a.counts.IgnoredFailures > 1 && !a.finished() && a.spec.ActiveDeadlineSeconds == nil &&
		f.match != nil && f.match.Action == batchv1.PodFailurePolicyActionIgnore
}

// preempted is the reason of the condition DisruptionTarget of a pod that gave way to another.
const preempted = "PreemptionByScheduler"

// isStopped reports whether a signal ended the container, as when its pod is deleted.
func isStopped(c *explain.Container) bool {
	return c.Reason != "OOMKilled" && (c.ExitCode == 137 || c.ExitCode == 143)
}

// adviceOnContainer is what its end asks for, and where its log is.
func (a *situation) adviceOnContainer(f *failure, c *explain.Container) []explain.Advice {
	if c.NeverStarted() {
		return []explain.Advice{{Text: a.startRemedy(c)}}
	}
	var out []explain.Advice
	// The reason of a disruption says what stopped the container.
	stopped := f.consequence && !c.Before || f.pod.Disruption != "" && isStopped(c)
	if text := a.remedy(c); text != "" && !stopped {
		out = append(out, explain.Advice{Text: text})
	}
	flags := a.containerFlag(c.Name)
	if c.Before {
		flags += " --previous"
	}
	return append(out, advise("read the whole log", a.kubectl("logs %s%s", shellWord(f.pod.Name), flags)))
}

// containerFlag chooses a container, if there are several.
func (a *analysis) containerFlag(name string) string {
	if len(a.spec.Template.Spec.Containers)+len(a.spec.Template.Spec.InitContainers) > 1 {
		return " -c " + shellWord(name)
	}
	return ""
}

// adviceOnGonePods: nothing is left to look at.
func (a *situation) adviceOnGonePods() []explain.Advice {
	if a.focused() || len(a.failures) > 0 || a.job.DeletionTimestamp != nil {
		return nil
	}
	if a.restartsFailedIt() {
		return a.adviceOnRestarts()
	}
	for i := range a.causes {
		if isForeignDeletion(&a.causes[i]) {
			return []explain.Advice{adviceOnDeleter}
		}
	}
	if a.job.Status.Failed == 0 || !a.PodsRead || a.outcome.reason == batchv1.JobReasonDeadlineExceeded {
		return nil
	}
	if a.restartsCount() {
		return []explain.Advice{keepFailedPods}
	}
	return []explain.Advice{advise("find out what removed the Job's pods, as they ran or once they had failed (a node drain, a cleanup, a person); to see more next time, collect their logs elsewhere", "")}
}

// adviceOnDeleter is for pods that somebody deleted as they ran.
var adviceOnDeleter = advise("find out who deletes the Job's pods (a node drain, a cleanup, a person); the API server's audit log shows it", "")

// isForeignDeletion reports whether somebody other than the Job's controller deleted the pods.
func isForeignDeletion(c *explain.Cause) bool {
	return !c.Consequence && c.Stopped == "" && c.Failure != nil && c.Failure.IsDeletion()
}

// adviceOnLimit is about the limit that ended the Job.
func (a *situation) adviceOnLimit() []explain.Advice {
	switch a.outcome.reason {
	case batchv1.JobReasonDeadlineExceeded:
		return []explain.Advice{a.propose("give the Job more time (activeDeadlineSeconds), or run more pods at once (parallelism)", a.longerDeadline())}
	case batchv1.JobReasonBackoffLimitExceeded:
		if a.restartsFailedIt() {
			return []explain.Advice{keepFailedPods}
		}
		f := a.example()
		if a.takesFailurePolicy() && a.spec.PodFailurePolicy == nil && jobspec.BackoffLimit(a.spec) > 0 && f != nil && f.pod.Disruption == "" {
			return []explain.Advice{a.propose("if a retry cannot fix this failure, fail the Job at once: add a podFailurePolicy rule with action FailJob for its exit code", a.failingAtOnce(f))}
		}
	case batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded:
		if !a.haveLogs() {
			return nil
		}
		return []explain.Advice{advise("read the logs of the failed pods", fmt.Sprintf("kubectl batchjob logs %s -n %s --failed", a.jobWord(), shellWord(a.job.Namespace)))}
	}
	return nil
}

// haveLogs reports whether some of the failed pods may have a log.
func (a *analysis) haveLogs() bool {
	return len(a.failures) == 0 || slices.ContainsFunc(a.failures, func(f failure) bool {
		c := f.container()
		return c == nil || !c.NeverStarted()
	})
}
