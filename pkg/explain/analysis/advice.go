package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/typo"
)

// advice is what can be done, the most useful first, each piece once.
func (a *situation) advice() []explain.Advice {
	var out []explain.Advice
	add := func(list ...explain.Advice) { out = appendNew(out, list) }
	if !a.finished() {
		for i := range a.problems {
			add(a.adviceOnProblem(&a.problems[i])...)
		}
	}
	if a.outcome.failing() || a.job.Status.Failed > 0 || len(a.failures) > 0 && !a.finished() {
		add(a.adviceOnFailure()...)
		if !a.focused() {
			add(a.adviceOnLimit()...)
		}
	}
	if a.finished() {
		for i := range a.problems {
			add(a.adviceOnProblem(&a.problems[i])...)
		}
	}
	return out
}

// appendNew appends those that are not there yet.
func appendNew(all, list []explain.Advice) []explain.Advice {
	for _, x := range list {
		if !slices.ContainsFunc(all, func(y explain.Advice) bool { return x.Text == y.Text && x.Command == y.Command }) {
			all = append(all, x)
		}
	}
	return all
}

// advise is a piece of advice, with a command or "".
func advise(text, command string) explain.Advice { return explain.Advice{Text: text, Command: command} }

// kubectl is a command with the Job's namespace.
func (a *analysis) kubectl(format string, args ...any) string {
	return "kubectl " + fmt.Sprintf(format, args...) + " -n " + shellWord(a.job.Namespace)
}

// shellWord quotes a word unless it is plain, so that a command can be copied as it is.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/:=@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (a *analysis) jobWord() string { return shellWord(a.job.Name) }

// podAdvice is what to look at where one pod stands for a problem; the command gets its
// name.
var podAdvice = map[explain.ProblemKind]explain.Advice{
	explain.ProblemUnschedulable:    advise("compare what the pod requests with what the nodes offer", "describe pod %s"),
	explain.ProblemImagePull:        advise("recreate the Job with the correct image in its pod template, or make this image available", "describe pod %s"),
	explain.ProblemContainerConfig:  advise("create the ConfigMap, Secret or volume that the container refers to; it then starts automatically", "describe pod %s"),
	explain.ProblemCrashLoop:        advise("read its log from before the last restart", "logs %s --previous"),
	explain.ProblemSchedulingGated:  advise("find out what the pod is waiting for", "describe pod %s"),
	explain.ProblemPodPending:       advise("find out what the pod is waiting for", "describe pod %s"),
	explain.ProblemTerminatingStuck: advise("find out what blocks its deletion: a finalizer, or an unresponsive kubelet", "get pod %s -o yaml"),
	explain.ProblemForeignFinalizer: advise("find out who owns the finalizer, and why it has not been removed", "get pod %s -o jsonpath='{.metadata.finalizers}'"),
}

func (a *situation) adviceOnProblem(p *explain.Problem) []explain.Advice {
	if text := startAdvice(p); text != "" {
		return []explain.Advice{advise(text, a.kubectl("describe pod %s", shellWord(p.Pods[0])))}
	}
	if advice, known := podAdvice[p.Kind]; known {
		return a.adviceOnPod(p, advice)
	}
	switch p.Kind {
	case explain.ProblemNotReconciled, explain.ProblemControllerGone, explain.ProblemFinalizerStuck:
		return a.adviceOnController()
	case explain.ProblemSuspended:
		return a.adviceOnSuspended()
	case explain.ProblemContainerFailed:
		return a.adviceOnFailedWithin(p)
	case explain.ProblemCreationRefused:
		return a.adviceOnRefusal(p)
	case explain.ProblemNoParallelism:
		return []explain.Advice{advise("raise parallelism to start pods", a.kubectl(`patch job %s --type merge -p '{"spec":{"parallelism":1}}'`, a.jobWord()))}
	case explain.ProblemNoPodGroup:
		return a.adviceOnScheduling()
	case explain.ProblemNodeGone:
		return a.adviceOnNode(p)
	case explain.ProblemDeleting:
		return a.adviceOnDeletion(p)
	case explain.ProblemInvalidRuleNames:
		return []explain.Advice{advise("fix the rule names: lint shows how, and create checks them", fmt.Sprintf("kubectl get job %s -n %s -o yaml | kubectl batchjob lint -f -", a.jobWord(), shellWord(a.job.Namespace)))}
	}
	return nil
}

// adviceOnDeletion is about what holds the Job: its pods, or the finalizer of another controller.
func (a *situation) adviceOnDeletion(p *explain.Problem) []explain.Advice {
	others := slices.DeleteFunc(slices.Clone(p.Finalizers), func(f string) bool {
		return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
	})
	if len(others) > 0 {
		text := fmt.Sprintf("find out who owns %s, and why it has not been removed", strings.Join(others, ", "))
		return []explain.Advice{advise(text, a.kubectl("get job %s -o jsonpath='{.metadata.finalizers}'", a.jobWord()))}
	}
	return []explain.Advice{advise("check which of its pods are left", a.kubectl("get pods -l batch.kubernetes.io/job-name=%s", a.jobWord()))}
}

// adviceOnScheduling is the same whatever the Job asks for: none of it can be changed in a Job.
func (a *situation) adviceOnScheduling() []explain.Advice {
	text := "recreate the Job without managedBy, for the built-in controller, or with your own PodGroup named in spec.template.spec.schedulingGroup"
	if a.spec.Scheduling != nil {
		text += "; without spec.scheduling, its pods are scheduled one by one"
	}
	return []explain.Advice{{Text: text}}
}

// adviceOnPod is about the first pod that has the problem.
func (a *situation) adviceOnPod(p *explain.Problem, advice explain.Advice) []explain.Advice {
	if len(p.Pods) == 0 {
		return nil
	}
	pod := shellWord(p.Pods[0])
	if c := a.loopOf(p); c != nil && c.NeverStarted() {
		return []explain.Advice{advise(a.startRemedy(c), a.kubectl("describe pod %s", pod))}
	}
	return []explain.Advice{advise(advice.Text, a.kubectl(advice.Command, pod))}
}

// missingVolume is what a kubelet says of a volume that refers to something that is not there.
var missingVolume = regexp.MustCompile(`(configmap|secret|persistentvolumeclaim) "[^"]+" not found`)

// startAdvice is for what keeps a pod from starting and says more than its kind, "" if there is
// none.
func startAdvice(p *explain.Problem) string {
	told := strings.Join(p.Details, " ")
	switch {
	case len(p.Pods) == 0:
		return ""
	case p.Kind == explain.ProblemContainerConfig && (strings.Contains(told, "runAsNonRoot") || strings.Contains(told, "non-root policy")):
		return "run the container as a non-root user: set runAsUser in its securityContext, or use an image with a numeric user other than 0"
	case p.Kind == explain.ProblemPodPending && p.Reason == "FailedMount" && missingVolume.MatchString(told):
		return "create the ConfigMap, Secret or claim that its volumes refer to; it then starts automatically"
	}
	return ""
}

// adviceOnRefusal follows from who refuses the pods.
func (a *situation) adviceOnRefusal(p *explain.Problem) []explain.Advice {
	switch p.Reason {
	case explain.RefusalQuota, explain.RefusalQuotaNeeds:
		return []explain.Advice{advise("check the quota, and free up some of it or raise it", a.kubectl("describe resourcequota"))}
	case explain.RefusalServiceAccount:
		return []explain.Advice{advise("create the ServiceAccount; the controller then retries automatically", a.kubectl("get serviceaccounts"))}
	case explain.RefusalPriorityClass:
		return []explain.Advice{advise("create the PriorityClass; the controller then retries automatically", "kubectl get priorityclasses")}
	case explain.RefusalWebhook, explain.RefusalWebhookDown:
		return []explain.Advice{advise("fix this; the controller then retries automatically", "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations")}
	}
	what := "read the message, and recreate the Job with a corrected pod template (it is immutable)"
	if p.Reason == explain.RefusalForbidden { // by a permission, a RuntimeClass that is missing, a namespace that is being deleted, …
		what = "resolve what the message names; the controller then retries automatically; to change the pod template, recreate the Job"
	}
	return []explain.Advice{advise(what, a.kubectl("get events --field-selector involvedObject.name=%s", a.jobWord()))}
}

func (a *situation) adviceOnController() []explain.Advice {
	name := ptr.Deref(a.spec.ManagedBy, "")
	switch {
	case a.reconciler.Program != "":
		return []explain.Advice{advise("check whether the controller is running, or start it", "kubectl batchjob controller --leader-elect --replace-builtin")}
	case a.managedBy() == "":
		return []explain.Advice{advise("check whether kube-controller-manager is running", "kubectl get pods -n kube-system -l component=kube-controller-manager")}
	case name == a.OurName:
		return []explain.Advice{advise("check whether the controller is running, or start it", "kubectl batchjob controller")}
	case a.OurName != "" && typo.Distance(name, a.OurName) <= maxTypos:
		return []explain.Advice{advise(fmt.Sprintf("recreate the Job: its managedBy %s looks like a misspelling of %s, and the field is immutable", name, a.OurName), "")}
	}
	return []explain.Advice{advise(fmt.Sprintf("start the controller for managedBy %s; the field is immutable, so recreate the Job to use another controller", name), "")}
}

// maxTypos is how far a misspelled name is from the one that was meant.
const maxTypos = 2

func (a *situation) adviceOnSuspended() []explain.Advice {
	if a.ofKueue() {
		return []explain.Advice{advise("find out why Kueue does not admit it", a.kubectl("get workloads.kueue.x-k8s.io"))}
	}
	if owner := a.managingOwner(); owner != nil {
		return []explain.Advice{advise("check its owner, which resumes it", a.kubectl("get %s %s", strings.ToLower(shellWord(owner.Kind)), shellWord(owner.Name)))}
	}
	return []explain.Advice{advise("resume it", a.kubectl(`patch job %s --type merge -p '{"spec":{"suspend":false}}'`, a.jobWord()))}
}

func (a *situation) adviceOnNode(p *explain.Problem) []explain.Advice {
	node := ""
	for i := range a.pods {
		if slices.Contains(p.Pods, a.pods[i].Name) {
			node = a.pods[i].Node
		}
	}
	out := []explain.Advice{advise("check whether the node comes back", "kubectl get node "+shellWord(node))}
	return append(out, advise("if the node will not come back, delete its Node object, so that its pods are removed", "kubectl delete node "+shellWord(node)))
}

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
	flags := ""
	if len(a.spec.Template.Spec.Containers)+len(a.spec.Template.Spec.InitContainers) > 1 {
		flags = " -c " + shellWord(c.Name)
	}
	if c.Before {
		flags += " --previous"
	}
	return append(out, advise("read the whole log", a.kubectl("logs %s%s", shellWord(f.pod.Name), flags)))
}

// preempted is the reason of the condition DisruptionTarget of a pod that gave way to another.
const preempted = "PreemptionByScheduler"

// isStopped reports whether a signal ended the container, as when its pod is deleted.
func isStopped(c *explain.Container) bool {
	return c.Reason != "OOMKilled" && (c.ExitCode == 137 || c.ExitCode == 143)
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

// startRemedy is what the runtime's message asks for, if it could not start the container.
func (a *analysis) startRemedy(c *explain.Container) string {
	said := strings.ToLower(c.Message)
	of := func(fragments ...string) bool {
		for _, f := range fragments {
			if !strings.Contains(said, f) {
				return false
			}
		}
		return true
	}
	switch {
	case of("executable file", "not found"), of(`exec: "`, "no such file or directory"):
		return a.remedyOfCode(c, 127)
	case of(`exec: "`, "permission denied"), of("exec format error"):
		return a.remedyOfCode(c, 126)
	}
	return fmt.Sprintf("fix what the container runtime reports about container %s; it never started, so it has no log", c.Name)
}

// remedy is what an exit code or reason asks for.
func (a *analysis) remedy(c *explain.Container) string {
	if c.Reason != "OOMKilled" {
		return a.remedyOfCode(c, c.ExitCode)
	}
	if limit := a.memoryLimit(c.Name); limit != "" {
		return fmt.Sprintf("raise the memory limit of container %s, which is %s, or make it use less memory", c.Name, limit)
	}
	return fmt.Sprintf("give container %s a memory request that the node can satisfy; it has no memory limit of its own", c.Name)
}

// remedyOfCode is what an exit code asks for, by the convention of shells.
func (a *analysis) remedyOfCode(c *explain.Container, code int32) string {
	switch code {
	case 127:
		return fmt.Sprintf("fix the command of container %s, or use an image that contains it (image %s)", c.Name, a.image(c.Name))
	case 126:
		return fmt.Sprintf("make the command of container %s executable for the container's user and the node's architecture (image %s)", c.Name, a.image(c.Name))
	case 143, 137:
		return fmt.Sprintf("find out what stopped container %s: a deletion, an eviction, a liveness probe, or a node that shut down or ran low on memory", c.Name)
	}
	return ""
}

func (a *analysis) memoryLimit(container string) string {
	for _, list := range [][]corev1.Container{a.spec.Template.Spec.Containers, a.spec.Template.Spec.InitContainers} {
		for i := range list {
			if limit, ok := list[i].Resources.Limits[corev1.ResourceMemory]; ok && list[i].Name == container {
				return limit.String()
			}
		}
	}
	return ""
}
