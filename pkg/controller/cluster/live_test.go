package cluster

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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

// silent is the connection to an API server that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A call without an answer ends after CallTimeout, and may have been stored.
// Requirements: JOB-57
func TestCallWithoutAnAnswerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := kube.NewForConfig(&rest.Config{Host: "http://cluster.invalid", QPS: -1, Transport: silent{}})
		assert.NoError(t, err)
		const timeout = 30 * time.Second
		live, err := NewLive(client, timeout, clock.RealClock{}, nil)
		assert.NoError(t, err)
		calls := live.Cluster(1)
		job, pod, ref := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}, reconcile.PodRef{Name: "p", UID: "u"}
		for name, call := range map[string]func() error{
			"get":         func() error { _, err := calls.Jobs.Get(t.Context(), "ns", "a"); return err },
			"status":      func() error { _, err := calls.Jobs.UpdateStatus(t.Context(), job); return err },
			"jobs":        func() error { _, err := calls.Jobs.List(t.Context(), "ns"); return err },
			"create":      func() error { _, err := calls.Pods.Create(t.Context(), pod); return err },
			"create JSON": func() error { _, err := calls.CreateJSON(t.Context(), "ns", []byte("{}")); return err },
			"delete":      func() error { _, err := calls.Pods.Delete(t.Context(), "ns", ref); return err },
			"patch":       func() error { _, err := calls.Pods.Patch(t.Context(), job, ref, ReleasePod); return err },
			"pods":        func() error { _, _, err := calls.List.List(t.Context(), job, true); return err },
		} {
			begun := time.Now()
			err := call()
			assert.Equal(t, err != nil && IsAmbiguous(err), true, name)
			assert.Equal(t, time.Since(begun), timeout, name)
		}
	})
}
