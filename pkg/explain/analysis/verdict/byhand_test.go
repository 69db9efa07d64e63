package verdict_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: CLI-06
func TestCompleteJobThatItsCronJobDoesNotControlStays(t *testing.T) {
	byHand := func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "hello", UID: "u"}}
	}
	const stays = "nothing deletes it: it has no ttlSecondsAfterFinished, and history limits cover only Jobs that their CronJob controls"
	r := explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(byHand)))
	explaintest.WantText(t, r, stays, "delete it, with its pods, if nobody needs it", "kubectl delete job", "ttlSecondsAfterFinished\":3600")
	for name, change := range map[string]func(*batchv1.Job){
		"controlled": func(j *batchv1.Job) { byHand(j); j.OwnerReferences[0].Controller = ptr.To(true) },
		"with a TTL": func(j *batchv1.Job) { byHand(j); j.Spec.TTLSecondsAfterFinished = ptr.To[int32](60) },
	} {
		t.Run(name, func(t *testing.T) {
			explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(change))), stays)
		})
	}
}
