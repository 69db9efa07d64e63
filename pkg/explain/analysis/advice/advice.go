// Package advice recommends what to do about the failures and the problems of a Job, with commands that can be run as they are.
package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Values are the inputs of the advice besides the facts and the failures.
type Values struct {
	Accounting *account.Accounting
	End        *explain.End
	// IgnoredFailures is the number in the report's Counts.
	IgnoredFailures int32
	Problems        []explain.Problem
	Reconciler      *explain.Reconciler
	Family          *explain.Family
	Disruptions     *explain.Disruptions
}

// Collect returns the advice, the most useful first, without duplicates.
func Collect(in *facts.Facts, failed *failures.Failures, v *Values, options explain.Options) []explain.Advice {
	var out []explain.Advice
	// Current problems come first, unless a limit or rule has decided that the Job fails: its pods then only end.
	late := in.Finished() || in.Decision.Failing() && v.End.EndedBy != explain.EndedByDeadline
	if !late {
		out = appendNew(out, onProblems(in, v))
	}
	switch {
	case in.Decision.Outcome == reconcile.OutcomeComplete:
		out = appendNew(out, onSuccess(in, failed, v))
	case in.Decision.Failing() || in.Job.Status.Failed > 0 || len(failed.All) > 0 && !in.Finished():
		out = appendNew(appendNew(out, startable(v, onFailures(in, failed, v, options))), onDone(in, failed.Example))
		if !options.IsNarrow() {
			out = appendNew(out, onLimit(in, failed, v))
		}
	}
	if late {
		out = appendNew(out, onProblems(in, v))
	}
	if reconcile.FinishedCondition(in.Job) != batchv1.JobComplete && v.Disruptions != nil {
		out = appendNew(out, onDisruptions(in, v.Disruptions))
	}
	if needsRetry(in, v.Family) {
		out = appendNew(out, toRetry(in, failed, v, options, recreatesFirst(out)))
	}
	if !options.IsNarrow() {
		out = append(out, onDeletionLater(in)...)
		out = appendNew(out, onTemplate(in, failed, out))
		out = append(out, onOutput(in, v.Problems, out)...)
	}
	isOpen := !in.Decision.Decided() && in.Job.DeletionTimestamp == nil
	for i := range out {
		out[i].Text = words.Fit(out[i].Text, facts.OwnerOf(in.Job), facts.ToolOf(in.Job), out[i].Change, isOpen)
	}
	// Policies help only the next Job.
	slices.SortStableFunc(out, func(x, y explain.Advice) int {
		return lists.FalseFirst(x.Kind == explain.AdvicePolicy, y.Kind == explain.AdvicePolicy)
	})
	return out
}

// recreatesFirst reports whether the first advice is a fix that creates the Job again, changed.
func recreatesFirst(all []explain.Advice) bool {
	return len(all) > 0 && all[0].Kind == explain.AdviceFix && all[0].Recreates
}

// startable returns the advice without that on a copy of a pod, if a problem would keep the copy from starting, too.
func startable(v *Values, all []explain.Advice) []explain.Advice {
	kinds := []explain.ProblemKind{explain.ProblemCreationRefused, explain.ProblemUnschedulable, explain.ProblemImagePull, explain.ProblemPodPending}
	isKept := slices.ContainsFunc(v.Problems, func(p explain.Problem) bool { return p.Blocks && slices.Contains(kinds, p.Kind) })
	return slices.DeleteFunc(all, func(a explain.Advice) bool { return isKept && a.Kind == explain.AdviceDebug })
}

// onDeletionLater returns advice on what deletes the Job after its end, and when.
func onDeletionLater(in *facts.Facts) []explain.Advice {
	t, stay := facts.ToolOf(in.Job), facts.StayOf(in)
	switch {
	case t.IsHook() && t.Name == explain.ToolArgoCD && in.Spec.TTLSecondsAfterFinished != nil:
		return advise(words.LeaveToArgoCD, "")
	case t != nil && t.Name == explain.ToolHelm && in.Spec.TTLSecondsAfterFinished != nil && in.Decision.Outcome == reconcile.OutcomeFailed:
		return advise(words.KeepForHelm, kubectl(in.Job, "batchjob bundle %s", jobWord(in.Job)))
	case facts.IsCreatedAgain(in), in.Spec.TTLSecondsAfterFinished != nil && in.Finished() && t.Keeps():
		return advise(words.LeaveOutTTL(t), "")
	case stay == explain.StayFixed:
		return advise(words.ReplaceTemplate(t), "")
	case stay == explain.StayNoTTL, stay == explain.StayByHand:
		ttl := advise(words.SetTTL, kubectl(in.Job, `patch job %s --type merge -p '{"spec":{"ttlSecondsAfterFinished":3600}}'`, jobWord(in.Job)))
		if stay == explain.StayNoTTL {
			return ttl
		}
		return append(advise(words.DeleteByHand, kubectl(in.Job, "delete job %s", jobWord(in.Job))), ttl...)
	case stay == explain.StaySoon && !t.Stays: // Its log may still be of use.
	case stay != "":
		return advise(words.DeleteLeftHook(t, stay), kubectl(in.Job, "delete job %s", jobWord(in.Job)))
	}
	return nil
}

// appendNew appends the advice that all does not contain yet; one piece about the source of the Job is enough.
func appendNew(all, list []explain.Advice) []explain.Advice {
	for _, x := range list {
		if !slices.ContainsFunc(all, func(y explain.Advice) bool {
			return x.Text == y.Text && x.Command == y.Command || x.OfSource && y.OfSource
		}) {
			all = append(all, x)
		}
	}
	return all
}

// advise returns a piece of advice, with a command or "".
func advise(text, command string) []explain.Advice {
	return []explain.Advice{{Kind: explain.AdviceFix, Text: text, Command: command, Recreates: strings.Contains(text, "{recreate}")}}
}

// adviseLogs returns the advice to read a log, with the command that prints it.
func adviseLogs(text, command string) []explain.Advice {
	return []explain.Advice{{Kind: explain.AdviceLogs, Text: text, Command: command}}
}

// propose returns advice on policies, which may be nil. For a finished Job, package whatif adds how they would have changed the
// outcome, if they would, and the command that shows it.
func propose(in *facts.Facts, text string, p *explain.Policies) []explain.Advice {
	if !in.Finished() {
		p = nil
	}
	out := advise(text, "")
	out[0].Kind, out[0].Policies = explain.AdvicePolicy, p
	return out
}

// proposeFix is propose for policies that resolve the cause of the Job's failure.
func proposeFix(in *facts.Facts, text string, p *explain.Policies) []explain.Advice {
	out := propose(in, text, p)
	out[0].Kind = explain.AdviceFix
	return out
}

// kubectl returns a command with the Job's namespace at the end, where texts omit it if kubectl uses it anyway.
func kubectl(job *batchv1.Job, format string, args ...any) string {
	return explain.Kubectl(job.Namespace, format, args...)
}

// logsOfFailed returns the command that prints the logs of all failed pods.
func logsOfFailed(job *batchv1.Job) string {
	return kubectl(job, "batchjob logs %s --failed", jobWord(job))
}

// containerFlag returns the flag that selects a container, "" if the pod has only one.
func containerFlag(in *facts.Facts, pod *input.Pod, name string) string {
	if in.NeedsContainerName(pod) {
		return " -c " + shellWord(name)
	}
	return ""
}

func jobWord(job *batchv1.Job) string { return shellWord(job.Name) }

// shellWord quotes a word unless it is plain.
func shellWord(word string) string { return explain.ShellWord(word) }

// onNoStart returns advice on a container that could not start, by the message of the runtime, with a command or "".
func onNoStart(in *facts.Facts, c *input.Container, message, command string) []explain.Advice {
	of, class, known := in.TemplateContainer(c.Name), in.Spec.Template.Spec.RuntimeClassName, meaning.StartErrorIn(message)
	text := cmp.Or(meaning.SetupAdvice(message, containerOf(in, c)), fmt.Sprintf(words.FixStart, c.Name))
	switch {
	case lacksEntrypoint(of, known):
		text = fmt.Sprintf(words.PullAgain, of.Image, known.Subject)
	case known != nil:
		text = known.Advice(containerOf(in, c))
	case of != nil && of.WorkingDir != "" && strings.Contains(message, "mkdir "+of.WorkingDir+":"):
		text = fmt.Sprintf(words.FixWorkingDir, of.WorkingDir, c.Name, of.Image)
	case class != nil:
		text = fmt.Sprintf(words.FixRuntime, *class)
	}
	out := advise(text, command)
	out[0].OfTemplate = known.IsOfTemplate()
	return out
}

// lacksEntrypoint reports whether the command that is not found is the image's own: the pod template has none, and does not change PATH.
func lacksEntrypoint(of *corev1.Container, known *meaning.KnownError) bool {
	if known == nil || known.Kind != meaning.ErrorCommandNotFound || of == nil || len(of.Command) > 0 || strings.Contains(known.Subject, "/") {
		return false
	}
	isGiven := func(arg string) bool { return arg == known.Subject || strings.HasPrefix(arg, "$(") }
	return !slices.ContainsFunc(of.Args, isGiven) && !slices.ContainsFunc(of.Env, func(v corev1.EnvVar) bool { return v.Name == "PATH" })
}

// containerOf returns what advice on an error of the container depends on.
func containerOf(in *facts.Facts, c *input.Container) meaning.Container {
	of := meaning.Container{
		Name: c.Name, Image: in.Image(c), ReadOnlyRoot: in.HasReadOnlyRoot(c.Name), SharedMemory: in.HasSharedMemory(c.Name),
		MemoryLimit: in.MemoryLimit(c).Value, Secrets: in.Secrets(c.Name), Mounts: in.Mounts(c.Name),
		Variables: facts.Variables(in, c.Name), Sources: facts.EnvSources(in, c.Name),
		User: facts.User(in, c.Name), FSGroup: facts.FSGroup(in),
		HostNetwork: in.Spec.Template.Spec.HostNetwork, NodeDNS: in.UsesNodeDNS(),
		Account: facts.Account(in), NoToken: facts.NoToken(in), Namespace: in.Job.Namespace, Labels: in.Spec.Template.Labels,
		Beside:    slices.DeleteFunc(in.MainContainers(), func(name string) bool { return name == c.Name || in.IsInit(c.Name) }),
		Arguments: facts.Arguments(in, c.Name), Servers: facts.AskedServers(in, c.Name),
		Devices: facts.Devices(in, c.Name), Node: nodeOf(in, c), Hosts: *facts.HostsOf(in),
	}
	if o := facts.OwnerOf(in.Job); o != nil && o.Kind == "CronJob" {
		of.CronJob = o.Name
	}
	return of
}

// nodeOf returns the node of the pod that has the container, "" if it is unknown.
func nodeOf(in *facts.Facts, c *input.Container) string {
	for _, p := range in.Pods {
		if lists.First(p.Containers, func(other *input.Container) bool { return other == c }) != nil {
			return p.Node
		}
	}
	return ""
}

// behindWebhook returns the command that shows what is behind a webhook that the API server cannot call: its configuration with the CA, if
// the certificate is not trusted, else the pods of its Service; "" for other errors.
func behindWebhook(in *facts.Facts, known *meaning.KnownError) string {
	switch host := known.WebhookHost(); {
	case host == "":
		return ""
	case strings.Contains(known.Reason, "x509: "):
		return meaning.WebhookCommand
	default:
		return serviceCommand(in, host, true)
	}
}

// errorCommand returns the commands that give a program the permission that it lacks, or that show the pods behind the Service that it
// cannot reach; "" for other errors.
func errorCommand(in *facts.Facts, known *meaning.KnownError) string {
	if known == nil {
		return ""
	}
	webhook := behindWebhook(in, known)
	switch {
	case known.Kind == meaning.ErrorNameResolution && in.UsesNodeDNS():
		return "" // No Service has to do with it.
	case slices.Contains(unreachable, known.Kind) && !known.IsOfAPIServer():
		return serviceCommand(in, known.Subject, known.Kind != meaning.ErrorNameResolution)
	case known.Leftover.Name != "":
		return cmp.Or(known.Leftover.Adopt, kubectl(in.Job, "get %s %s --show-labels", shellWord(known.Leftover.Resource), shellWord(known.Leftover.Name)))
	case webhook != "":
		return webhook
	case known.IsOfPolicy():
		_, command := known.Refusal().Advice(shellWord(in.Job.Namespace))
		return command
	case known.IsOfObjects():
		return explain.Kubectl(cmp.Or(known.ObjectsNamespace(), in.Job.Namespace), "auth can-i --list --as=%s", shellWord("system:serviceaccount:"+in.Job.Namespace+":"+facts.Account(in)))
	case !known.Access.HasRule():
		return ""
	}
	a := &known.Access
	subject := "--user=" + shellWord(a.User)
	if a.Account != "" {
		subject = "--serviceaccount=" + shellWord(a.Namespace+":"+a.Account)
	}
	name := strings.Trim(strings.NewReplacer("/", "-", ".", "-", ",", "-").Replace(a.Account+"-"+a.Verb+"-"+a.Resource), "-")
	kind, where := "clusterrole", ""
	if a.In != "" {
		kind, where = "role", " -n "+shellWord(a.In)
	}
	if missing, role, _ := strings.Cut(a.Role, " "); role != "" && missing == kind {
		return fmt.Sprintf("kubectl create %s %s --verb=%s --resource=%s%s", kind, shellWord(role), shellWord(a.Verb), shellWord(a.Resource), where)
	}
	return fmt.Sprintf("kubectl create %[1]s %[2]s --verb=%[3]s --resource=%[4]s%[6]s && kubectl create %[1]sbinding %[2]s --%[1]s=%[2]s %[5]s%[6]s",
		kind, shellWord(name), shellWord(a.Verb), shellWord(a.Resource), subject, where)
}

// remedy returns advice on an exit code, reason or error, empty without any; known may be nil, and clue has the words of the error.
func remedy(in *facts.Facts, c *input.Container, known *meaning.KnownError, clue *meaning.Clue) meaning.Remedy {
	switch {
	case c.Reason == cause.OOMKilled:
		return meaning.Remedy{Text: memoryAdvice(in, c), OfTemplate: true, OfMemory: true}
	case cause.NeverRan(c.Reason) && lacksEntrypoint(in.TemplateContainer(c.Name), known):
		return meaning.Remedy{Text: fmt.Sprintf(words.PullAgain, in.Image(c), known.Subject), OfTemplate: true}
	case known != nil:
		return known.Remedy(clue, containerOf(in, c))
	case c.Reason == cause.Lost:
		return meaning.Remedy{Text: words.AllowRestartOfNode, Elsewhere: true}
	}
	how, ofShell := clue.Remedy(containerOf(in, c)), meaning.OfExit(c.ExitCode) != nil
	if text := words.ExitAdvice(c.Name, in.Image(c), c.ExitCode); text != "" && (how.Text == "" || !ofShell && c.ExitCode != cause.SegmentationFault) {
		return meaning.Remedy{Text: text, OfTemplate: ofShell}
	}
	return how
}

func memoryAdvice(in *facts.Facts, c *input.Container) string {
	return words.MemoryAdvice(c.Name, in.MemoryLimit(c), c.Image != "")
}

// takesFailurePolicy reports whether the Job may have a podFailurePolicy: the API server requires restartPolicy Never.
func takesFailurePolicy(in *facts.Facts) bool {
	return in.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyNever
}

// failingAtOnce returns a policy that fails the Job for the exit code of a failure, nil if there is none.
func failingAtOnce(in *facts.Facts, f *failures.Failure) *explain.Policies {
	c := f.Container()
	if c == nil || c.ExitCode == 0 {
		return nil
	}
	return withRule(in, batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: &c.Name, Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{c.ExitCode},
		},
	})
}

// ignoringDisruptions returns a policy that does not count disrupted pods.
func ignoringDisruptions(in *facts.Facts) *explain.Policies {
	disrupted := batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}
	return withRule(in, batchv1.PodFailurePolicyRule{
		Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{disrupted},
	})
}

// withRule returns the podFailurePolicy with another rule, which takes precedence. It is nil if rules have names, which the
// API type cannot represent.
func withRule(in *facts.Facts, rule batchv1.PodFailurePolicyRule) *explain.Policies {
	if !takesFailurePolicy(in) || len(in.Names) > 0 {
		return nil
	}
	rules := ptr.Deref(in.Spec.PodFailurePolicy, batchv1.PodFailurePolicy{}).Rules
	return &explain.Policies{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: slices.Concat([]batchv1.PodFailurePolicyRule{rule}, rules)}}
}
