package gather_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// activeJob returns a Job with this number of active pods.
func activeJob(name string, active int32) *batchv1.Job {
	job := train()
	job.Name, job.UID, job.Status.Active = name, types.UID("uid-"+name), active
	return job
}

// withJobLabel returns a pending pod of the Job.
func withJobLabel(name, job string) corev1.Pod {
	return pod(name, types.UID("uid-"+job), func(p *corev1.Pod) {
		p.Labels = map[string]string{batchv1.JobNameLabel: job}
		p.Status.Phase = corev1.PodPending
	})
}

// Issue 17, ADR 0017: one page of pods and one of events are read, however many Jobs there are, and none if no Job needs
// them.
// Requirements: CLI-08
func TestStallsTakeTwoRequests(t *testing.T) {
	s := &server{pods: []corev1.Pod{withJobLabel("a-1", "a"), withJobLabel("b-1", "b"), withJobLabel("c-1", "c")}}
	for i := range 600 {
		s.pods = append(s.pods, withJobLabel(fmt.Sprint("a-1", i), "a"))
	}
	client := s.client(t)
	read := gather.ReadStalls(t.Context(), client, "ns", []*batchv1.Job{activeJob("a", 600), activeJob("b", 1), activeJob("d", 0)}, nil, nil, nil, noon)
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
	gather.ReadStalls(t.Context(), client, "ns", []*batchv1.Job{activeJob("a", 1), activeJob(strings.Repeat("long", 20), 1)}, nil, nil, nil, noon)
	assert.Equalf(t, s.requests("in+%28a%29"), 1, "with a name that no label has: %q", s.asked[2:])
	s.asked = s.asked[:2]
	var many []*batchv1.Job
	for i := range 60 {
		many = append(many, activeJob(fmt.Sprint("job-", i), 1))
	}
	gather.ReadStalls(t.Context(), client, "", many, nil, nil, nil, noon)
	if s.requests("/api/v1/pods?") != 1 || s.requests("labelSelector=batch.kubernetes.io%2Fjob-name&") != 1 {
		t.Errorf("%q", s.asked[2:])
	}
	before := len(s.asked)
	if gaps := gather.ReadStalls(t.Context(), client, "ns", nil, nil, nil, read, noon).Gaps(); len(s.asked) != before || len(gaps) > 0 {
		t.Errorf("%q, %+v", s.asked[before:], gaps)
	}
}

// Requirements: CLI-08, PND-01. The warnings about pods are read only if the status of a pod does not say why it does not
// start, although the kubelet has had it for 15 seconds.
func TestListReadsWarningsAboutPodsThatStartSlowly(t *testing.T) {
	for name, c := range map[string]struct {
		age    time.Duration
		change func(*corev1.Pod)
		read   bool
	}{
		"slow":        {20 * time.Second, func(*corev1.Pod) {}, true},
		"young":       {time.Second, func(*corev1.Pod) {}, false},
		"has no node": {2 * time.Minute, func(p *corev1.Pod) { p.Spec.NodeName = "" }, false},
		"says why": {2 * time.Minute, func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}}}
		}, false},
	} {
		slow := withJobLabel("a-1", "a")
		slow.CreationTimestamp, slow.Spec.NodeName = metav1.NewTime(noon.Add(-c.age)), "node-1"
		c.change(&slow)
		warning := func(pod types.UID, message string) corev1.Event {
			return corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Name: "warning-" + string(pod), Namespace: "ns"}, Type: corev1.EventTypeWarning, Reason: "FailedMount", Message: message,
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "a-1", UID: pod}, LastTimestamp: metav1.NewTime(noon),
			}
		}
		s := &server{pods: []corev1.Pod{slow}, events: []corev1.Event{warning(slow.UID, `secret "train" not found`), warning("another", "is about another pod")}}
		read := gather.ReadStalls(t.Context(), s.client(t), "ns", []*batchv1.Job{activeJob("a", 1)}, nil, nil, nil, noon)
		assert.Equalf(t, s.requests("involvedObject.kind%3DPod") == 1, c.read, "%s: pods were asked for", name)
		if events := read.Input(activeJob("a", 1), nil, noon).Events; c.read && (len(events) != 1 || events[0].Message != `secret "train" not found`) {
			t.Errorf("%s: %+v", name, events)
		}
	}
}

// CLI-07, CLI-08: a temporary error keeps the previous data; a missing permission is a gap.
func TestStallsSurviveFailures(t *testing.T) {
	s := &server{pods: []corev1.Pod{withJobLabel("a-1", "a")}}
	client, jobs := s.client(t), []*batchv1.Job{activeJob("a", 1)}
	read := gather.ReadStalls(t.Context(), client, "ns", jobs, nil, nil, nil, noon)
	answer := func(code int, reason metav1.StatusReason) {
		s.refuse = func(r *http.Request) (int, metav1.StatusReason) {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				return code, reason
			}
			return 0, ""
		}
	}
	answer(http.StatusInternalServerError, metav1.StatusReasonInternalError)
	read = gather.ReadStalls(t.Context(), client, "ns", jobs, nil, nil, read, noon)
	if f := read.Input(jobs[0], nil, noon); len(f.Pods) != 1 || len(read.Gaps()) > 0 {
		t.Errorf("%+v, %+v", f.Pods, read.Gaps())
	}
	if gaps := gather.ReadStalls(t.Context(), client, "ns", jobs, nil, nil, nil, noon).Gaps(); len(gaps) != 1 || !strings.HasPrefix(gaps[0].Text, "pods could not be read: ") {
		t.Errorf("%+v", gaps)
	}
	answer(http.StatusForbidden, metav1.StatusReasonForbidden)
	read = gather.ReadStalls(t.Context(), client, "", jobs, nil, nil, read, noon)
	if gaps := read.Gaps(); len(gaps) != 1 || gaps[0].Text != "pods could not be read: no permission to list pods in all namespaces" || gaps[0].Command != "kubectl auth can-i list pods -A" {
		t.Errorf("%+v", gaps)
	}
	assert.Equal(t, len(read.Input(jobs[0], nil, noon).Pods), 0)
}

// Requirements: CLI-30. Failed pods take one page for all Jobs, and are read again only after new failures.
func TestFailedPodsOfAListTakeOneRequest(t *testing.T) {
	failed := withJobLabel("a-1", "a")
	failed.Status.Phase = corev1.PodFailed
	s := &server{pods: []corev1.Pod{failed}}
	client, job := s.client(t), activeJob("a", 0)
	job.Status.Failed = 1
	failing := []*batchv1.Job{job}
	read := gather.ReadStalls(t.Context(), client, "ns", nil, nil, failing, nil, noon)
	if len(s.asked) != 2 || s.requests("fieldSelector=status.phase%3DFailed&") != 1 {
		t.Errorf("%q", s.asked)
	}
	if f := read.Failures(job, nil, noon); len(f.Pods) != 1 || !f.PodsRead || len(read.Input(job, nil, noon).Pods) != 0 {
		t.Errorf("%+v", f)
	}
	read = gather.ReadStalls(t.Context(), client, "ns", nil, nil, failing, read, noon)
	if len(s.asked) != 2 || len(read.Failures(job, nil, noon).Pods) != 1 {
		t.Errorf("nothing has changed: %q", s.asked[2:])
	}
	job.Status.Failed = 2
	s.refuse = func(*http.Request) (int, metav1.StatusReason) {
		return http.StatusInternalServerError, metav1.StatusReasonInternalError
	}
	read = gather.ReadStalls(t.Context(), client, "ns", nil, nil, failing, read, noon)
	assert.Equal(t, len(read.Failures(job, nil, noon).Pods), 1, "what was known is lost")
	before := len(s.asked)
	s.refuse = nil
	gather.ReadStalls(t.Context(), client, "ns", nil, nil, failing, read, noon)
	assert.Equalf(t, len(s.asked), before+2, "it does not try again: %q", s.asked[before:])
}

// Requirements: CLI-06, CLI-08. For Jobs that run some of their pods and lack others, one page of warnings is read, and no pods.
func TestListReadsOnlyWarningsAboutJobsThatLackPods(t *testing.T) {
	s := &server{pods: []corev1.Pod{withJobLabel("a-1", "a")}}
	gather.ReadStalls(t.Context(), s.client(t), "ns", nil, []*batchv1.Job{activeJob("a", 1), activeJob("b", 1)}, nil, nil, noon)
	if len(s.asked) != 1 || s.requests("/events?") != 1 {
		t.Errorf("%q", s.asked)
	}
}
