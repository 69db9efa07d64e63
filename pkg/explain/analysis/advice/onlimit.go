package advice

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// onLimit returns advice on the limit that ended the Job.
func onLimit(in *facts.Facts, failed *failures.Failures, v *Values) []explain.Advice {
	switch end := v.End; end.EndedBy {
	case explain.EndedByNeverStarting:
		return onNeverStarted(in, failed, v, end.NeverStarted)
	case explain.EndedByDeadline:
		return onDeadline(in, end)
	case explain.EndedByRestarts:
		if exit := end.Restarts.Exit; exit != nil && cause.NeverRan(exit.Reason) {
			return nil // There is no log to keep.
		}
		return append(onInit(in, failed, end.Restarts), advise(words.KeepFailedPods, "")...)
	case explain.EndedByBackoffLimit:
		return onBackoffLimit(in, failed, v)
	case explain.EndedByFailedIndexes, explain.EndedByMaxFailedIndexes:
		if failed.HaveLogs() {
			return adviseLogs(words.ReadLogsOfFailed, logsOfFailed(in.Job))
		}
	}
	return nil
}

// onNeverStarted returns advice on what kept the pods of a Job from starting until its deadline.
func onNeverStarted(in *facts.Facts, failed *failures.Failures, v *Values, p *explain.Problem) []explain.Advice {
	now := *p
	if t := ptr.Deref(p.Start.Trouble, meaning.Trouble{}); t.Kind != "" {
		t.SeenAt, now.Start.Trouble = time.Time{}, &t // There is no pod to delete if the object exists by now.
	}
	late := words.TroubleAdvice(&now)
	switch {
	case p.Kind == explain.ProblemCreationRefused:
		out := onRefusal(in, v, p)
		for i := range out {
			out[i].Elsewhere = isOfCluster(p)
		}
		return out
	case p.Start.Reason == explain.Pulling:
		return append(advise(words.PrePull, ""), changeSource(in, "", nil)...)
	case p.Kind == explain.ProblemSidecarNotStarted:
		return append(onStartupProbe(p), changeSource(in, "", nil)...)
	case p.Kind == explain.ProblemUnschedulable && len(p.Scheduling.Unfit) > 0:
		return onUnschedulable(in, v, p)
	case late != "":
		out := advise(late, "")
		out[0].Elsewhere = isOfCluster(p)
		return out
	case p.Start.Error != nil:
		return advise(p.Start.Error.Advice(containerOf(in, &input.Container{Name: p.Container})), "")
	}
	return advise(words.StartBeforeDeadline, kubectl(in.Job, "get events --field-selector involvedObject.name=%s", shellWord(failed.NeverStarted.Pod)))
}

// sharesLimit reports whether failures of some indexes, which the backoffLimit counts together, stopped others or kept them from beginning.
func sharesLimit(in *facts.Facts, v *Values) bool {
	o := in.ManagingOwner()
	isOfSet := o != nil && o.Kind == "JobSet" && jobspec.BackoffLimit(in.Spec) == 0 // The first failure restarts all Jobs.
	if !in.Indexed() || in.PerIndex() || !takesFailurePolicy(in) || isOfSet {
		return false
	}
	begun := map[int32]bool{}
	for _, p := range in.Pods {
		if p.Phase != corev1.PodSucceeded {
			begun[p.Index] = true
		}
	}
	return slices.ContainsFunc(v.Accounting.Causes, func(c explain.Cause) bool { return c.IsStopped() }) ||
		len(begun) > 0 && in.Decision.Failing() && int32(len(begun)) < ptr.Deref(in.Spec.Completions, 1)-in.Job.Status.Succeeded
}

// endedByOthers returns how the pod ended, if others deleted it or its node rejected it, and another may not be; otherwise "".
func endedByOthers(f *failures.Failure, v *Values) string {
	switch {
	case f == nil && slices.ContainsFunc(v.Accounting.Causes, isDeletion):
		return "deleted"
	case f != nil && f.NeverRan() && f.Ending().MayFitElsewhere():
		return "rejected"
	}
	return ""
}

// onBackoffLimit returns advice on a Job that used up its backoffLimit.
func onBackoffLimit(in *facts.Facts, failed *failures.Failures, v *Values) []explain.Advice {
	limit := jobspec.BackoffLimit(in.Spec)
	var known *meaning.KnownError
	if failed.Example != nil {
		known = failed.Example.KnownError(in)
	}
	switch how := endedByOthers(failed.Example, v); {
	case sharesLimit(in, v):
		return proposeFix(in, words.LimitEachIndex, nil)
	case in.Job.Status.Succeeded > 0 && !in.Indexed() && ptr.Deref(in.Spec.Completions, 1) > 1:
		return advise(fmt.Sprintf(words.RaiseBackoffLimit, limit), "")
	case limit == 0 && how != "":
		return toRetries(fmt.Sprintf(words.AllowRetries, how, limit))
	case failed.Example == nil:
	case isUnreachable(known) && meaning.MayBeService(known.Subject) && !facts.HostsOf(in).IsWrong(known.Subject): // A Service that was not ready yet.
		return toRetries(fmt.Sprintf(words.MoreRetries, limit))
	case retriesInVain(in, failed.Example):
		return propose(in, words.FailAtOnce, failingAtOnce(in, failed.Example))
	}
	return nil
}

// isDeletion reports whether others than the Job's controller deleted the pods, for an unknown reason.
func isDeletion(c explain.Cause) bool {
	return !c.Consequence && c.Stopped == "" && c.Ending == nil && c.Failure != nil && c.Failure.IsDeletion()
}

// toRetries returns advice to allow more retries.
func toRetries(text string) []explain.Advice {
	out := advise(text, "")
	out[0].Change = explain.ToRetries
	return out
}

// onDeadline returns advice on a Job that passed its deadline.
func onDeadline(in *facts.Facts, end *explain.End) []explain.Advice {
	if o := end.Outlived; o != nil {
		return endWithMain(in, o.Running, o.Ended, o.Exit != nil && o.Exit.ExitCode != 0)
	}
	switch {
	case end.Counted > 0: // More time does not help.
		return nil
	case end.Looped != "":
		return advise(words.KeepLoggingPods, "")
	}
	text := words.GiveMoreTime
	var longer *explain.Policies
	if seconds := in.Spec.ActiveDeadlineSeconds; seconds != nil {
		text, longer = fmt.Sprintf(words.GiveJobsMoreTime, *seconds), &explain.Policies{ActiveDeadlineSeconds: ptr.To(2 * *seconds)}
	}
	if n := ptr.Deref(in.Spec.Completions, 1); n > 1 && jobspec.Parallelism(in.Spec) < n {
		text += words.OrMorePods
	}
	out := proposeFix(in, text, longer)
	if skip := words.SkipHook(facts.ToolOf(in.Job)); skip != "" { // The advice is for later installations.
		out[0].OfSource, out = true, append(out, advise(skip, "")...)
	} else {
		out = append(out, changeSource(in, "", out)...)
	}
	if in.PodsRead && len(in.Pods) == 0 {
		out = append(out, advise(words.FollowNextLog, "")...)
	}
	return out
}

// retriesInVain reports whether a rule could have failed the Job at once, for the exit code of a container that ended by itself, with a code
// that suggests a single cause: 1 stands for any error, and preempted or evicted pods end with codes of signals, too.
func retriesInVain(in *facts.Facts, f *failures.Failure) bool {
	const signals = 128
	c := f.Container()
	return takesFailurePolicy(in) && in.Spec.PodFailurePolicy == nil && jobspec.BackoffLimit(in.Spec) > 0 &&
		f.Ending() == nil && f.Pod.Disruption == "" && c != nil && c.ExitCode > 1 && c.ExitCode < signals
}
