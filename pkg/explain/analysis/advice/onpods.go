package advice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/podproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// onToken returns advice on a generated token that is gone: the pod, or the template, names its Secret.
func onToken(in *facts.Facts, p *explain.Problem) []explain.Advice {
	kind, secret := p.MissingObject()
	isToken := func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == secret }
	t := facts.ToolOf(in.Job)
	renew, command := words.RenewToken(t), kubectl(in.Job, "delete job %s", jobWord(in.Job))
	switch inTemplate := slices.ContainsFunc(in.Spec.Template.Spec.Volumes, isToken); {
	case kind == "" && t.IsHook():
		return advise(words.RenewAccount(p.TokenOf(), t), command)
	case kind == "":
		return advise(words.RenewAccount(p.TokenOf(), nil), kubectl(in.Job, "get serviceaccount %s", shellWord(p.TokenOf())))
	case !inTemplate && len(p.Pods) > 0:
		renew, command = words.RenewTokenOfPod, kubectl(in.Job, "delete pod %s", shellWord(p.Pods[0]))
	case t == nil:
		command = ""
	}
	return advise(fmt.Sprintf(words.TokenGone, p.TokenOf())+renew, command)
}

// onEndedContainer returns advice on the first of the pods that do not end.
func onEndedContainer(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	pod := activePod(in, p.Pods[0])
	if pod == nil {
		return nil
	}
	c := podproblems.EndedContainer(in, pod)
	switch {
	case c == nil:
		return nil
	case c.Kind == explain.ProblemPodNotEnded:
		out := advise(words.CheckKubelet, describeNode+shellWord(pod.Node))
		return append(out, advise(words.DeleteUnended, kubectl(in.Job, "delete pod %s", shellWord(pod.Name)))...)
	}
	out, read := endWithMain(in, c.Running, c.Name, c.Kind == explain.ProblemContainerFailed), c.Running[0]
	switch {
	case c.Reason == cause.OOMKilled:
		out = append(advise(words.MemoryAdvice(c.Name, in.MemoryLimit(&c.Container), true), ""), out...)
	case c.Kind == explain.ProblemContainerFailed && !c.NeverStarted() && !facts.IsStopped(&c.Container):
		how, known := remedy(in, &c.Container, p.Start.Error, unknownOf(in, p)), p.Start.Error
		if late := words.StartAfterProxy(c.Name, c.Running[0]); late != "" && known != nil && known.Kind == meaning.ErrorConnectionRefused {
			how, known = meaning.Remedy{Text: late, OfTemplate: true}, nil
		}
		out = append(onKnown(in, known, &how), out...)
	}
	out = append(out, onNoEnd(in, p, c)...)
	switch {
	case c.Kind == explain.ProblemSidecarStopping:
		out = advise(words.StopSidecars(c.Running), "")
	case c.NeverStarted():
		return append(out, onNoStart(in, &c.Container, c.Message, "")...)
	case c.Kind == explain.ProblemContainerFailed:
		read = c.Name
	}
	return append(out, adviseLogs(fmt.Sprintf(words.ReadLogOf, read), logsOf(in, pod.Name, read))...)
}

// longOver is the time after the failure of a container from which the others of its pod most likely have no work, and after the end of a Job
// from which its CronJob may have started another one.
const longOver = time.Hour

// onNoEnd returns advice on what keeps the containers of a pod running without an end.
func onNoEnd(in *facts.Facts, p *explain.Problem, c *podproblems.Ended) []explain.Advice {
	isAlone := int(p.Count) == len(in.Active) && in.ManagingOwner() == nil && !facts.ToolOf(in.Job).IsHook()
	switch {
	case c.Killed != nil:
		return advise(fmt.Sprintf(words.ExitWithZero, c.Killed.Name), "")
	case c.Kind == explain.ProblemContainerFailed && isAlone && in.Spec.ActiveDeadlineSeconds == nil && in.Now.Sub(c.EndedAt) >= longOver:
		return advise(fmt.Sprintf(words.DeleteNow, c.Name, words.ContainersText(c.Running)), kubectl(in.Job, "delete job %s", jobWord(in.Job)))
	}
	return nil
}

// endWithMain returns advice on making the remaining containers end together with another one, which may have failed.
func endWithMain(in *facts.Facts, running []string, main string, failed bool) (out []explain.Advice) {
	injected := slices.DeleteFunc(slices.Clone(running), func(name string) bool {
		return !in.IsInjected(name) && !words.IsMarked(name, &in.Spec.Template.ObjectMeta)
	})
	for _, name := range injected {
		if text := words.KeepOut(name); text != "" {
			out = append(out, advise(text, "")...)
			out[len(out)-1].OfTemplate = true
		}
	}
	switch {
	case len(out) > 0:
		return out
	case len(injected) > 0:
		if out = advise(words.FindInjector(injected), "kubectl get mutatingwebhookconfigurations"); len(injected) == len(running) {
			return out
		}
	case failed && !slices.ContainsFunc(running, words.IsSidecarName):
		return advise(fmt.Sprintf(words.EndWithFailed, words.ContainersText(running), main), "")
	}
	return append(out, advise(words.EndWithMain(running, main), "")...)
}

// tooEarly returns advice on a hook that runs before its tool creates a server that the hook asks for; nil for other Jobs.
func tooEarly(in *facts.Facts, server string) []explain.Advice {
	if text := words.HookTooEarly(facts.ToolOf(in.Job), server); text != "" && meaning.MayBeService(server) {
		return advise(text, "")
	}
	return nil
}

// unreachable are the errors of a program about a server that does not exist, or does not run.
var unreachable = []meaning.ErrorKind{meaning.ErrorNameResolution, meaning.ErrorConnectionRefused, meaning.ErrorNoConnection, meaning.ErrorTimeout}

// isUnreachable reports whether the error, which may be nil, is about a server of which the program has the name.
func isUnreachable(known *meaning.KnownError) bool {
	return known != nil && known.Subject != "" && !known.IsOfAPIServer() && slices.Contains(unreachable, known.Kind)
}

// onUnreachable returns advice on a hook whose program cannot reach a server, as the error shows.
func onUnreachable(in *facts.Facts, known *meaning.KnownError) []explain.Advice {
	if !isUnreachable(known) {
		return nil
	}
	return tooEarly(in, strings.TrimSuffix(known.Subject, meaning.NoDNS))
}

// onContainerLog returns the log of the init container or sidecar that keeps the pod from starting.
func onContainerLog(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	if len(p.Pods) == 0 {
		return nil
	}
	logs := adviseLogs(fmt.Sprintf(words.ReadLogOf, p.Container), kubectl(in.Job, "logs %s", shellWord(p.Pods[0])+logFlags(in, p)))
	hangs := p.Kind == explain.ProblemInitRunning && len(p.Role.Servers) == 0 && in.Spec.ActiveDeadlineSeconds == nil
	if hangs && p.Since != nil && in.Now.Sub(p.Since.Time) >= words.LongRun {
		logs = append(advise(words.EndHanging, ""), logs...)
	}
	switch repeated := onLastLine(in, p); {
	case repeated != nil:
		logs = append(repeated, logs...)
	case len(p.Role.Servers) > 0:
		logs = append(onServers(in, p.Role.Servers), logs...)
	case p.Run.Exit != nil && p.Run.Exit.ExitCode == 0:
		logs = append(advise(fmt.Sprintf(words.KeepSidecarRunning, p.Container), ""), logs...)
	case p.Role.Probed && (p.Run.Exit == nil || facts.IsStopped(&input.Container{ExitCode: p.Run.Exit.ExitCode, Reason: p.Run.Exit.Reason})):
		logs = append(onStartupProbe(p), logs...)
	}
	if p.Role.LostPolicy {
		return append(advise(fmt.Sprintf(words.FindPolicyRemover, p.Container), "kubectl get mutatingwebhookconfigurations"), logs...)
	}
	return logs
}

// onStartupProbe returns advice on a sidecar whose startup probe does not succeed.
func onStartupProbe(p *explain.Problem) []explain.Advice {
	probe := meaning.Ending{Kind: meaning.EndProbe, By: meaning.ByKubelet, Container: p.Container, Probe: "startup"}
	return advise(probe.Advice(p.Run.ProbeMessage), "")
}

// logFlags select the container of a problem, and its log from before the last restart if it has failed.
func logFlags(in *facts.Facts, p *explain.Problem) string {
	flags := ""
	if pod := activePod(in, p.Pods[0]); pod != nil {
		flags = containerFlag(in, pod, p.Container)
	}
	if p.Kind == explain.ProblemCrashLoop || p.Run.Exit != nil {
		flags += " --previous"
	}
	return flags
}

// logsOf returns the command that prints the log of one of several containers.
func logsOf(in *facts.Facts, pod, container string) string {
	return kubectl(in.Job, "logs %s -c %s", shellWord(pod), shellWord(container))
}

// onEnding returns advice on a pod that was ended from outside its containers; pod is nil if it no longer exists.
func onEnding(in *facts.Facts, end *meaning.Ending, message string, pod *input.Pod) []explain.Advice {
	text, command := end.Advice(message), ""
	annotations := in.Spec.Template.Annotations
	keep, former := end.KeepAnnotation()
	if former != "" && annotations[former] != "" && annotations[keep] == "" {
		return advise(fmt.Sprintf(words.RenameAnnotation, former, keep), "")
	}
	switch {
	case end.Kind == meaning.EndPodDeadline:
		text = words.PodDeadlineAdvice(in.Spec.Template.Spec.ActiveDeadlineSeconds)
	case text == "" || annotations[keep] != "":
		return nil
	case in.Job.Annotations[keep] != "":
		text += words.NotOnJob
	case end.Kind == meaning.EndRejected && in.Spec.Template.Spec.NodeName != "":
		out := advise(fmt.Sprintf(words.Unpin, in.Spec.Template.Spec.NodeName), "")
		out[0].Change, out[0].OfTemplate = explain.ToNodes, true
		return out
	case pod == nil:
	case end.Kind == meaning.EndProbe, end.Kind == meaning.EndPostStart:
		command = kubectl(in.Job, "describe pod %s", shellWord(pod.Name))
	case end.Kind == meaning.EndRejected && pod.Node != "":
		command = "kubectl describe node " + shellWord(pod.Node)
	}
	out := advise(text, command)
	out[0].Elsewhere = end.Kind == meaning.EndRejected && !out[0].Recreates
	return out
}

// onGoneEnding returns advice on the end of pods that no longer exist.
func onGoneEnding(in *facts.Facts, c *explain.Cause) []explain.Advice {
	out := onEnding(in, c.Ending, c.Message, nil)
	if c.Ending.Kind == meaning.EndPreempted && c.Ending.By == meaning.ByScheduler {
		out = advise(words.AvoidPreemption, "")
	}
	if c.Ending.IsDisruption() && c.Action != string(batchv1.PodFailurePolicyActionIgnore) {
		out = append(out, onDisrupted(in, c.Ending, c.Count)...)
	}
	return out
}

// onDisrupted returns advice on pods with the same disruption, whose ending may be nil. To ignore it does not help if the next pods
// have the same fate: they run on the same node, or lack the same toleration.
func onDisrupted(in *facts.Facts, end *meaning.Ending, pods int32) []explain.Advice {
	pinned := in.Spec.Template.Spec.NodeName
	switch tainted := end != nil && end.Kind == meaning.EndTaint; {
	case tainted && pinned != "":
		return advise(words.Tolerate(pinned), showTaints+" "+shellWord(pinned))
	case tainted && pods > 1:
		return advise(words.Tolerate(""), showTaints)
	case pinned != "":
		return advise(fmt.Sprintf(words.Unpin, pinned), "kubectl describe node "+shellWord(pinned))
	case !in.Finished(): // The policy of this Job cannot be changed.
		return nil
	case !takesFailurePolicy(in):
		return toRetries(fmt.Sprintf(words.AllowRetries, "disrupted", jobspec.BackoffLimit(in.Spec)))
	}
	return proposeFix(in, words.IgnoreDisruptions, ignoringDisruptions(in))
}

// showTaints is the command that prints the taints of nodes.
const showTaints = "kubectl get nodes -o custom-columns=NAME:.metadata.name,TAINTS:.spec.taints"

// onDisruption returns advice on a pod that was evicted or preempted.
func onDisruption(in *facts.Facts, failed *failures.Failures, f *failures.Failure) (out []explain.Advice) {
	if f.Pod.Disruption == preempted {
		out = advise(words.AvoidPreemption, "")
	}
	end := f.Ending()
	switch {
	case f.Pod.Disruption == "" && (end == nil || !end.IsDisruption()), end != nil && end.IsOwnDoing(f.Message()):
	case !f.Matched():
		same := int32(0)
		for i := range failed.All {
			if other := failed.All[i].Ending(); end != nil && other != nil && other.Kind == end.Kind {
				same++
			}
		}
		out = append(out, onDisrupted(in, end, same)...)
	case in.Finished() && !f.Ignored() && f.Match.Condition == "": // By its exit code.
		out = append(out, proposeFix(in, fmt.Sprintf(words.IgnoreBefore, f.Match.Rule), ignoringDisruptions(in))...)
	}
	return out
}

// onSuccess returns advice on the failures of a complete Job: another pod did their work, and a copy would do it again.
func onSuccess(in *facts.Facts, failed *failures.Failures, v *Values) (out []explain.Advice) {
	f := failed.Example
	took, gaveUp := facts.HelmGaveUp(in)
	switch {
	case gaveUp && facts.StayOf(in) == "":
		return advise(words.RaiseHelmTimeout(facts.ToolOf(in.Job), took), "")
	case in.Job.Status.Failed == 0 && in.PodsRead && len(in.Pods) == 0 && v.Disruptions != nil:
		return advise(words.KeepOutput, "")
	case in.Job.Status.Failed == 0 || len(v.Problems) > 0:
		return nil
	case f == nil:
		out = onGonePods(in, failed, v)
	case len(f.OutOfMemory()) > 0:
		return advise(memoryAdvice(in, f.OutOfMemory()[0]), "")
	}
	return append(advise(words.NothingToDo, ""), out...)
}

// Pods and seconds that a Job has lost before checkpoints are worth the effort.
const (
	checkpointPods    = 3
	checkpointSeconds = 600
)

// onDisruptions returns advice on the actors that took pods, also if a rule ignores that: it costs time anyway.
func onDisruptions(in *facts.Facts, d *explain.Disruptions) (out []explain.Advice) {
	for i := range d.By {
		end := &d.By[i].Ending
		keep, _ := end.KeepAnnotation()
		switch {
		case keep != "":
			out = append(out, onEnding(in, end, "", nil)...)
		case end.Kind == meaning.EndPreempted && end.By == meaning.ByScheduler:
			out = append(out, advise(words.AvoidPreemption, "")...)
		}
	}
	if d.IndexPods >= checkpointPods && d.LostSeconds >= checkpointSeconds {
		out = append(out, advise(fmt.Sprintf(words.Checkpoint, *d.Index, d.IndexPods), "")...)
	}
	return out
}
