package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

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
