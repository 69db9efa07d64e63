package analysis

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// advice is what can be done, the most useful first, each piece once.
func (a *situation) advice() []explain.Advice {
	var out []explain.Advice
	add := func(list ...explain.Advice) { out = appendNew(out, list) }
	if !a.finished() {
		add(a.adviceOnProblems()...)
	}
	if a.outcome.failing() || a.job.Status.Failed > 0 || len(a.failures) > 0 && !a.finished() {
		add(a.adviceOnFailure()...)
		if !a.focused() {
			add(a.adviceOnLimit()...)
		}
	}
	if a.finished() {
		add(a.adviceOnProblems()...)
	}
	add(a.adviceOnRetry()...)
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
	if strings.HasPrefix(word, "-") {
		return "NAME" // An owner may be called --server=…, which kubectl would obey.
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (a *analysis) jobWord() string { return shellWord(a.job.Name) }

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
	if limit, known := a.memoryLimit(c.Name); known {
		return fmt.Sprintf("raise the memory limit of container %s, which is %s, or make it use less memory", c.Name, limit.String())
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

func (a *analysis) memoryLimit(container string) (limit resource.Quantity, known bool) {
	for _, list := range [][]corev1.Container{a.spec.Template.Spec.Containers, a.spec.Template.Spec.InitContainers} {
		for i := range list {
			if memory, ok := list[i].Resources.Limits[corev1.ResourceMemory]; ok && list[i].Name == container {
				return memory.DeepCopy(), true
			}
		}
	}
	return limit, false
}

// adviceOnRetry is how to run what is missing of a Job that failed.
func (a *situation) adviceOnRetry() []explain.Advice {
	if !a.needsRetry() {
		return nil
	}
	last := a.job.Name
	if a.family != nil {
		if m := a.family.Members[len(a.family.Members)-1]; !m.Pending {
			last = m.Name // It has the changes of those before it.
		}
	}
	text, flags := "rerun what is missing once the cause is fixed; --image, --set-env and --limits change the Job", ""
	if memory := a.moreMemory(); memory != "" && last == a.job.Name {
		text, flags = "rerun what is missing with more memory", memory
	}
	return []explain.Advice{advise(text, a.kubectl("batchjob retry %s%s", shellWord(last), flags))}
}

// needsRetry reports whether something of the failed Job is missing that nothing else runs: a retry, or what its owner does.
func (a *situation) needsRetry() bool {
	if a.focused() || a.outcome.Fate != explain.FateFailed || !a.RelativesRead || a.job.DeletionTimestamp != nil || a.managingOwner() != nil {
		return false
	}
	if f := a.family; f != nil {
		return !f.Complete && f.RunningIn == ""
	}
	return !a.indexed() || !retry.Family{a.job}.Missing(a.job).IsEmpty()
}

// moreMemory are the flags of retry that double the memory limit of the container that ran out of memory, "" for none.
func (a *analysis) moreMemory() string {
	f := a.example()
	if f == nil || f.container() == nil || f.container().Reason != "OOMKilled" {
		return ""
	}
	name := f.container().Name
	limit, known := a.memoryLimit(name)
	if !known {
		return ""
	}
	limit.Mul(2)
	return a.containerFlag(name) + " --limits memory=" + limit.String()
}
