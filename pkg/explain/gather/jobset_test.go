package gather_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// A JobSet takes one request, and another for its events if it has no Jobs. Without it, its Jobs are explained all the same.
// Requirements: JST-03, CLI-08, CLI-09.
func TestJobSetIsReadOnce(t *testing.T) {
	s := &server{jobSets: []unstructured.Unstructured{{Object: map[string]any{"metadata": map[string]any{"name": "train", "uid": "u1"}, "spec": map[string]any{"suspend": true}}}}}
	s.events = append(s.events, corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "JobSet", Name: "train", UID: "u1"}, Reason: "JobCreationFailed", LastTimestamp: ago(time.Minute)})
	for jobs, requests := range []int{2, 1} {
		s.asked = nil
		in, err := gather.JobSet(t.Context(), s.client(t), "ns", "train", jobs, noon)
		if err != nil || in.JobSet == nil || !in.JobSet.Spec.Suspend || len(s.asked) != requests || len(in.Events) != requests-1 {
			t.Errorf("%d Jobs: %+v, %v, %q", jobs, in, err, s.asked)
		}
	}
	s.jobSets[0].SetNamespace("ns")
	s.jobSets[0].SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "ml"}) // Without Jobs, only its Workload says what Kueue waits for.
	s.workloads = map[string][]unstructured.Unstructured{"v1beta2": {workload("mine", map[string]any{"labels": map[string]any{"kueue.x-k8s.io/job-uid": "u1"}})}}
	for jobs, requests := range []int{3, 1} {
		s.asked = nil
		if in, err := gather.JobSet(t.Context(), s.client(t), "ns", "train", jobs, noon); err != nil || (in.Workload != nil) != (jobs == 0) || len(s.asked) != requests {
			t.Errorf("%d Jobs: %+v, %v, %q", jobs, in.Workload, err, s.asked)
		}
	}
	if in, err := gather.JobSet(t.Context(), s.client(t), "ns", "other", 1, noon); err != nil || in.JobSet != nil {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := gather.JobSet(t.Context(), s.client(t), "ns", "other", 0, noon); err == nil {
		t.Error("no error")
	}
	s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
		if strings.Contains(r.URL.Path, "/jobsets/") {
			return http.StatusForbidden, metav1.StatusReasonForbidden
		}
		return 0, ""
	}
	in, err := gather.JobSet(t.Context(), s.client(t), "ns", "train", 1, noon)
	if err != nil || len(in.Gaps) != 1 || in.Gaps[0].Command != "kubectl auth can-i get jobsets.jobset.x-k8s.io -n ns" {
		t.Errorf("%+v, %v", in.Gaps, err)
	}
}
