package advice

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/problems/jobproblems"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// adviser returns advice on one kind of problem.
type adviser func(in *facts.Facts, v *Values, p *explain.Problem) []explain.Advice

// advisers are the functions for kinds of problems whose advice depends on values. The others have the advice in package words,
// if any, with the command that describes a pod.
var advisers = map[explain.ProblemKind]adviser{
	explain.ProblemNotReconciled:  onController,
	explain.ProblemControllerGone: onController,
	explain.ProblemFinalizerStuck: func(_ *facts.Facts, _ *Values, _ *explain.Problem) []explain.Advice {
		return advise(words.ReleasePods, "kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations")
	},
	explain.ProblemSuspended: onSuspended,
	explain.ProblemNoParallelism: func(in *facts.Facts, _ *Values, _ *explain.Problem) []explain.Advice {
		return advise(words.RaiseParallelism, kubectl(in.Job, `patch job %s --type merge -p '{"spec":{"parallelism":1}}'`, jobWord(in.Job)))
	},
	explain.ProblemNoPodGroup: func(in *facts.Facts, _ *Values, _ *explain.Problem) []explain.Advice { // The fields are immutable.
		return advise(words.ForgoPodGroup(in.Spec.Scheduling != nil), "")
	},
	explain.ProblemCreationRefused:   onRefusal,
	explain.ProblemContainerFailed:   onEndedContainer,
	explain.ProblemContainerEnded:    onEndedContainer,
	explain.ProblemSidecarStopping:   onEndedContainer,
	explain.ProblemPodNotEnded:       onEndedContainer,
	explain.ProblemInitRunning:       onContainerLog,
	explain.ProblemSidecarNotStarted: onContainerLog,
	explain.ProblemNodeGone:          onNode,
	explain.ProblemDeleting:          onDeletion,
	explain.ProblemInvalidRuleNames: func(in *facts.Facts, _ *Values, _ *explain.Problem) []explain.Advice {
		return advise(words.FixRuleNames, fmt.Sprintf("kubectl get job %s -n %s -o yaml | kubectl batchjob lint -f -", jobWord(in.Job), shellWord(in.Job.Namespace)))
	},
	explain.ProblemUnschedulable:    onUnschedulable,
	explain.ProblemSchedulingGated:  onGated,
	explain.ProblemContainerConfig:  onUnstartable,
	explain.ProblemProcessOOMKilled: onProcessOOMKilled,
	explain.ProblemErrorRepeated:    onErrorInOutput,
	explain.ProblemErrorHidden:      onErrorInOutput,
	explain.ProblemWaits:            onWaits,
	explain.ProblemSilent:           onSilent,
	explain.ProblemCrashLoop:        onPod("logs %s"),
	explain.ProblemRestarted:        onRestarted,
	explain.ProblemContainerStopped: onPod("delete pod %s"),
	explain.ProblemTerminatingStuck: onUnended,
	explain.ProblemForeignFinalizer: onPod("get pod %s -o jsonpath='{.metadata.finalizers}'"),
}

// onProblems returns advice on the current problems of the Job.
func onProblems(in *facts.Facts, v *Values) (out []explain.Advice) {
	if retry.IsPending(in.Job) {
		return advise(words.RetryOriginal, kubectl(in.Job, "batchjob retry %s", shellWord(retry.RootOf(in.Job))))
	}
	for i := range v.Problems {
		p := &v.Problems[i]
		on, known := advisers[p.Kind]
		switch kind, name := p.MissingObject(); {
		case p.TokenOf() != "":
			out = append(out, onToken(in, p)...)
			continue
		case p.Start.Hook != nil:
			out = append(out, advise(words.AddHook(p.Start.Hook, kind, name), "")...)
			continue // An object that is created by hand would be in the way of the tool.
		case p.Start.Reason == explain.InvalidImageName && hasSource(in):
			out = append(out, onSource(in, p, []explain.Advice{{Change: explain.ToImage}})...)
			continue // A Job that is recreated by hand would be in the way.
		case !known:
			on = onPod("describe pod %s")
		}
		found := on(in, v, p)
		if len(found) > 0 {
			found[0].Elsewhere = found[0].Elsewhere || isOfCluster(p)
			if p.Kind != explain.ProblemImagePull || p.Start.Trouble.IsWrongImage() {
				found[0].Change = cmp.Or(found[0].Change, changeBy(p.Kind))
			}
		}
		out = append(append(out, found...), onSource(in, p, found)...)
	}
	return out
}

// onPod returns an adviser for the first pod that has the problem; the pod's name is inserted into the command.
func onPod(command string) adviser {
	return func(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
		if len(p.Pods) == 0 || words.PodAdvice(p.Kind) == "" {
			return nil
		}
		pod := shellWord(p.Pods[0])
		if c := loopOf(in, p); c != nil && c.NeverStarted() {
			return onNoStart(in, c, c.Message, startCommand(in, p))
		}
		if text := startAdvice(p); text != "" {
			return advise(text, startCommand(in, p))
		}
		if p.Kind == explain.ProblemCrashLoop {
			out := onLoop(in, p)
			if in.TailOf(p.Pods[0], p.Container).IsEmpty() {
				return append(append(out, onServers(in, p.Role.Servers)...), onSilence(in, &input.Container{Name: p.Container})...)
			}
			return append(out, adviseLogs(words.PodAdvice(p.Kind), kubectl(in.Job, command, pod+logFlags(in, p)))...)
		}
		out := advise(words.PodAdvice(p.Kind), kubectl(in.Job, command, pod))
		if p.Start.Error != nil {
			remedy := p.Start.Error.Advice(containerOf(in, &input.Container{Name: p.Container, Image: p.Image}))
			out = append(advise(remedy, ""), out...)
		}
		return out
	}
}

// onRestarted returns advice on the error of a container that failed and runs again.
func onRestarted(in *facts.Facts, _ *Values, p *explain.Problem) (out []explain.Advice) {
	if pod := activePod(in, p.Pods[0]); pod != nil {
		how := remedy(in, in.Restarted(pod), p.Start.Error, unknownOf(in, p))
		out = onKnown(in, p.Start.Error, &how)
	}
	return append(out, adviseLogs(words.PodAdvice(explain.ProblemCrashLoop), kubectl(in.Job, "logs %s", shellWord(p.Pods[0])+logFlags(in, p)))...)
}

// onLoop returns advice on the error of a container in a crash loop, and on the fields because of which the loop has no end.
func onLoop(in *facts.Facts, p *explain.Problem) (out []explain.Advice) {
	if c := loopOf(in, p); c != nil && c.Ended && !facts.IsStopped(c) {
		how := remedy(in, c, p.Start.Error, unknownOf(in, p))
		out = onKnown(in, p.Start.Error, &how)
	}
	if text := words.EndLoop(p); text != "" {
		out = append(out, advise(text, "")...)
	}
	return out
}

// unknownOf returns the words with which the container of a problem reports an error, and its log.
func unknownOf(in *facts.Facts, p *explain.Problem) *meaning.Clue {
	return &meaning.Clue{Words: p.Run.LastLine, Log: slices.Concat(p.Details, in.LogOf(p.Pods[0], p.Container))}
}

// slowStartCommand returns the command that shows the state of the silent kubelet's node, or of kube-scheduler; "" if neither keeps the pod
// waiting.
func slowStartCommand(p *explain.Problem) string {
	switch {
	case p.Start.IsSilent:
		return "kubectl get node " + shellWord(p.Node)
	case p.Asked == corev1.DefaultSchedulerName:
		return "kubectl get pods -n kube-system -l component=kube-scheduler"
	}
	return ""
}

// creations are the commands that create a missing object, which a user completes if it holds data.
var creations = map[string]string{
	"Secret": "create secret generic %s", "ConfigMap": "create configmap %s", "ServiceAccount": "create serviceaccount %s",
}

// objectCommand returns the command that shows the keys of an object that lacks one, that looks for an object that may exist by now,
// or that creates a missing one; for other kinds, all objects of the kind.
func objectCommand(in *facts.Facts, t *meaning.Trouble) string {
	namespace := cmp.Or(t.Namespace, in.Job.Namespace)
	resource := map[string]string{
		"Secret": "secret", "ConfigMap": "configmap", "claim": "pvc", "ServiceAccount": "serviceaccount", "SecretProviderClass": "secretproviderclass",
	}[t.Object]
	switch {
	case resource == "" || t.Name == "":
		return ""
	case t.Key != "":
		return explain.Kubectl(namespace, "describe %s %s", resource, shellWord(t.Name))
	case !t.SeenAt.IsZero():
		return explain.Kubectl(namespace, "get %s %s", resource, shellWord(t.Name))
	}
	if creation := creations[t.Object]; creation != "" {
		flags := contents(in, t)
		if flags == tlsFiles && t.Object == "Secret" {
			creation, flags = "create secret tls %s", " --cert=FILE --key=FILE"
		}
		return explain.Kubectl(namespace, creation+"%s", shellWord(t.Name), flags)
	}
	return explain.Kubectl(namespace, "get %s", resource)
}

// contents returns the flags with the keys that the Job's template needs of a Secret or ConfigMap, whose values a user fills in.
func contents(in *facts.Facts, t *meaning.Trouble) (flags string) {
	const most = 4
	containers := slices.Concat(in.Spec.Template.Spec.InitContainers, in.Spec.Template.Spec.Containers)
	isEnv := func(c corev1.Container) bool {
		return slices.Contains(facts.EnvSources(in, c.Name), t.Object+" "+t.Name)
	}
	switch keys := facts.KeysOf(in, t.Object, t.Name); {
	case t.Object == "ServiceAccount":
		return ""
	case slices.ContainsFunc(containers, isEnv):
		return " --from-env-file=FILE"
	case len(keys) == 0 || len(keys) > most:
		return " --from-file=FILE"
	default:
		for _, key := range keys {
			if key.IsFile {
				flags += " --from-file=" + shellWord(key.Name) + "=FILE"
				continue
			}
			flags += " --from-literal=" + shellWord(key.Name) + "=VALUE"
		}
		return flags
	}
}

// tlsFiles are the flags with the keys of a certificate, for which kubectl has a command.
const tlsFiles = " --from-file=tls.crt=FILE --from-file=tls.key=FILE"

// startAdvice returns advice on the obstacle that keeps a pod from starting, "" if there is none beyond the advice for the kind.
func startAdvice(p *explain.Problem) string {
	switch {
	case p.Run.Ending != nil:
		return p.Run.Ending.Advice(p.Run.ProbeMessage)
	case p.Start.Reason == explain.InvalidImageName:
		return wording.Join(": ", words.CorrectImageName, meaning.NameFault(p.Image))
	case p.Start.Trouble.IsUnbound():
		return (&meaning.Unfit{Kind: meaning.UnfitClaimUnbound, Name: p.Start.Trouble.Name}).Advice(p.Start.Claims)
	case p.Start.Trouble != nil && p.Start.Trouble.Kind == meaning.MountTimeout && len(p.Start.Claims) == 1:
		return fmt.Sprintf(words.FindOtherUser, p.Start.Claims[0].Name)
	}
	return cmp.Or(words.TroubleAdvice(p), words.SlowStartAdvice(p))
}

// loopOf returns the container that is restarted repeatedly in a ProblemCrashLoop, or nil.
func loopOf(in *facts.Facts, p *explain.Problem) *input.Container {
	if pod := activePod(in, p.Pods[0]); pod != nil && p.Kind == explain.ProblemCrashLoop {
		return in.CrashLoop(pod)
	}
	return nil
}

func activePod(in *facts.Facts, name string) *input.Pod { return input.PodNamed(in.Active, name) }

// onRefusal returns advice by the kind of the refusal.
func onRefusal(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	switch waits := p.Refusal.WaitsForLeader(); {
	case waits && !p.Blocks:
		return nil
	case waits && !in.Indexed():
		return advise(words.IndexTheFollowers, "")
	}
	text, command := p.Refusal.Advice(shellWord(in.Job.Namespace))
	out := advise(text, cmp.Or(command, kubectl(in.Job, "get events --field-selector involvedObject.name=%s", jobWord(in.Job))))
	out[0].Change = changeBy(p.Refusal.Kind)
	return out
}

// maxTypos is the maximum edit distance between a misspelled name and the intended one.
const maxTypos = 2

func onController(in *facts.Facts, v *Values, p *explain.Problem) []explain.Advice {
	name := ptr.Deref(in.Spec.ManagedBy, "")
	var builtIn []explain.Advice // Replacing a Job that no controller has touched loses nothing.
	if p.Kind == explain.ProblemNotReconciled {
		builtIn = advise(words.RunWithBuiltIn, replaceManagedBy(in.Job, "null"))
	}
	switch {
	case v.Reconciler.Program != "":
		return advise(words.StartController, "kubectl batchjob controller --leader-elect --replace-builtin")
	case in.ManagedBy() == "":
		return advise(words.CheckBuiltIn, "kubectl get pods -n kube-system -l component=kube-controller-manager")
	case name == in.OurName:
		return append(builtIn, advise(words.StartController, "kubectl batchjob controller")...)
	case in.OurName != "" && typo.Distance(name, in.OurName) <= maxTypos:
		return advise(fmt.Sprintf(words.MisspelledController, name, in.OurName), replaceManagedBy(in.Job, strconv.Quote(in.OurName)))
	}
	return append(builtIn, advise(fmt.Sprintf(words.StartOtherController, name), "")...)
}

// replaceManagedBy returns the command that replaces the Job, because managedBy, here as JSON, is immutable.
func replaceManagedBy(job *batchv1.Job, managedBy string) string {
	return kubectl(job, "batchjob retry %s --replace --patch %s", jobWord(job), shellWord(`{"spec":{"managedBy":`+managedBy+`}}`))
}

func onSuspended(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	resume := kubectl(in.Job, `patch job %s --type merge -p '{"spec":{"suspend":false}}'`, jobWord(in.Job))
	switch {
	case p.Suspension.Raising:
		return advise(words.RaiseOn, kubectl(in.Job, "batchjob retry %s --in-place", jobWord(in.Job)))
	case p.Suspension.Hold != nil:
		return onQueueHold(in, p)
	case p.Suspension.NoWorkload:
		return advise(words.CheckKueue, "kubectl logs deployment/kueue-controller-manager -n kueue-system")
	case p.Controller == explain.Kueue:
		return advise(words.AskKueue, kubectl(in.Job, "get workloads.kueue.x-k8s.io"))
	case p.Suspension.OwnerRuns:
		return advise(words.AskKueueAboutOwner, "kubectl get configmap kueue-manager-config -n kueue-system -o yaml")
	case p.Suspension.OfTemplate():
		return append(advise(fmt.Sprintf(words.CreateRunning, p.Suspension.Owner.Name), kubectl(in.Job, "edit cronjob %s", shellWord(p.Suspension.Owner.Name))), advise(words.Resume, resume)...)
	case p.Suspension.Owner != nil:
		return advise(words.AskOwner, kubectl(in.Job, "get %s %s", strings.ToLower(shellWord(p.Suspension.Owner.Kind)), shellWord(p.Suspension.Owner.Name)))
	}
	text, t, ran := words.Resume, facts.ToolOf(in.Job), p.Suspension.Stopped+in.Job.Status.Succeeded+in.Job.Status.Failed > 0
	if by := p.Suspension.Manager; by != "" && !strings.HasPrefix(by, "kubectl") && (t == nil || ran) {
		text = fmt.Sprintf(words.ResumeAfter, by)
	}
	out := advise(text, resume)
	if t != nil && !ran { // Otherwise, it was not created suspended.
		out = append(out, advise(words.KeepRunning(t), "")...)
	}
	return out
}

func onNode(_ *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	out := advise(words.AwaitNode, "kubectl get node "+shellWord(p.Node))
	return append(out, advise(words.DeleteNode, "kubectl delete node "+shellWord(p.Node))...)
}

// onUnended returns advice on a pod that terminates for longer than its grace period.
func onUnended(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	command := kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0]))
	if p.Deletion.Trouble != nil && p.Node != "" {
		command = "kubectl describe node " + shellWord(p.Node)
	}
	out := advise(words.FindUnended(p), command)
	return append(out, advise(words.RemovePod, kubectl(in.Job, "delete pod %s --grace-period=0 --force", shellWord(p.Pods[0])))...)
}

// onDeletion returns advice on a deletion that waits for pods, or for the finalizer of another controller.
func onDeletion(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	if p.Deletion.NoPods {
		return append(
			advise(words.FindUpdateRejecter, kubectl(in.Job, "annotate job %s dry-run=true --dry-run=server", jobWord(in.Job))),
			advise(words.CheckGarbageCollector, "kubectl get pods -n kube-system -l component=kube-controller-manager")...)
	}
	if others := jobproblems.OthersFinalizers(p); len(others) > 0 {
		return onFinalizers(in, p, others)
	}
	selector := batchv1.JobNameLabel + "=" + in.Job.Name
	if ptr.Deref(in.Spec.ManualSelector, false) && in.Spec.Selector != nil { // Its pods may lack the label; a long name exceeds it.
		selector = metav1.FormatLabelSelector(in.Spec.Selector)
	}
	return advise(words.CheckPodsLeft, kubectl(in.Job, "get pods -l %s", shellWord(selector)))
}

// onFinalizers returns advice on finalizers that the garbage collector does not remove. A single one can be removed with a
// command that fails if the list has changed.
func onFinalizers(in *facts.Facts, p *explain.Problem, others []string) []explain.Advice {
	out := advise(words.FindFinalizerOwner(others), kubectl(in.Job, "get job %s -o jsonpath='{.metadata.finalizers}'", jobWord(in.Job)))
	if len(others) > 1 {
		return out
	}
	path := fmt.Sprintf("/metadata/finalizers/%d", slices.Index(p.Deletion.Finalizers, others[0]))
	patch, _ := json.Marshal([]map[string]string{{"op": "test", "path": path, "value": others[0]}, {"op": "remove", "path": path}})
	return append(out, advise(words.RemoveFinalizer(others[0]), kubectl(in.Job, "patch job %s --type json -p %s", jobWord(in.Job), shellWord(string(patch))))...)
}
