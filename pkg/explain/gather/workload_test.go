package gather_test

import (
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// queued returns the Job train, suspended, in the queue team-a.
func queued(change func(*batchv1.Job)) *batchv1.Job {
	job := train()
	job.Labels, job.Spec.Suspend = map[string]string{kueue.QueueLabel: "team-a"}, ptr.To(true)
	if change != nil {
		change(job)
	}
	return job
}

// workload returns a Workload of Kueue with these metadata.
func workload(name string, metadata map[string]any) unstructured.Unstructured {
	metadata["name"], metadata["namespace"] = name, "ns"
	return unstructured.Unstructured{Object: map[string]any{
		"metadata": metadata, "spec": map[string]any{"queueName": "team-a", "active": false},
		"status": map[string]any{
			"conditions":      []any{map[string]any{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "no quota"}},
			"admissionChecks": []any{map[string]any{"name": "ready", "state": "Ready"}, map[string]any{"name": "nodes", "state": "Pending"}},
		},
	}}
}

// The Workload of a Job is found by its labels or its owner, in each version of the API, and no other Workload is.
// Requirements: KUE-01, KUE-03.
func TestWorkloadOfTheJobIsRead(t *testing.T) {
	byUID := map[string]any{"labels": map[string]any{"kueue.x-k8s.io/job-uid": "uid-train"}}
	byOwner := map[string]any{"ownerReferences": []any{map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-train"}}}
	other := workload("other", map[string]any{"labels": map[string]any{"kueue.x-k8s.io/job-uid": "uid-other", "kueue.x-k8s.io/job-name": "train"}})
	for name, tc := range map[string]struct {
		version  string
		metadata map[string]any
		job      func(*batchv1.Job)
		requests int
		found    bool
	}{
		"by label":                {"v1beta2", byUID, nil, 1, true},
		"by owner":                {"v1beta2", byOwner, nil, 2, true},
		"of an older Kueue":       {"v1beta1", byUID, nil, 2, true},
		"by the name of the Job":  {"v1beta2", map[string]any{"labels": map[string]any{"kueue.x-k8s.io/job-name": "train"}}, nil, 2, true},
		"by the label of the Job": {"v1beta2", map[string]any{}, func(j *batchv1.Job) { j.Labels["kueue.x-k8s.io/prebuilt-workload-name"] = "mine" }, 2, true},
		"of no Job":               {"v1beta2", map[string]any{}, nil, 2, false},
	} {
		s := &server{workloads: map[string][]unstructured.Unstructured{tc.version: {other, workload("mine", tc.metadata)}}}
		in := read(t, s, queued(tc.job))
		w := in.Workload
		if found := w != nil && w.Name == "mine"; found != tc.found || s.requests("/workloads") != tc.requests || len(in.Gaps) > 0 {
			t.Errorf("%s: %+v after %d requests, %+v", name, w, s.requests("/workloads"), in.Gaps)
			continue
		}
		if w != nil && (!w.Inactive || w.Queue != "team-a" || w.Condition("QuotaReserved").Message != "no quota" || len(w.Checks) != 1 || w.Checks[0].Name != "nodes") {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// The Workload of a Job whose pods have a scheduling gate of Kueue is read while not all of them are ready.
// Requirements: KUE-03
func TestWorkloadOfAGatedJobIsRead(t *testing.T) {
	for gate, want := range map[string][2]int{"kueue.x-k8s.io/elastic-job": {1, 0}, "example.com/hold": {0, 0}} {
		for ready, requests := range want {
			s := &server{workloads: map[string][]unstructured.Unstructured{"v1beta2": {workload("mine", map[string]any{"labels": map[string]any{"kueue.x-k8s.io/job-uid": "uid-train"}})}}}
			read(t, s, queued(func(j *batchv1.Job) {
				j.Spec.Suspend, j.Status.Active, j.Status.Ready = nil, 1, ptr.To(int32(ready))
				j.Spec.Template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gate}}
			}))
			assert.Equalf(t, s.requests("/workloads"), requests, "%s, %d ready", gate, ready)
		}
	}
}

// No request is made for Jobs that Kueue does not hold. A cluster without Kueue is not an error; a missing permission is a
// gap.
// Requirements: KUE-03, CLI-08.
func TestWorkloadsAreReadOnlyForJobsOfKueue(t *testing.T) {
	for name, change := range map[string]func(*batchv1.Job){
		"running": func(j *batchv1.Job) { j.Spec.Suspend = nil },
		"complete": func(j *batchv1.Job) {
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
		},
	} {
		s := &server{}
		if in := read(t, s, queued(change)); in.Workload != nil || s.requests("/workloads") > 0 {
			t.Errorf("%s: %+v, %q", name, in.Workload, s.asked)
		}
	}
	s := &server{}
	if in := read(t, s, queued(nil)); in.Workload != nil || len(in.Gaps) > 0 || s.requests("/workloads") != 2 {
		t.Errorf("without Kueue: %+v, %+v", in.Workload, in.Gaps)
	}
	s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
		if strings.HasSuffix(r.URL.Path, "/workloads") {
			return http.StatusForbidden, metav1.StatusReasonForbidden
		}
		return 0, ""
	}
	wantGap(t, read(t, s, queued(nil)), kueue.Workloads, "kubectl auth can-i list workloads.kueue.x-k8s.io -n ns", "no permission to list")
}

// Kueue may hold a Job without a queue, or the owner of a Job: one request finds the Workload of either. A cluster without Kueue,
// and a missing permission, are neither errors nor gaps.
// Requirements: KUE-03, CLI-08.
func TestWorkloadsOfJobsWithoutAQueueAreReadAtOnce(t *testing.T) {
	unlabeled := func(j *batchv1.Job) { j.Labels = nil }
	ofJobSet := func(j *batchv1.Job) {
		j.Labels = nil
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "uid-set", Controller: ptr.To(true)}}
	}
	byUID := func(uid string) map[string]any {
		return map[string]any{"labels": map[string]any{"kueue.x-k8s.io/job-uid": uid}}
	}
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		uid    string
		found  bool
		reads  int
	}{
		"of the Job": {unlabeled, "uid-train", true, 1}, "of its JobSet": {ofJobSet, "uid-set", true, 1},
		"of another Job": {ofJobSet, "uid-other", false, 2}, // The Workload of an owner may lack the label.
	} {
		s := &server{workloads: map[string][]unstructured.Unstructured{"v1beta2": {workload("mine", byUID(tc.uid))}}}
		if in := read(t, s, queued(tc.change)); (in.Workload != nil) != tc.found || s.requests("/workloads") != tc.reads || len(in.Gaps) > 0 {
			t.Errorf("%s: %+v after %d requests, %+v", name, in.Workload, s.requests("/workloads"), in.Gaps)
		}
	}
	s := &server{}
	if in := read(t, s, queued(unlabeled)); in.Workload != nil || s.requests("/workloads") != 1 || len(in.Gaps) > 0 {
		t.Errorf("without Kueue: %d requests, %+v", s.requests("/workloads"), in.Gaps)
	}
	s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
		if strings.HasSuffix(r.URL.Path, "/workloads") {
			return http.StatusForbidden, metav1.StatusReasonForbidden
		}
		return 0, ""
	}
	if in := read(t, s, queued(unlabeled)); len(in.Gaps) > 0 {
		t.Errorf("without permission: %+v", in.Gaps)
	}
}

// The JobSet is read only if Kueue itself has suspended the Job.
// Requirements: KUE-03.
func TestOwnersOfJobsThatKueueSuspendedAreRead(t *testing.T) {
	for manager, want := range map[string]int{"kueue": 1, "jobset-controller": 0} {
		s := &server{}
		read(t, s, queued(func(j *batchv1.Job) {
			j.Labels = nil
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", UID: "uid-set", Controller: ptr.To(true)}}
			j.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:suspend":{}}}`)}}
		}))
		assert.Equalf(t, s.requests("/jobsets/set"), want, "requests for the JobSet by %s", manager)
	}
}
