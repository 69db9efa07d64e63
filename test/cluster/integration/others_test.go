package integration

import (
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// During a sync, the Job is deleted, and another Job with the same name is created for another controller. The new Job
// is not touched; the old Job's pods are released.
// Requirements: MGB-03, JOB-38, TRK-23
func TestJobIsRecreatedForAnother(t *testing.T) {
	t.Parallel()
	for name, blocked := range map[string]match{
		"status write blocked":      statusPut,
		"creation blocked":          podPost,
		"removal of finalizer held": podPatch,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			p := f.startController()
			held := p.wire.hold(blocked)
			f.create(newJob(completions(2), parallelism(2)))
			if blocked(call{method: http.MethodPatch, resource: "pods"}) {
				f.kubelet.succeed(f.untilActive(2)...)
			}
			f.until("the sync is blocked", func() bool { return held.count() > 0 })
			f.deleteJob("a", metav1.DeletePropagationBackground)
			foreign := f.create(newJob(managedBy(otherController), completions(2)))
			held.lift()

			// When a later Job is complete, the earlier sync has ended.
			f.create(named("later", newJob(completions(1))))
			f.kubelet.play(everySucceeds)
			f.untilComplete("later", 1, 0)
			f.untilReleased()
			f.wantUntouched(foreign)
		})
	}
}

// wantUntouched checks that the Job was not written since the test wrote it, and that no pod belongs to it.
func (f *fixture) wantUntouched(job *batchv1.Job) {
	f.t.Helper()
	now := f.history.job(job.Name)
	if now == nil || now.UID != job.UID || now.ResourceVersion != job.ResourceVersion || !equality.Semantic.DeepEqual(now.Status, batchv1.JobStatus{}) {
		f.t.Errorf("Job %s, managed by somebody else, was written: %+v", job.Name, now)
	}
	for _, v := range f.history.stored() {
		if v.Pod != nil && history.JobOf(v.Pod) == job.UID {
			f.t.Errorf("pod %s was created for Job %s, which is managed by somebody else", v.Pod.Name, job.Name)
		}
	}
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

// MGB-16: another controller writes the status of our Job, as the built-in one does on a cluster that does not know
// spec.managedBy. Each of its writes is detected once and reported in an event; the counts remain correct.
func TestSecondWriterIsNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	p := f.startController(m.counts)
	f.create(newJob(completions(3), parallelism(3)))
	pods := f.untilActive(3)
	f.kubelet.succeed(pods[0])
	job := f.untilCounts("a", counts{active: 2, succeeded: 1})

	api := newClient(t, apiServer.Config, "kube-controller-manager").BatchV1().Jobs(f.namespace)
	var stored *batchv1.Job
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		now, err := api.Get(t.Context(), "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Status.Active = 7
		stored, err = api.UpdateStatus(t.Context(), now, metav1.UpdateOptions{})
		return err
	})
	assert.NoError(t, err)
	f.untilSeen(stored)
	f.untilCounts("a", counts{active: 2, succeeded: 1})
	f.kubelet.succeed(pods[1:]...)
	f.untilComplete("a", 3, 0)
	f.untilReleased()
	m.until(map[string]float64{"foreign_status_writes_total{}": 1}, "foreign_status_writes_total")
	assert.Contains(t, p.log.String(), `managers="kube-controller-manager"`, "the log does not say who wrote the status")
	f.until("an event tells of it", func() bool {
		events, err := f.client.CoreV1().Events(f.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=StatusWrittenByOthers"})
		return err == nil && len(events.Items) == 1 && events.Items[0].InvolvedObject.UID == job.UID
	})
}
