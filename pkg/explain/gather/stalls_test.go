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
	read := gather.ReadStalls(t.Context(), client, "ns", []*batchv1.Job{activeJob("a", 600), activeJob("b", 1), activeJob("d", 0)}, nil)
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
	gather.ReadStalls(t.Context(), client, "ns", []*batchv1.Job{activeJob("a", 1), activeJob(strings.Repeat("long", 20), 1)}, nil)
	if s.requests("in+%28a%29") != 1 {
		t.Errorf("with a name that no label has: %q", s.asked[2:])
	}
	s.asked = s.asked[:2]
	var many []*batchv1.Job
	for i := range 60 {
		many = append(many, activeJob(fmt.Sprint("job-", i), 1))
	}
	gather.ReadStalls(t.Context(), client, "", many, nil)
	if s.requests("/api/v1/pods?") != 1 || s.requests("labelSelector=batch.kubernetes.io%2Fjob-name&") != 1 {
		t.Errorf("%q", s.asked[2:])
	}
	before := len(s.asked)
	if gaps := gather.ReadStalls(t.Context(), client, "ns", nil, read).Gaps(); len(s.asked) != before || len(gaps) > 0 {
		t.Errorf("%q, %+v", s.asked[before:], gaps)
	}
}

// CLI-07, CLI-08: what fails for a while leaves what was known; what may not be read is a gap.
func TestStallsSurviveFailures_CLI_07_CLI_08(t *testing.T) {
	s := &server{pods: []corev1.Pod{withJobLabel("a-1", "a")}}
	client, jobs := s.client(t), []*batchv1.Job{activeJob("a", 1)}
	read := gather.ReadStalls(t.Context(), client, "ns", jobs, nil)
	answer := func(code int, reason metav1.StatusReason) {
		s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				return code, reason
			}
			return 0, ""
		}
	}
	answer(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	read = gather.ReadStalls(t.Context(), client, "ns", jobs, read)
	if f := read.Input(jobs[0], nil, noon); len(f.Pods) != 1 || len(read.Gaps()) > 0 {
		t.Errorf("%+v, %+v", f.Pods, read.Gaps())
	}
	if gaps := gather.ReadStalls(t.Context(), client, "ns", jobs, nil).Gaps(); len(gaps) != 1 || !strings.HasPrefix(gaps[0].Text, "pods could not be read: ") {
		t.Errorf("%+v", gaps)
	}
	answer(http.StatusForbidden, metav1.StatusReasonForbidden)
	read = gather.ReadStalls(t.Context(), client, "", jobs, read)
	if gaps := read.Gaps(); len(gaps) != 1 || gaps[0].Text != "pods could not be read: no permission to list pods in all namespaces" || gaps[0].Command != "kubectl auth can-i list pods -A" {
		t.Errorf("%+v", gaps)
	}
	if f := read.Input(jobs[0], nil, noon); len(f.Pods) != 0 {
		t.Errorf("%+v", f.Pods)
	}
}
