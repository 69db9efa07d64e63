package cluster

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// TRK-11: the patch contains only our finalizer and the preconditions.
func TestPatchRemovesOnlyOurFinalizer(t *testing.T) {
	got, err := patchBody(nil, reconcile.PodRef{Name: "p", UID: "u", ResourceVersion: "7"}, ReleasePod)
	want := `{"metadata":{"uid":"u","resourceVersion":"7","$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if got, _ := patchBody(nil, reconcile.PodRef{UID: "u"}, ReleasePod); strings.Contains(string(got), "resourceVersion") {
		t.Errorf("got %s", got)
	}
}

// TRK-25: adoption adds the owner and the finalizer in one patch with the UID as a precondition; disowning removes both
// in one patch.
func TestOwnerAndFinalizerChangeInOnePatch(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "j"}}
	for patch, want := range map[PodPatch]string{
		AdoptPod: `{"metadata":{"uid":"u","annotations":{"batchjob.dev/attempt":"1"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"a","uid":"j","controller":true,"blockOwnerDeletion":true}],` +
			`"finalizers":["batch.kubernetes.io/job-tracking"]}}`,
		DisownPod: `{"metadata":{"uid":"u","ownerReferences":[{"$patch":"delete","uid":"j"}],"$deleteFromPrimitiveList/finalizers":["batch.kubernetes.io/job-tracking"]}}`,
	} {
		if got, err := patchBody(job, reconcile.PodRef{Name: "p", UID: "u"}, patch); err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
	}
}
