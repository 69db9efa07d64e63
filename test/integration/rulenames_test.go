package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

const failJob = batchv1.PodFailurePolicyActionFailJob

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
