package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A CronJob that forbids concurrency, with Jobs of ours that meet their criteria long before their pods have stopped:
// the next run starts when the previous Job is Complete, not when it has succeeded (SUC-21, MGB-14).
//
// The runs are due at past minutes, so that the test does not wait for the clock.
func TestCronJobWaitsForComplete(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	template := load(t, "stories/kep-3998-story-1-the-leader-decides.yaml")[0]
	template.Spec.Completions, template.Spec.Parallelism = ptr.To[int32](2), ptr.To[int32](2)
	template.Spec.Template.Annotations[terminationTimeKey] = "1h"
	times := withoutEnd(&template.Spec)
	now := time.Now().UTC()
	at := func(minutes ...int) string {
		schedule := ""
		for i, m := range minutes {
			if i > 0 {
				schedule += ","
			}
			schedule += fmt.Sprint(now.Add(time.Duration(m) * time.Minute).Minute())
		}
		return schedule + " * * * *"
	}
	cron, err := client.BatchV1().CronJobs(ns).Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec: batchv1.CronJobSpec{
			Schedule: at(-5), TimeZone: ptr.To("UTC"), ConcurrencyPolicy: batchv1.ForbidConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: template.Spec},
		},
	}, metav1.CreateOptions{})
	assert.NoError(t, err)
	// The run of five minutes ago was missed; it starts now.
	cron.Status.LastScheduleTime = ptr.To(metav1.NewTime(now.Add(-6 * time.Minute)))
	if _, err := client.BatchV1().CronJobs(ns).UpdateStatus(t.Context(), cron, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	first := untilOwned(t, ns, 1)[0]
	endTogether(t, ns, first, 2, times)
	met := untilJob(t, ns, first, "the criteria met", func(j *batchv1.Job) bool { return history.Condition(j, batchv1.JobSuccessCriteriaMet) != nil })
	if history.IsFinished(met) || met.Status.CompletionTime != nil {
		t.Errorf("with a pod that terminates: %+v", met.Status)
	}
	// Another run, of three minutes ago, is due.
	assert.NoError(t, merge(t.Context(), ns, fmt.Sprintf(`{"spec":{"schedule":%q}}`, at(-5, -3))))
	assert.NoError(t, merge(t.Context(), ns, `{"metadata":{"labels":{"look":"now"}}}`))
	eventually(t, "the CronJob to say that the first run is still active", func(ctx context.Context) (bool, error) {
		events, err := client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=JobAlreadyActive,involvedObject.name=nightly"})
		return err == nil && len(events.Items) > 0, err
	})
	times[terminationTimeKey] = "1s"
	for _, pod := range past.pods(ns, first) {
		annotate(t, pod, times)
	}
	second := untilOwned(t, ns, 2)[1]
	endTogether(t, ns, second, 2, times)
	// The second Job was created after the version that made the first one Complete.
	done, created := uint64(0), uint64(0)
	for _, v := range past.In(ns) {
		switch {
		case v.Job != nil && v.Job.Name == first && history.Condition(v.Job, batchv1.JobComplete) != nil && done == 0:
			done = v.Revision
		case v.Job != nil && v.Job.Name == second && created == 0:
			created = v.Revision
		}
	}
	if done == 0 || created < done {
		t.Errorf("the second run was created at revision %d, the first was Complete at %d", created, done)
	}
	for _, name := range []string{first, second} {
		job := untilEnd(t, ns, name, complete(batchv1.JobReasonSuccessPolicy, "Matched rules at index 0", 1, 0, "0", 2))
		if c := history.Condition(job, batchv1.JobComplete); c != nil && !c.LastTransitionTime.Equal(job.Status.CompletionTime) {
			t.Errorf("Complete since %v, completed at %v", c.LastTransitionTime, job.Status.CompletionTime)
		}
		for _, j := range past.job(ns, name) {
			assert.Equal(t, (j.Status.CompletionTime != nil), history.IsFinished(j), name, j.Status.CompletionTime, conditionsOf(j))
		}
	}
	eventually(t, "the CronJob to see both runs", func(ctx context.Context) (bool, error) {
		cron, err := client.BatchV1().CronJobs(ns).Get(ctx, "nightly", metav1.GetOptions{})
		return err == nil && len(cron.Status.Active) == 0 && cron.Status.LastSuccessfulTime != nil, err
	})
}

// untilOwned waits for the nth Job of a namespace, and returns the names of all Jobs, the oldest first.
func untilOwned(t *testing.T, ns string, n int) (names []string) {
	t.Helper()
	past.until(t, fmt.Sprintf("%d runs of the CronJob", n), func() bool {
		names = nil
		seen := map[string]bool{}
		for _, v := range past.In(ns) {
			if v.Job != nil && !seen[v.Job.Name] {
				seen[v.Job.Name] = true
				names = append(names, v.Job.Name)
			}
		}
		return len(names) >= n
	})
	return names
}

func merge(ctx context.Context, ns, patch string) error {
	_, err := client.BatchV1().CronJobs(ns).Patch(ctx, "nightly", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}
