package gather_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// waitsFor returns a change that gives a pod this message of its scheduler.
func waitsFor(message string) func(p *corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message}}
	}
}

// Requirements: PND-07
func TestClaimsAreReadOnlyIfAPodWaitsForThem(t *testing.T) {
	job := train()
	for _, name := range []string{"data", "gone", "cache", "more"} {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
		job.Spec.Template.Spec.Volumes = append(job.Spec.Template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
	}
	warning := func(name, message string, about string) corev1.Event {
		return corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Type: "Warning", Reason: "ProvisioningFailed", Message: message, LastTimestamp: metav1.NewTime(noon),
			InvolvedObject: corev1.ObjectReference{Kind: "PersistentVolumeClaim", Name: about},
		}
	}
	s := &server{
		pods: []corev1.Pod{pod("train-a", "uid-train", waitsFor("0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims."))},
		claims: []corev1.PersistentVolumeClaim{
			{ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "ns"}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}},
			{ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "ns"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("fast")}, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}},
		},
		events: []corev1.Event{warning("1", "no such class", "cache"), warning("2", "of another", "other")},
	}
	f := read(t, s, job)
	want := []meaning.Claim{{Name: "data", Phase: "Bound"}, {Name: "gone", Missing: true}, {Name: "cache", Phase: "Pending", StorageClass: "fast", Warning: "no such class"}}
	if !reflect.DeepEqual(f.Claims, want) || len(f.Gaps) != 0 {
		t.Errorf("%+v, gaps %+v", f.Claims, f.Gaps)
	}

	s.asked, s.refuse = nil, func(r *http.Request) (int, metav1.StatusReason) {
		if strings.Contains(r.URL.Path, "/persistentvolumeclaims/") {
			return http.StatusForbidden, metav1.StatusReasonForbidden
		}
		return 0, ""
	}
	wantGap(t, read(t, s, job), "persistentvolumeclaims", "kubectl auth can-i get persistentvolumeclaims -n ns", "no permission to")

	s.asked, s.refuse = nil, nil
	s.pods[0] = pod("train-a", "uid-train", waitsFor("0/5 nodes are available: 5 Insufficient memory."))
	if f := read(t, s, job); len(f.Claims) != 0 || s.requests("persistentvolumeclaims") != 0 {
		t.Errorf("%+v, %q", f.Claims, s.asked)
	}

	s.asked, s.pods[0] = nil, pod("train-a", "uid-train", func(*corev1.Pod) {}) // Its template names the node.
	s.events = append(s.events, corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "3"}, Type: "Warning", Reason: "FailedMount", Message: "error processing PVC ns/cache: PVC is not bound",
		LastTimestamp: metav1.NewTime(noon), InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "train-a", UID: s.pods[0].UID},
	})
	assert.DeepEqual(t, read(t, s, job).Claims, want[2:], s.asked)
}
