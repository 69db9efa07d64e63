package verdict_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// completeWith returns a complete Job with the metadata that change sets.
func completeWith(change func(*batchv1.Job)) *batchv1.Job {
	return explaintest.JobWith(func(j *batchv1.Job) {
		end := explaintest.Ago(time.Minute)
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Succeeded, j.Status.CompletionTime = ptr.To[int32](1), ptr.To[int32](1), 1, &end
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: end}}
		change(j)
	})
}

// Requirements: CLI-06
func TestCompleteJobThatItsCronJobDoesNotControlStays(t *testing.T) {
	byHand := func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "hello", UID: "u"}}
	}
	const stays = "nothing deletes it: it has no ttlSecondsAfterFinished, and history limits cover only Jobs that their CronJob controls"
	r := explaintest.Report(explaintest.InputOf(completeWith(byHand)))
	explaintest.WantText(t, r, stays, "delete it, with its pods, if nobody needs it", "kubectl delete job", "ttlSecondsAfterFinished\":3600")
	for name, change := range map[string]func(*batchv1.Job){
		"controlled": func(j *batchv1.Job) { byHand(j); j.OwnerReferences[0].Controller = ptr.To(true) },
		"with a TTL": func(j *batchv1.Job) { byHand(j); j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) },
	} {
		t.Run(name, func(t *testing.T) {
			explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(completeWith(change))), stays)
		})
	}
}
