package gather_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
)

// activeJob is a Job that has so many active pods.
func activeJob(name string, active int32) *batchv1.Job {
	job := train()
	job.Name, job.UID, job.Status.Active = name, types.UID("uid-"+name), active
	return job
}

// withJobLabel is a pending pod of the Job.
func withJobLabel(name, job string) corev1.Pod {
	return pod(name, types.UID("uid-"+job), func(p *corev1.Pod) {
		p.Labels = map[string]string{batchv1.JobNameLabel: job}
		p.Status.Phase = corev1.PodPending
	})
}

// Issue 17, ADR 0017: one page of pods and one of events, however many Jobs there are, and none without a Job that asks.
func TestStallsTakeTwoRequests_CLI_08(t *testing.T) {
	s := &server{pods: []corev1.Pod{withJobLabel("a-1", "a"), withJobLabel("b-1", "b"), withJobLabel("c-1", "c")}}
	for i := range 600 {
		s.pods = append(s.pods, withJobLabel(fmt.Sprint("a-1", i), "a"))
	}
	client := s.client(t)
	read := gather.ReadStalls(t.Context(), client, "ns", []*batchv1.Job{activeJob("a", 600), activeJob("b", 1), activeJob("d", 0)}, nil, nil)
	if len(s.asked) != 2 || s.requests("in+%28a%2Cb%29") != 1 {
		t.Errorf("%q", s.asked)
	}
	f := read.Input(activeJob("b", 1), nil, noon)
	if !f.Listed || f.PodsRead || f.EventsRead || len(f.Pods) != 1 || f.Pods[0].Name != "b-1" {
		t.Errorf("%+v", f)
	}
	if gaps := read.Gaps(); len(gaps) != 1 || gaps[0].Text != "there are many pods: only some of them were read" {
		t.Errorf("%+v", gaps)
	}
	gather.ReadStalls(t.Context(), client, "ns", []*batchv1.Job{activeJob("a", 1), activeJob(strings.Repeat("long", 20), 1)}, nil, nil)
	if s.requests("in+%28a%29") != 1 {
		t.Errorf("with a name that no label has: %q", s.asked[2:])
	}
	s.asked = s.asked[:2]
	var many []*batchv1.Job
	for i := range 60 {
		many = append(many, activeJob(fmt.Sprint("job-", i), 1))
	}
	gather.ReadStalls(t.Context(), client, "", many, nil, nil)
	if s.requests("/api/v1/pods?") != 1 || s.requests("labelSelector=batch.kubernetes.io%2Fjob-name&") != 1 {
		t.Errorf("%q", s.asked[2:])
	}
	before := len(s.asked)
	if gaps := gather.ReadStalls(t.Context(), client, "ns", nil, nil, read).Gaps(); len(s.asked) != before || len(gaps) > 0 {
		t.Errorf("%q, %+v", s.asked[before:], gaps)
	}
}

// CLI-07, CLI-08: what fails for a while leaves what was known; what may not be read is a gap.
func TestStallsSurviveFailures_CLI_07_CLI_08(t *testing.T) {
	s := &server{pods: []corev1.Pod{withJobLabel("a-1", "a")}}
	client, jobs := s.client(t), []*batchv1.Job{activeJob("a", 1)}
	read := gather.ReadStalls(t.Context(), client, "ns", jobs, nil, nil)
	answer := func(code int, reason metav1.StatusReason) {
		s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				return code, reason
			}
			return 0, ""
		}
	}
	answer(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	read = gather.ReadStalls(t.Context(), client, "ns", jobs, nil, read)
	if f := read.Input(jobs[0], nil, noon); len(f.Pods) != 1 || len(read.Gaps()) > 0 {
		t.Errorf("%+v, %+v", f.Pods, read.Gaps())
	}
	if gaps := gather.ReadStalls(t.Context(), client, "ns", jobs, nil, nil).Gaps(); len(gaps) != 1 || !strings.HasPrefix(gaps[0].Text, "pods could not be read: ") {
		t.Errorf("%+v", gaps)
	}
	answer(http.StatusForbidden, metav1.StatusReasonForbidden)
	read = gather.ReadStalls(t.Context(), client, "", jobs, nil, read)
	if gaps := read.Gaps(); len(gaps) != 1 || gaps[0].Text != "pods could not be read: no permission to list pods in all namespaces" || gaps[0].Command != "kubectl auth can-i list pods -A" {
		t.Errorf("%+v", gaps)
	}
	if f := read.Input(jobs[0], nil, noon); len(f.Pods) != 0 {
		t.Errorf("%+v", f.Pods)
	}
}

// Requirements: CLI-30. Failed pods take one page for all Jobs, and are read again only after new failures.
func TestFailedPodsOfAListTakeOneRequest(t *testing.T) {
	failed := withJobLabel("a-1", "a")
	failed.Status.Phase = corev1.PodFailed
	s := &server{pods: []corev1.Pod{failed}}
	client, job := s.client(t), activeJob("a", 0)
	job.Status.Failed = 1
	failing := []*batchv1.Job{job}
	read := gather.ReadStalls(t.Context(), client, "ns", nil, failing, nil)
	if len(s.asked) != 2 || s.requests("fieldSelector=status.phase%3DFailed&") != 1 {
		t.Errorf("%q", s.asked)
	}
	if f := read.Failures(job, nil, noon); len(f.Pods) != 1 || !f.PodsRead || len(read.Input(job, nil, noon).Pods) != 0 {
		t.Errorf("%+v", f)
	}
	read = gather.ReadStalls(t.Context(), client, "ns", nil, failing, read)
	if len(s.asked) != 2 || len(read.Failures(job, nil, noon).Pods) != 1 {
		t.Errorf("nothing has changed: %q", s.asked[2:])
	}
	job.Status.Failed = 2
	s.refuse = func(*http.Request) (int, metav1.StatusReason) {
		return http.StatusInternalServerError, metav1.StatusReasonInternalError
	}
	read = gather.ReadStalls(t.Context(), client, "ns", nil, failing, read)
	if len(read.Failures(job, nil, noon).Pods) != 1 {
		t.Error("what was known is lost")
	}
	before := len(s.asked)
	s.refuse = nil
	gather.ReadStalls(t.Context(), client, "ns", nil, failing, read)
	if len(s.asked) != before+2 {
		t.Errorf("it does not try again: %q", s.asked[before:])
	}
}
