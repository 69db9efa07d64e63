package gone_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gone"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func event(reason string, uid types.UID, ago time.Duration) corev1.Event {
	return corev1.Event{Reason: reason, LastTimestamp: metav1.NewTime(noon.Add(-ago)), InvolvedObject: corev1.ObjectReference{Kind: "Job", UID: uid}}
}

func pod(name string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}
	if change != nil {
		change(p)
	}
	return p
}

// Requirements: CLI-74
func TestJobThatIsGoneIsExplainedByItsTraces(t *testing.T) {
	t.Parallel()
	deleted := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }
	for name, c := range map[string]struct {
		traces     gone.Traces
		what, hint string
	}{
		"nothing":         {},
		"a similar name":  {gone.Traces{Jobs: []string{"report", "exit1"}}, "", "did you mean exit1?"},
		"no similar name": {gone.Traces{Jobs: []string{"report"}}, "", ""},
		"a pod":           {gone.Traces{PodOf: "exit1"}, "it is a pod of job exit1", "run: kubectl batchjob why exit1 -n ml"},
		"complete": {
			gone.Traces{Events: []corev1.Event{event("SuccessfulCreate", "a", 9*time.Minute), event("Completed", "a", 8*time.Minute), event("SuccessfulDelete", "a", time.Minute)}},
			"it completed 8m ago; its ttlSecondsAfterFinished, a user, or a tool deleted it since; if a tool such as Helm or Argo CD waits for it, leave out ttlSecondsAfterFinished or make it longer, and use a hook-delete-policy instead",
			"see its events with: kubectl get events --field-selector involvedObject.name=exti1 -n ml",
		},
		"failed, of a CronJob": {
			gone.Traces{CronJob: "nightly", Events: []corev1.Event{event("BackoffLimitExceeded", "a", time.Hour)}},
			"it failed 1h ago (BackoffLimitExceeded); its ttlSecondsAfterFinished, a user, or a tool deleted it since",
			"its CronJob exists: kubectl batchjob why cronjob/nightly -n ml",
		},
		"deleted while it ran": {
			gone.Traces{Events: []corev1.Event{event("SuccessfulCreate", "a", time.Minute)}},
			"its pod was created 1m ago, and no event shows that it ended: something deleted it before",
			"see its events with: kubectl get events --field-selector involvedObject.name=exti1 -n ml",
		},
		"created again and again": {
			gone.Traces{Events: []corev1.Event{event("SuccessfulCreate", "a", 2*time.Minute), event("SuccessfulCreate", "b", time.Minute)}},
			"it existed 1m ago (event SuccessfulCreate); its events are about 2 Jobs of that name, so something deletes and creates it again",
			"see its events with: kubectl get events --field-selector involvedObject.name=exti1 -n ml",
		},
		"a pod is left": {
			gone.Traces{Pods: []*corev1.Pod{pod("exti1-x", nil)}}, "its pod exti1-x is still there (Succeeded)",
			"nothing deletes its pods now; if nobody needs them, run: kubectl delete pods -l batch.kubernetes.io/job-name=exti1 -n ml",
		},
		"pods are held": {
			gone.Traces{Pods: []*corev1.Pod{pod("exti1-x", func(p *corev1.Pod) { deleted(p); p.Finalizers = []string{"a/b"} }), pod("exti1-y", deleted)}},
			"its pods are still there: exti1-x (being deleted, held by the finalizer a/b) and 1 other",
			"see them with: kubectl get pods -l batch.kubernetes.io/job-name=exti1 -n ml",
		},
		"the namespace goes": {
			gone.Traces{NamespaceDeleted: true}, "the namespace is being deleted, so no Job can be created in it",
			"see what it waits for: kubectl describe namespace ml",
		},
		"it is a CronJob":      {gone.Traces{CronJob: "exti1"}, "", "it is a CronJob: kubectl batchjob why cronjob/exti1 -n ml"},
		"its CronJob is there": {gone.Traces{CronJob: "nightly"}, "", "its CronJob exists: kubectl batchjob why cronjob/nightly -n ml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.traces.Now, c.traces.Namespace, c.traces.Name = noon, "ml", "exti1"
			what, hint := c.traces.Explain()
			if what != c.what || hint != c.hint {
				t.Errorf("%q; %q", what, hint)
			}
		})
	}
}

// Requirements: CLI-74
func TestNameOfACronJobsJobNamesTheCronJob(t *testing.T) {
	t.Parallel()
	for job, want := range map[string]string{"nightly-29384400": "nightly", "a-b-29384400": "a-b", "train": "", "train-1": "", "-29384400": ""} {
		assert.Equal(t, gone.CronJobOf(job), want, job)
	}
}
