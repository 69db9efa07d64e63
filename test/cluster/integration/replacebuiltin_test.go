package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// replacing makes a controller that replaces the built-in one.
func replacing(c *controller.Config) { c.ReplaceBuiltin = true }

// Without a built-in controller, Jobs without managedBy and Jobs with the reserved name are ours, too; another
// controller's Jobs are not.
// Requirements: MGB-02
func TestReplacesTheBuiltinController(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ours = func(job *batchv1.Job) bool { return ptr.Deref(job.Spec.ManagedBy, "") != otherController }
	f.startController(replacing)
	f.kubelet.play(everySucceeds)
	f.create(newJob(indexed(2)))
	f.create(named("nobody", newJob(managedBy(""), completions(2), parallelism(2))))
	f.create(named("reserved", newJob(managedBy(batchv1.JobControllerName), completions(1))))
	other := f.create(named("other", newJob(managedBy(otherController), completions(1))))
	f.untilComplete("a", 2, 0)
	f.untilComplete("nobody", 2, 0)
	f.untilComplete("reserved", 1, 0)
	f.untilReleased()
	f.wantUntouched(other)
}

// MGB-12: the log names the controller of a skipped Job, which reveals a mistyped name.
func TestSkippedControllerIsLogged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	other := f.create(named("mistyped", newJob(managedBy("batchjob.dev/controler"), completions(1))))
	f.create(named("nobody", newJob(managedBy(""), completions(1))))
	f.until("the log tells of the Job", func() bool { return strings.Contains(p.log.String(), `managedBy="batchjob.dev/controler"`) })
	f.wantUntouched(other)
	assert.NotContains(t, p.log.String(), "/nobody", "the log tells of Jobs of the built-in controller, of which there are many")
}
