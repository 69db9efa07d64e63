package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

const failJob = batchv1.PodFailurePolicyActionFailJob

// The longest name makes a reason of 128 bytes, which fits into an event.
// Requirements: PFN-15
func TestLongestNameFitsAnEvent(t *testing.T) {
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
	if n := f.eventsOf("a", c.Reason); n != 1 {
		t.Errorf("the event is there %d times", n)
	}
}
