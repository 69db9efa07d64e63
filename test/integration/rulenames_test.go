package integration

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

const failJob = batchv1.PodFailurePolicyActionFailJob

// unmet are n rules that no pod of these tests meets.
func unmet(n int) (rules []batchv1.PodFailurePolicyRule) {
	for i := range n {
		rules = append(rules, onExit(failJob, int32(100+i)))
	}
	return rules
}

// Both requirements of a rule, with a name and without one, at index 0 and 3.
func TestReasonNamesTheRule_PFN_02_PFN_06(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	type ending struct {
		job, reason, message string
		fails                func(*corev1.Pod)
	}
	var endings []ending
	for _, at := range []int{0, 3} {
		for _, name := range []string{"", "Lost"} {
			reason := fmt.Sprintf("PodFailurePolicy_%d", at)
			annotation := fmt.Sprintf("%d=Other", at+1)
			if name != "" {
				reason = "PodFailurePolicy_" + name
				annotation += fmt.Sprintf(";%d=%s", at, name)
			}
			for kind, rule := range map[string]batchv1.PodFailurePolicyRule{"exit": onExit(failJob, 42), "condition": onDisruption(failJob)} {
				job := fmt.Sprintf("%s-%d-%d", kind, at, len(name))
				rules := append(unmet(at), rule, onExit(failJob, 200))
				f.create(withNames(annotation, named(job, newJob(failurePolicy(rules...)))))
				e := ending{job, reason, "Pod %s/%s has condition DisruptionTarget matching FailJob rule at index %d", func(pod *corev1.Pod) { f.kubelet.failBy(pod, disrupted) }}
				if kind == "exit" {
					e.message, e.fails = "Container main for pod %s/%s failed with exit code 42 matching FailJob rule at index %d", func(pod *corev1.Pod) { f.kubelet.exit(42, pod) }
				}
				e.message = strings.Replace(e.message, "%d", fmt.Sprint(at), 1)
				endings = append(endings, e)
			}
		}
	}
	for _, e := range endings {
		pod := f.podOf(e.job)
		e.fails(pod)
		job := f.untilFinished(e.job, batchv1.JobFailed, e.reason, 0, 1)
		f.wantMessage(job, batchv1.JobFailed, fmt.Sprintf(e.message, f.namespace, pod.Name))
	}
}

// Another pod holds up the end. That both conditions keep reason and message is S11 of
// the invariants.
func TestFailedHasTheReasonOfFailureTarget_PFN_03(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(withNames("0=First;1=Second", newJob(completions(2), parallelism(2), onNode, withRules(2))))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.kubelet.exit(1, pods[0])
	job := f.untilIs("a", batchv1.JobFailureTarget)
	if history.Is(job, batchv1.JobFailed) {
		t.Error("the Job is Failed at once")
	}
	target := history.Condition(job, batchv1.JobFailureTarget)
	if want := "PodFailurePolicy_First"; target.Reason != want {
		t.Errorf("the reason is %s, want %s", target.Reason, want)
	}
	f.untilPods(1, "terminating", history.IsTerminating)
	// The pod that is held ends as another rule has it, and the names change.
	f.patchJob("a", map[string]any{"metadata": map[string]any{"annotations": map[string]any{rulename.Annotation: "0=Later;1=Second"}}})
	f.kubelet.exit(2, pods[1])
	f.kubelet.confirm(pods[1])
	job = f.untilFinished("a", batchv1.JobFailed, target.Reason, 0, 2)
	f.wantMessage(job, batchv1.JobFailed, target.Message)
}

// Between FailureTarget and Failed the gate is switched off.
func TestGateIsSwitchedOffInBetween_PFN_10(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(withNames("0=Bad", named("over", newJob(withRules(1)))))
	f.kubelet.exit(1, f.podOf("over"))
	over := f.untilFinished("over", batchv1.JobFailed, "PodFailurePolicy_Bad", 0, 1)
	f.create(withNames("0=Bad", newJob(completions(2), parallelism(2), onNode, withRules(1))))
	pods := f.untilPods(2, "of Job a", ofJob("a"))
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 2, ready: 2})
	f.kubelet.exit(1, pods[0])
	f.untilIs("a", batchv1.JobFailureTarget)
	f.untilPods(1, "terminating", history.IsTerminating)
	p.stop()

	f.startController(gateOff(controller.PodFailurePolicyName))
	f.untilWorking()
	f.kubelet.terminate(pods[1])
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_Bad", 0, 2)
	f.wantUnwritten(over)
}

// On, off, and on again: what fails takes its reason from the gate of that moment.
func TestGateIsSwitchedOnAgain_PFN_11(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	names := []string{"first", "second", "third"}
	for _, name := range names {
		f.create(withNames("0=Bad", named(name, newJob(withRules(1)))))
	}
	var finished []*batchv1.Job
	for i, gate := range [][]func(*controller.Config){nil, {gateOff(controller.PodFailurePolicyName)}, nil} {
		reason := "PodFailurePolicy_Bad"
		if len(gate) > 0 {
			reason = batchv1.JobReasonPodFailurePolicy
		}
		p := f.startController(gate...)
		f.kubelet.exit(1, f.podOf(names[i]))
		finished = append(finished, f.untilFinished(names[i], batchv1.JobFailed, reason, 0, 1))
		p.stop()
	}
	for _, job := range finished {
		f.wantUnwritten(job)
	}
}

// The longest name makes a reason of 128 bytes, which an event can have.
func TestLongestNameFitsAnEvent_PFN_15(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController(f.telling)
	name := strings.Repeat("N", 111)
	f.create(withNames("0="+name, newJob(withRules(1))))
	f.kubelet.exit(1, f.untilActive(1)[0])
	job := f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_"+name, 0, 1)
	c := history.Condition(job, batchv1.JobFailed)
	e := f.untilEvent("a", c.Reason)
	if e.Type != corev1.EventTypeWarning || e.Message != c.Message || len(e.Reason) != 128 || e.InvolvedObject.UID != job.UID {
		t.Errorf("the event is %s %q %q about %s, and the condition says %q", e.Type, e.Reason, e.Message, e.InvolvedObject.UID, c.Message)
	}
	if n := f.said("a", c.Reason); n != 1 {
		t.Errorf("the event is there %d times", n)
	}
}

// Names that the API server would have rejected hold up nothing: there is one event
// for each value, and the reason has the index.
func TestInvalidNamesHoldUpNothing_PFN_25(t *testing.T) {
	t.Parallel()
	const event = "InvalidPodFailurePolicyRuleNames"
	f := newFixture(t)
	p := f.startController(f.telling)
	annotate := func(value string) {
		f.patchJob("a", map[string]any{"metadata": map[string]any{"annotations": map[string]any{rulename.Annotation: value}}})
	}
	syncs := func() int { return strings.Count(p.log.String(), `"Synced"`) }
	f.create(withNames("0=Good;1=exit-2", newJob(withRules(2))))
	pod := f.untilActive(1)[0]
	f.untilCounts("a", counts{active: 1})
	for i := range 10 {
		before := syncs()
		f.edit("a", map[string]any{"backoffLimit": 10 + i})
		f.until("there was a sync", func() bool { return syncs() > before })
	}
	e := f.untilEvent("a", event)
	if e.Type != corev1.EventTypeWarning || !strings.Contains(e.Message, `rule 1 "exit-2": '-' is not allowed`) {
		t.Errorf("the event is %s %q", e.Type, e.Message)
	}
	annotate("0=Good;1=Good")
	f.until("another value is told of", func() bool { return f.said("a", event) > 1 })
	f.kubelet.exit(1, pod)
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_0", 0, 1)
	f.untilEvent("a", "PodFailurePolicy_0")
	if n := f.said("a", event); n != 2 {
		t.Errorf("there are %d events, want one for each of two values", n)
	}
}

// Story 1 of KEP-4443.
func TestNamedRuleIsTheReason_PFN_30(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	rule := onExit(failJob, 2)
	rule.OnExitCodes.ContainerName = ptr.To(containerName)
	f.create(withNames("0=ExitCode2", newJob(backoffLimit(0), failurePolicy(rule))))
	f.kubelet.exit(2, f.untilActive(1)[0])
	f.untilFinished("a", batchv1.JobFailed, "PodFailurePolicy_ExitCode2", 0, 1)
	f.wantPodsEver(1)
}

// Story 2 of KEP-4443: who watches Jobs knows by the reason which to start again.
func TestTwoNamesAreTwoReasons_PFN_31(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	verdicts := map[string]string{"PodFailurePolicy_ExitCode2": "leave failed", "PodFailurePolicy_ExitCode3": "restart"}
	for name, code := range map[string]int32{"leave-failed": 2, "restart": 3} {
		f.create(withNames("0=ExitCode2;1=ExitCode3", named(name, newJob(failurePolicy(onExit(failJob, 2), onExit(failJob, 3))))))
		f.kubelet.exit(code, f.podOf(name))
		job := f.untilFinished(name, batchv1.JobFailed, fmt.Sprintf("PodFailurePolicy_ExitCode%d", code), 0, 1)
		if got := verdicts[history.Condition(job, batchv1.JobFailed).Reason]; strings.ReplaceAll(got, " ", "-") != name {
			t.Errorf("Job %s: the consumer decides to %s", name, got)
		}
	}
}
