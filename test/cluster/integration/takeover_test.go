//go:build builtin

package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// replacing makes a controller that replaces the built-in one.
func replacing(c *controller.Config) { c.ReplaceBuiltin = true }

// With --controllers=*,-job-controller the rest of kube-controller-manager treats our Jobs like the built-in
// controller's: CronJobs create them, follow them, and limit their history; finished Jobs expire; the garbage collector
// deletes their pods.
// Requirements: MGB-02, MGB-14, MGB-15
func TestBeside_ReplacementBesideTheOtherControllers(t *testing.T) {
	startBuiltin(t, "*", "-job-controller")
	f := newFixture(t)
	f.ours = func(*batchv1.Job) bool { return true }
	f.startController(replacing)
	f.kubelet.play(everySucceeds)
	f.create(named("plain", newJob(managedBy(""), completions(3), parallelism(2))))
	f.create(named("expires", newJob(completions(1), func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = ptr.To(int32(0)) })))
	f.createDueCronJob("nightly", newJob(managedBy(""), completions(1)).Spec)
	f.untilComplete("plain", 3, 0)
	f.until("the finished Job and its pod have expired", func() bool {
		return f.history.job("expires") == nil && len(f.pods(func(pod *corev1.Pod) bool { return pod.Labels[batchv1.JobNameLabel] == "expires" })) == 0
	})
	f.until("the CronJob has seen its Job complete", func() bool {
		cron, err := f.client.BatchV1().CronJobs(f.namespace).Get(t.Context(), "nightly", metav1.GetOptions{})
		return err == nil && cron.Status.LastSuccessfulTime != nil && len(cron.Status.Active) == 0
	})
	f.untilReleased()
}

// createDueCronJob creates a CronJob whose only run was due five minutes ago, so that the test does not wait for the
// clock.
func (f *fixture) createDueCronJob(name string, spec batchv1.JobSpec) {
	f.t.Helper()
	due := time.Now().UTC().Add(-5 * time.Minute)
	spec.Selector = nil
	api := f.client.BatchV1().CronJobs(f.namespace)
	cron, err := api.Create(f.t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.CronJobSpec{
			Schedule: fmt.Sprintf("%d * * * *", due.Minute()), TimeZone: ptr.To("UTC"), JobTemplate: batchv1.JobTemplateSpec{Spec: spec},
		},
	}, metav1.CreateOptions{})
	assert.NoError(f.t, err, "creating a CronJob")
	cron.Status.LastScheduleTime = ptr.To(metav1.NewTime(due.Add(-time.Minute)))
	if _, err := api.UpdateStatus(f.t.Context(), cron, metav1.UpdateOptions{}); err != nil {
		f.t.Fatalf("moving back the last run: %v", err)
	}
	cron.Labels = map[string]string{"look": "now"}
	f.until("the CronJob is looked at", func() bool {
		now, err := api.Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		now.Labels = cron.Labels
		_, err = api.Update(context.Background(), now, metav1.UpdateOptions{})
		return err == nil
	})
}

// Jobs started by the built-in controller continue under ours, and back, with nothing counted twice or lost: both keep
// the same records in the status.
// Requirements: MGB-02, TRK-03
func TestBeside_TakesOverFromTheBuiltinController(t *testing.T) {
	other := startBuiltin(t, "job-controller")
	f := newFixture(t)
	f.ours = func(*batchv1.Job) bool { return true }
	f.create(named("plain", newJob(managedBy(""), completions(6), parallelism(3))))
	f.create(named("indexed", newJob(managedBy(""), indexed(4))))
	f.kubelet.succeed(f.untilPods(3, "of the plain Job", ofJob("plain"))[0])
	f.kubelet.succeed(f.untilPods(4, "of the indexed Job", ofJob("indexed"))[0])
	f.untilCounts("plain", counts{active: 3, succeeded: 1})
	f.untilCounts("indexed", counts{active: 3, succeeded: 1})
	other.stop()

	// Pods end while no controller runs.
	f.kubelet.succeed(f.untilPods(3, "of the plain Job", ofJob("plain"))[:2]...)
	f.kubelet.succeed(f.untilPods(3, "of the indexed Job", ofJob("indexed"))[0])
	p := f.startController(replacing)
	f.untilCounts("plain", counts{active: 3, succeeded: 3})
	f.untilCounts("indexed", counts{active: 2, succeeded: 2})
	p.stop()

	startBuiltin(t, "job-controller")
	f.kubelet.succeed(f.untilPods(3, "of the plain Job", ofJob("plain"))...)
	f.kubelet.succeed(f.untilPods(2, "of the indexed Job", ofJob("indexed"))...)
	f.untilComplete("plain", 6, 0)
	f.untilComplete("indexed", 4, 0)
	f.untilReleased()
	f.wantPodsEver(10)
}
