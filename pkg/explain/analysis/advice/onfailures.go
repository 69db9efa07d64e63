package advice

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// preempted is the DisruptionTarget reason of a pod that was preempted.
const preempted = "PreemptionByScheduler"

// onFailures returns advice on the most informative failure, or on failed pods that no longer exist.
func onFailures(in *facts.Facts, failed *failures.Failures, v *Values, o explain.Options) []explain.Advice {
	f := failed.Example
	switch {
	case f == nil && (o.IsNarrow() || len(failed.All) > 0 || in.Job.DeletionTimestamp != nil):
		return nil
	case f == nil:
		return onGonePods(in, failed, v)
	}
	out, speaks := onKind(in, failed, f), f
	collided := lists.First(failed.Groups, func(g **failures.Group) bool { return (*g).Failures[0] == f && (*g).OriginOfCollision(in) != nil })
	if collided != nil {
		speaks = (*collided).OriginOfCollision(in)
	}
	if c := speaks.Speaking(in); c != nil {
		out = append(out, onContainer(in, speaks, c)...)
	}
	if v.IgnoredFailures > 1 && f.Ignored() && !in.Finished() && in.Spec.ActiveDeadlineSeconds == nil { // Only a success can end the Job.
		out = append(out, advise(words.EndIgnoredFailures, "")...)
	}
	out = append(out, onReplacement(in, f)...)
	out = append(out, onDisruption(in, failed, f)...)
	if collided != nil {
		out = append(out, advise(words.MakeRepeatable, "")...)
	}
	if len(failed.All) > 1 && !in.PerIndex() && failed.HaveLogs() {
		out = append(out, adviseLogs(words.ReadAllLogs, logsOfFailed(in.Job))...)
	}
	return out
}

// onReplacement returns advice on the fields that say when a failed pod is replaced.
func onReplacement(in *facts.Facts, f *failures.Failure) (out []explain.Advice) {
	if before := runsBeside(in, f); before != "" {
		out = advise(fmt.Sprintf(words.ReplaceLater, f.Pod.Name, before), "")
	}
	if in.QueueEnds() {
		out = append(out, advise(words.SetCompletions, "")...)
	}
	return out
}

// runsBeside returns the pod that the failed pod replaced, if that was still terminating when the failed pod started; otherwise "".
func runsBeside(in *facts.Facts, f *failures.Failure) string {
	if jobspec.PodReplacementPolicy(in.Spec) == batchv1.Failed || !in.Indexed() && ptr.Deref(in.Spec.Parallelism, 1) > 1 {
		return "" // It waited for the end of the pod that it replaced, or it may have replaced another one.
	}
	for _, p := range in.Terminating {
		if p.Name != f.Pod.Name && p.Index == f.Pod.Index && p.DeletedAt.Before(f.Pod.StartedAt) && p.Node != "" && !in.Finished() {
			return p.Name
		}
	}
	return ""
}

// onKind returns advice on the end of the pod, on restarts of its containers, and on a rule that hides the failure.
func onKind(in *facts.Facts, failed *failures.Failures, f *failures.Failure) (out []explain.Advice) {
	if end := f.Ending(); end != nil && len(f.AfterSuccess(in)) == 0 { // Otherwise, only its exit code matters.
		out = onEnding(in, end, f.Message(), f.Pod)
	}
	if end := failed.Restarts.Ending; end != nil && f.Pod == failed.Restarts.Pod {
		out = append(out, advise(end.Advice(""), kubectl(in.Job, "describe pod %s", shellWord(f.Pod.Name)))...)
	}
	if hidden, c := &f.Kind.Hidden, &f.Kind.Cause; hidden.Container != "" {
		out = append(out, advise(words.NameContainer(hidden, c.Rule, c.RuleName, c.Container), "")...)
	}
	return out
}

// onContainer returns advice on the end of a container, and the command for its log.
func onContainer(in *facts.Facts, f *failures.Failure, c *input.Container) []explain.Advice {
	if c.NeverStarted() {
		return onNoStart(in, c, c.Message, "")
	}
	var out []explain.Advice
	// The reason of a disruption already explains why the container stopped.
	stopped := f.Consequence && !c.Before || (f.Ending() != nil || f.Pod.Disruption != "") && facts.IsStopped(c)
	if !stopped {
		out = onError(in, f, c)
	}
	if len(out) == 0 && f.IsUnexplained(in) {
		out = onServers(in, facts.ServersOf(in, c.Name))
	}
	if len(f.AfterSuccess(in)) > 0 {
		flag := map[string]string{"cloud-sql-proxy": " (--exit-zero-on-sigterm)"}[c.Name]
		return append(advise(fmt.Sprintf(words.ExitCleanly, c.Name, flag), ""), readLog(in, f.Pod, c)...)
	}
	if killed := f.OutOfMemory(); isBeside(killed, c) {
		out = onMemory(in, killed)
	}
	logs := readLog(in, f.Pod, c)
	out = append(out, logs...)
	if len(out) == len(logs) && !stopped && !c.Before && !c.Init && !f.Pod.Deleting {
		text := words.DebugCopy
		if f.IsUnexplained(in) {
			text = words.DebugSilent
		}
		command := kubectl(in.Job, "debug %[1]s -it --copy-to=%[1]s-debug --container=%[2]s", shellWord(f.Pod.Name), shellWord(c.Name)) + explain.InShell
		out = append(append(out, onSidecars(in, f.Pod.Name)...), explain.Advice{Kind: explain.AdviceDebug, Text: text, Command: command})
	}
	return out
}

// isBeside reports whether the containers are others than c, or more.
func isBeside(all []*input.Container, c *input.Container) bool {
	return len(all) > 1 || len(all) == 1 && all[0].Name != c.Name
}

// onError returns advice on the error that ended the program of a container.
func onError(in *facts.Facts, f *failures.Failure, c *input.Container) []explain.Advice {
	known := f.KnownError(in)
	how := remedy(in, c, known, f.Unknown(in))
	if how.Text == "" {
		return nil
	}
	out := onKnown(in, known, &how)
	if how.OfTemplate && !facts.ToolOf(in.Job).IsHook() {
		out = append(out, changeSource(in, "", out)...)
	}
	return out
}

// onKnown returns the advice on an error with its commands: the one that shows the object or the log that it is about, and more if the
// error needs it; nil without advice.
func onKnown(in *facts.Facts, known *meaning.KnownError, how *meaning.Remedy) []explain.Advice {
	if how.Text == "" {
		return nil
	}
	out := append(advise(how.Text, cmp.Or(serverLog(in, how.Server), errorCommand(in, known))), onUnreachable(in, known)...)
	out[0].OfTemplate, out[0].Elsewhere = how.OfTemplate, how.Elsewhere
	if known != nil {
		out[0].Change = changeBy(known.Kind)
	} else if how.OfMemory {
		out[0].Change = explain.ToResources
	}
	if text := known.DeleteLeftover(); text != "" {
		out = append(out, advise(text, kubectl(in.Job, "delete %s %s", shellWord(known.Leftover.Resource), shellWord(known.Leftover.Name)))...)
	}
	return out
}

// onSidecars returns advice to read the logs of sidecars that do more than serve as proxies: a container may pass on their errors.
func onSidecars(in *facts.Facts, pod string) (out []explain.Advice) {
	for _, c := range in.Spec.Template.Spec.InitContainers {
		if ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways && words.KeepOut(c.Name) == "" {
			out = append(out, adviseLogs(fmt.Sprintf(words.ReadSidecarLog, c.Name), logsOf(in, pod, c.Name))...)
		}
	}
	return out
}

// onMemory returns advice on several containers that ran out of memory.
func onMemory(in *facts.Facts, killed []*input.Container) (out []explain.Advice) {
	var limits []string
	for _, c := range killed {
		if limit := in.MemoryLimit(c); limit.From == input.LimitOfTemplate {
			limits = append(limits, c.Name+" ("+limit.Value+")")
		}
		out = append(out, advise(memoryAdvice(in, c), "")...)
	}
	if len(limits) > 1 && len(limits) == len(killed) {
		return advise(fmt.Sprintf(words.RaiseMemoryLimits, wording.Enumerate(limits, "and")), "")
	}
	return out
}

// logOf returns the command that prints the log of a container that ended.
func logOf(in *facts.Facts, pod *input.Pod, c *input.Container) string {
	flags := containerFlag(in, pod, c.Name)
	if c.Before {
		flags += " --previous"
	}
	return kubectl(in.Job, "logs %s%s", shellWord(pod.Name), flags)
}

// AddCommands adds to each cause the command that prints the log of its first pod, if there may be a log.
func AddCommands(in *facts.Facts, failed *failures.Failures, causes []explain.Cause) {
	for i := range causes {
		c := &causes[i]
		if c.Source != explain.SourcePods || len(c.Pods) == 0 {
			continue
		}
		f := lists.First(failed.All, func(f *failures.Failure) bool { return f.Pod.Name == c.Pods[0] })
		if f == nil {
			continue
		}
		if container := f.Speaking(in); container != nil && !container.NeverStarted() && !f.NeverRan() {
			c.Command = logOf(in, f.Pod, container)
		}
	}
}

// onGonePods returns advice for a Job whose failed pods no longer exist.
func onGonePods(in *facts.Facts, failed *failures.Failures, v *Values) []explain.Advice {
	ended := lists.First(v.Accounting.Causes, func(c *explain.Cause) bool { return !c.Consequence && c.Ending != nil })
	switch {
	case failed.Restarts.FailedJob:
		return onRestarts(in, &failed.Restarts)
	case ended != nil:
		return onGoneEnding(in, ended)
	case slices.ContainsFunc(v.Accounting.Causes, isDeletion):
		if !in.Finished() {
			return advise(words.StopJob, "")
		}
		return advise(words.FindDeleter, "")
	case in.Job.Status.Failed == 0 || !in.PodsRead || in.Decision.EndedBy == explain.EndedByDeadline:
		return nil
	case failed.Restarts.MayHaveFailedJob:
		return advise(words.KeepFailedPods, "")
	}
	return advise(words.FindRemover, "")
}

// onRestarts returns advice on restarts of pods that the controller deleted and that no longer exist.
func onRestarts(in *facts.Facts, r *failures.Restarts) []explain.Advice {
	switch {
	case r.Ending != nil:
		return advise(r.Ending.Advice(""), "")
	case r.Exit == nil:
		return nil
	}
	how := remedy(in, &input.Container{Name: r.Exit.Container, Ended: true, ExitCode: r.Exit.ExitCode, Reason: r.Exit.Reason}, nil, &meaning.Clue{})
	return onKnown(in, nil, &how)
}

// knowsSource reports whether something creates the Job from an object or a setting that is known.
func knowsSource(in *facts.Facts) bool {
	t := facts.ToolOf(in.Job)
	return t != nil && t.Source != "" || in.ManagingOwner() != nil
}

// onTemplate returns the advice to correct the CronJob that created a Job with failures, or what a program creates its Jobs from, unless
// the Job has advice on that.
func onTemplate(in *facts.Facts, failed *failures.Failures, advised []explain.Advice) []explain.Advice {
	ofTemplate := slices.ContainsFunc(advised, func(a explain.Advice) bool { return a.OfTemplate })
	if in.Decision.Outcome == reconcile.OutcomeComplete || !in.Decision.Failing() && !ofTemplate && len(failed.All) == 0 {
		return nil
	}
	if (in.Decision.Failing() || ofTemplate) && knowsSource(in) {
		if slices.ContainsFunc(advised, func(a explain.Advice) bool { return a.OfSource || a.Elsewhere && !ofTemplate }) || isElsewhere(in, failed.Example) {
			return nil
		}
		if ofTemplate || slices.ContainsFunc(advised, func(a explain.Advice) bool { return a.Recreates && a.Change != "" }) {
			return changeSource(in, "", advised)
		}
		return changeSource(in, words.ToChange, nil)
	}
	if o := facts.OwnerOf(in.Job); o != nil && o.Kind == "CronJob" {
		return onCronJob(in, o, advised)
	}
	return nil
}

// onCronJob returns the advice to correct the CronJob that created a Job, or, if the cause of its failure is elsewhere, to delete the Job.
func onCronJob(in *facts.Facts, o *explain.Owner, advised []explain.Advice) []explain.Advice {
	fix := ptr.Deref(lists.First(advised, func(a *explain.Advice) bool { return a.OfTemplate || a.Elsewhere }), explain.Advice{})
	named := slices.ContainsFunc(advised, func(a explain.Advice) bool { return a.Recreates }) // It says what to change in the CronJob.
	advises := slices.ContainsFunc(advised, func(a explain.Advice) bool { return a.Kind == explain.AdviceFix })
	var out []explain.Advice
	end := facts.FinishedAt(in.Job)
	kept := end != nil && in.Now.Sub(end.Time) >= longOver
	switch {
	case named, !advises, fix.Elsewhere && (!kept || o.Uncontrolled):
		return nil
	case fix.Elsewhere:
		out = advise(words.DeleteKeptJob, kubectl(in.Job, "delete job %s", jobWord(in.Job)))
	default:
		out = advise(words.ChangeCronJob(o, facts.ToolIn(in.Job, in.Job.Spec.Template.Labels), fix.Change, kept, fix.OfTemplate), kubectl(in.Job, "edit cronjob %s", shellWord(o.Name)))
	}
	out[0].OfOwner = true
	return out
}

// isElsewhere reports whether the cause of a failure, which may be nil, is most likely not in the pod template.
func isElsewhere(in *facts.Facts, f *failures.Failure) bool {
	if f == nil || f.Container() == nil || f.Container().NeverStarted() {
		return false
	}
	return remedy(in, f.Speaking(in), f.KnownError(in), f.Unknown(in)).Elsewhere
}
