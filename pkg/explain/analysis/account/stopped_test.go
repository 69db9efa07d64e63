package account_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// deletionEvent returns a controller's event about a deleted pod.
func deletionEvent(message string, d time.Duration) input.Event {
	e := explaintest.JobEvent("SuccessfulDelete", message, 1, d)
	e.Type, e.First = corev1.EventTypeNormal, e.Last
	return e
}

// The report knows that the Job's own controller deleted pods: the cause says so, and the advice does not search for
// another client.
// Requirements: CLI-04
func TestPodsThatTheControllerDeletedAreNotUnknown(t *testing.T) {
	failed := func(reason string, n int32) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Parallelism, j.Status.Failed = ptr.To[int32](2), n
			explaintest.FailJob(j, reason, "")
		})
	}
	suspended := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Suspend, j.Status.Failed = ptr.To(true), 1
		explaintest.AddCondition(j, batchv1.JobSuspended, "JobSuspended", "", 10*time.Minute)
	})
	deadline := batchv1.JobReasonDeadlineExceeded
	end := 10 * time.Minute
	for name, c := range map[string]struct {
		job         *batchv1.Job
		events      []input.Event
		pods        []*input.Pod
		want        explain.StopReason
		count       int32
		unexplained int32
	}{
		"deadline, built-in":     {failed(deadline, 2), []input.Event{deletionEvent("Deleted pod: a", end), deletionEvent("Deleted pod: b", end)}, nil, explain.StoppedAtDeadline, 2, 0},
		"deadline, no events":    {failed(deadline, 2), nil, nil, explain.StoppedAtDeadline, 2, 0},
		"more than ran":          {failed(deadline, 3), nil, nil, "", 0, 3},
		"failure":                {failed(batchv1.JobReasonMaxFailedIndexesExceeded, 3), []input.Event{deletionEvent("Deleted 2 pods: a, b", end)}, nil, explain.StoppedAtEnd, 2, 1},
		"suspension":             {suspended, []input.Event{deletionEvent("Deleted pod: a", end)}, nil, explain.StoppedSuspended, 1, 0},
		"before the suspension":  {suspended, []input.Event{deletionEvent("Deleted pod: a", 2*end)}, nil, explain.StoppedExcess, 1, 0},
		"counted, and still end": {failed(batchv1.JobReasonPodFailurePolicy, 1), nil, []*input.Pod{explaintest.PodOf("a", explaintest.Counted(explaintest.Terminating(end)))}, explain.StoppedAtEnd, 1, 0},
		"nobody knows":           {failed(batchv1.JobReasonBackoffLimitExceeded, 2), nil, nil, "", 0, 2},
	} {
		f := explaintest.InputOf(c.job, c.pods...)
		f.Events = c.events
		r := explaintest.Report(f)
		var got explain.StopReason
		count := int32(0)
		for _, x := range r.Causes {
			got, count = x.Stopped, count+x.Count
		}
		if got != c.want || count != c.count || r.FailuresWithoutPod != c.unexplained {
			t.Errorf("%s: %d without a pod, %+v", name, r.FailuresWithoutPod, r.Causes)
		}
		for _, x := range r.Advice {
			assert.NotContains(t, x.Text, "find out what deletes or evicts", name)
		}
		for _, e := range r.Evidence {
			if c.want == explain.StoppedAtDeadline && strings.Contains(e.Text, "failed pod") {
				t.Errorf("%s: %s", name, e.Text)
			}
		}
	}
}

// Pods that the Job's controller deleted, as its events show, did not fail on their own, even if another event of it counts
// them as failed: parallelism was lowered, or the Job was suspended at that time. Only the others are failures.
// Requirements: CLI-04
func TestPodsThatTheControllerDeletedAreNoFailures(t *testing.T) {
	at := 20 * time.Minute
	counts := func(n int32) input.Event {
		e := explaintest.FailedEvent(explaintest.DeletedPod, "a", n, at)
		e.First = e.Last
		return e
	}
	job := func(failed int32) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = failed })
	}
	resumed := explaintest.JobWith(func(j *batchv1.Job) {
		j.Status.Failed, j.Spec.Suspend = 1, ptr.To(true)
		explaintest.AddCondition(j, batchv1.JobSuspended, "JobSuspended", "", at)
	})
	for name, tc := range map[string]struct {
		job          *batchv1.Job
		events       []input.Event
		pods         []*input.Pod
		reason       explain.StopReason
		stopped, own int32
	}{
		"parallelism was lowered":     {job(1), []input.Event{counts(1), deletionEvent("Deleted pod: a", at)}, nil, explain.StoppedExcess, 1, 0},
		"several pods":                {job(3), []input.Event{counts(3), deletionEvent("Deleted 3 pods: a, b, c", at)}, nil, explain.StoppedExcess, 3, 0},
		"more than are named":         {job(9), []input.Event{counts(9), deletionEvent("Deleted 9 pods: x, y, z and 6 more", at)}, nil, explain.StoppedExcess, 9, 0},
		"the Job was suspended":       {resumed, []input.Event{counts(1), deletionEvent("Deleted pod: a", at)}, nil, explain.StoppedSuspended, 1, 0},
		"only some of them":           {job(3), []input.Event{counts(3), deletionEvent("Deleted pod: a", at)}, nil, explain.StoppedExcess, 1, 2},
		"the controller deleted none": {job(1), []input.Event{counts(1)}, nil, "", 0, 1},
		"it deleted another pod":      {job(1), []input.Event{counts(1), deletionEvent("Deleted pod: b", at)}, nil, "", 0, 1},
		"the pod still exists":        {job(1), []input.Event{deletionEvent("Deleted pod: a", at)}, []*input.Pod{explaintest.PodOf("a", explaintest.Counted(explaintest.Terminating(at)))}, explain.StoppedExcess, 1, 0},
		"the pod has failed":          {job(1), []input.Event{deletionEvent("Deleted pod: a", at)}, []*input.Pod{explaintest.PodOf("a", killedBy(at, 30))}, explain.StoppedExcess, 1, 0},
	} {
		f := explaintest.InputOf(tc.job, tc.pods...)
		f.Events = tc.events
		r := explaintest.Report(f)
		stopped, own := int32(0), r.FailuresWithoutPod
		for i := range r.Causes {
			if c := &r.Causes[i]; c.Stopped != "" {
				stopped += c.Count
				assert.Equalf(t, c.Stopped, tc.reason, "%s: stopped for", name)
			} else {
				own += c.Count
			}
		}
		if stopped != tc.stopped || own != tc.own {
			t.Errorf("%s: %d stopped and %d failed, want %d and %d: %+v", name, stopped, own, tc.stopped, tc.own, r.Causes)
		}
		if tc.own == 0 {
			explaintest.WantWithout(t, r, "find out what deletes or evicts")
		}
	}
}

// killedBy fails a pod by SIGTERM, because it was deleted with this grace period.
func killedBy(d time.Duration, grace int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		explaintest.Exits(143, "Error", d-2*time.Second)(p)
		at := explaintest.Ago(d)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
	}
}

// Issue 17: a pod that the Job itself stopped did not fail on its own, although its phase is Failed.
// Requirements: CLI-04
func TestPodThatTheJobStoppedIsNamedSo(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) { explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "") })
	suspended := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Suspend = ptr.To(true)
		explaintest.AddCondition(j, batchv1.JobSuspended, "JobSuspended", "", 10*time.Minute)
	})
	for name, c := range map[string]struct {
		job  *batchv1.Job
		pod  func(*corev1.Pod)
		want explain.StopReason
	}{
		"deadline":       {job, killedBy(10*time.Minute, 0), explain.StoppedAtDeadline},
		"suspension":     {suspended, killedBy(10*time.Minute, 0), explain.StoppedSuspended},
		"failed before":  {job, explaintest.Exits(1, "Error", 20*time.Minute), ""},
		"deleted before": {job, killedBy(20*time.Minute, 0), ""},
	} {
		r := explaintest.Report(explaintest.InputOf(c.job, explaintest.PodOf("a", c.pod)))
		assert.Equal(t, r.Pods[0].Stopped, c.want, name)
		f := &section.Frame{Glyphs: layout.NewGlyphs(false)}
		if got := section.PodState(f, &r.Pods[0]).String(); strings.Contains(got, f.Glyphs.Bad) == (c.want != "") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The kubelet deletes a pod again after its end. The causes before and after that are the same, and name the Job as the reason.
// Requirements: CLI-04
func TestCauseOfStoppedPodOutlivesTheLastDeletion(t *testing.T) {
	decided := explaintest.JobWith(func(j *batchv1.Job) { explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "") })
	suspended := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Suspend = ptr.To(true)
		explaintest.AddCondition(j, batchv1.JobSuspended, "JobSuspended", "", 10*time.Minute)
	})
	suspending := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) })
	pod := func(code int32, end, deletion time.Duration, grace int64) *input.Pod {
		return explaintest.PodOf("a", func(p *corev1.Pod) {
			explaintest.Exits(code, "Error", end)(p)
			at := metav1.NewTime(explaintest.Ago(deletion).Add(time.Duration(grace) * time.Second))
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &at, &grace
		})
	}
	const begin = 9 * time.Minute
	for name, c := range map[string]struct {
		job  *batchv1.Job
		want explain.StopReason
	}{
		"suspended": {suspended, explain.StoppedSuspended}, "suspending": {suspending, explain.StoppedSuspended}, "deadline": {decided, explain.StoppedAtDeadline},
	} {
		first := explaintest.Report(explaintest.InputOf(c.job, pod(143, begin-time.Second, begin, 30))).Causes
		last := explaintest.Report(explaintest.InputOf(c.job, pod(143, begin-time.Second, begin-2*time.Second, 0))).Causes
		if len(first) != 1 || len(last) != 1 || first[0].Stopped != c.want || last[0].Stopped != c.want || first[0].Text != last[0].Text {
			t.Errorf("%s: first %+v, then %+v", name, first, last)
		}
		if own := explaintest.Report(explaintest.InputOf(c.job, pod(1, begin-time.Second, begin-2*time.Second, 0))).Causes; len(own) != 1 || own[0].Stopped != "" {
			t.Errorf("%s: the pod failed on its own: %+v", name, own)
		}
	}
}
