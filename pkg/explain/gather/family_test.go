package gather_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// finished makes a Job a failed one.
func finished(j *batchv1.Job) {
	j.Status.Failed = 1
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
}

// retryOf returns a retry of the Job train with the UID.
func retryOf(root types.UID, attempt string, change func(*batchv1.Job)) batchv1.Job {
	name := "train-retry-" + attempt
	j := batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}}
	j.Namespace, j.Name, j.UID = "ns", name, types.UID("uid-"+name)
	j.Labels = map[string]string{retry.OfLabel: "train"}
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"job": name}}
	j.Annotations = map[string]string{retry.UIDAnnotation: string(root), retry.AttemptAnnotation: attempt}
	if change != nil {
		change(&j)
	}
	return j
}

// named returns a change that makes a pod fail and gives it the label of its Job.
func named(job string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		failed(p)
		p.Labels["job"] = job
	}
}

// relativesOf lists the names of the relatives, each with its number of pods if they were read.
func relativesOf(f input.Input) string {
	var all []string
	for _, relative := range f.Relatives {
		name := relative.Job.Name
		if relative.PodsRead {
			name += strings.Repeat("*", len(relative.Pods))
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func hasJobsGap(f input.Input) bool {
	return slices.ContainsFunc(f.Gaps, func(g input.Gap) bool { return g.What == "jobs" })
}

// RTY-22: the retries of a finished Job are read, with their pods if they finished with failures. A Job without retries costs
// one request, and a running Job none.
func TestRelatives(t *testing.T) {
	first := train()
	finished(first)
	first.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	retries := []batchv1.Job{retryOf(first.UID, "1", finished), retryOf(first.UID, "2", func(j *batchv1.Job) { j.Status.Failed = 1 }), retryOf("another", "3", finished)}
	pods := []corev1.Pod{
		pod("a", retries[0].UID, named("train-retry-1")), pod("b", retries[1].UID, named("train-retry-2")),
		pod("c", "another", named("train-retry-1")), pod("d", first.UID, failed),
	}
	for name, c := range map[string]struct {
		jobs                []batchv1.Job
		of                  *batchv1.Job
		want                string
		lists, gets, podsOf int
	}{
		"no retry":              {nil, first, "", 1, 0, 0},
		"running":               {retries, train(), "", 0, 0, 0},
		"retries":               {retries, first, "train-retry-1* train-retry-2", 1, 0, 1},
		"of a retry":            {append(retries[:2:2], *first), &retries[1], "train* train-retry-1*", 1, 1, 2},
		"the first Job is gone": {retries, &retries[1], "train-retry-1*", 1, 1, 1},
	} {
		s := &server{jobs: c.jobs, pods: pods}
		f := read(t, s, c.of)
		if got := relativesOf(f); got != c.want || !f.RelativesRead || hasJobsGap(f) {
			t.Errorf("%s: %q, want %q; %+v", name, got, c.want, f.Gaps)
		}
		lists, gets, podsOf := s.requests("/jobs?"), s.requests("/jobs/"), s.requests("/pods?")-1
		if lists != c.lists || gets != c.gets || podsOf != c.podsOf {
			t.Errorf("%s: %d lists, %d gets, %d lists of pods: %q", name, lists, gets, podsOf, s.asked)
		}
	}
}

// RTY-22: without permission to list Jobs there is no family, and no gap; any other failure is a gap. Without permission to
// list pods, the relatives are read without their pods.
func TestUnreadableRelatives(t *testing.T) {
	job := train()
	finished(job)
	refuse := func(what string, code int, reason metav1.StatusReason) input.Input {
		return read(t, &server{jobs: []batchv1.Job{retryOf(job.UID, "1", finished)}, refuse: func(r *http.Request) (int, metav1.StatusReason) {
			if strings.HasSuffix(r.URL.Path, "/"+what) {
				return code, reason
			}
			return 0, ""
		}}, job)
	}
	if f := refuse("jobs", http.StatusForbidden, metav1.StatusReasonForbidden); f.RelativesRead || len(f.Relatives) > 0 || hasJobsGap(f) {
		t.Errorf("forbidden: %+v", f)
	}
	f := refuse("jobs", http.StatusInternalServerError, metav1.StatusReasonInternalError)
	if f.RelativesRead {
		t.Errorf("%+v", f)
	}
	wantGap(t, f, "jobs", "", "jobs could not be read")
	if f := refuse("pods", http.StatusForbidden, metav1.StatusReasonForbidden); !f.RelativesRead || relativesOf(f) != "train-retry-1" {
		t.Errorf("no pods: %q", relativesOf(f))
	}
}

// The name of a Job with a manual selector may be longer than a label; its retries are found by their label.
// Requirements: RTY-20, RTY-22
func TestRelativesOfALongName(t *testing.T) {
	first := train()
	finished(first)
	first.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	first.Name = strings.Repeat("long-name-", 9) + "a"
	again := retryOf(first.UID, "1", nil)
	again.Labels[retry.OfLabel], again.Annotations[retry.OfLabel] = retry.LabelOf(first.Name), first.Name
	for _, of := range []*batchv1.Job{first, &again} {
		f := read(t, &server{jobs: []batchv1.Job{*first, again}}, of)
		if got := relativesOf(f); hasJobsGap(f) || got == "" {
			t.Errorf("%s: relatives %q, %v", of.Name, got, f.Gaps)
		}
	}
}
