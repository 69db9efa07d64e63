package indexes_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// CLI-04: attempts "2 of 4", by index; ignored failures count separately.
func TestAttemptsAreCountedPerIndex(t *testing.T) {
	job := explaintest.IndexedJob(6, func(j *batchv1.Job) {
		j.Spec.PodFailurePolicy = explaintest.Rules(1)
		j.Spec.PodFailurePolicy.Rules[0].Action = batchv1.PodFailurePolicyActionIgnore // of exit code 1
		j.Status.CompletedIndexes, j.Status.FailedIndexes = "0", ptr.To("3,5")
	})
	r := explaintest.Report(explaintest.InputOf(job,
		explaintest.PodOf("train-1-a", explaintest.OnIndex(1, 2, nil)),
		explaintest.PodOf("train-2-a", explaintest.OnIndex(2, 1, explaintest.Exits(1, "Error", time.Minute))),
		explaintest.PodOf("train-3-a", explaintest.OnIndex(3, 4, explaintest.Exits(2, "Error", time.Minute)))))
	x := r.Indexes
	if x.Completed != "0" || x.Failed != "3,5" || x.Active != "1" || x.CompletedCount+x.FailedCount+x.ActiveCount+x.TerminatingCount+x.BackingOffCount+x.PendingCount != 6 {
		t.Errorf("%+v", x)
	}
	details := map[int32]explain.IndexInfo{}
	for _, d := range x.Details {
		details[d.Index] = d
	}
	if d := details[1]; d.State != explain.IndexActive || d.Attempt != 2 || d.Attempts != 4 || d.Failures != 1 || d.Pod != "train-1-a" {
		t.Errorf("index 1: %+v", d)
	}
	if d := details[2]; d.Ignored != 1 || d.Failures != 0 || d.Cause == "" {
		t.Errorf("index 2: %+v", d)
	}
	if d := details[3]; d.State != explain.IndexFailed || d.Attempt != 4 || d.Attempts != 4 || d.Failures != 4 || !strings.Contains(d.Cause, "code 2") {
		t.Errorf("index 3: %+v", d)
	}
	if d := details[5]; d.State != explain.IndexFailed || d.Attempts != 4 || d.Pod != "" {
		t.Errorf("index 5, whose pods are gone: %+v", d)
	}
	assert.Equal(t, r.Counts.IgnoredFailures, 1, r.Counts)
	var text string
	for _, e := range r.Evidence {
		text += e.Text + "\n"
	}
	if !strings.Contains(text, "index 3, attempt 4 of 4") && !strings.Contains(text, "index 2, attempt 1 of 4") {
		t.Errorf("no attempt in %q", text)
	}
}

// Issue 17: the reason why an index has no pod: it never had one, it waits for the back-off of the Job, or it gets none anymore. The index
// whose pod decided that the Job failed is failed, also without backoffLimitPerIndex.
// Requirements: CLI-78, CLI-04
func TestPendingIndexesAreToldApart(t *testing.T) {
	jobOf := func(change func(*batchv1.Job)) *batchv1.Job {
		return explaintest.IndexedJob(4, func(j *batchv1.Job) {
			j.Spec.BackoffLimitPerIndex, j.Status.FailedIndexes, j.Status.Failed = nil, nil, 1
			if change != nil {
				change(j)
			}
		})
	}
	for name, c := range map[string]struct {
		job                                   *batchv1.Job
		notStarted, retrying, willNotComplete string
	}{
		"runs": {jobOf(nil), "2,3", "1", ""},
		"fails": {jobOf(func(j *batchv1.Job) {
			explaintest.AddCondition(j, batchv1.JobFailureTarget, "BackoffLimitExceeded", "", time.Second)
		}), "", "", "2,3"},
		"failed":  {jobOf(func(j *batchv1.Job) { explaintest.FailJob(j, "BackoffLimitExceeded", "") }), "", "", "2,3"},
		"is held": {jobOf(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), "2,3", "1", ""},
	} {
		r := explaintest.Report(explaintest.InputOf(c.job, explaintest.PodOf("train-0-a", explaintest.OnIndex(0, 1, nil)), explaintest.PodOf("train-1-a", explaintest.OnIndex(1, 1, explaintest.Exits(1, "Error", time.Second)))))
		x := r.Indexes
		if x.NotStarted != c.notStarted || x.Retrying != c.retrying || x.WillNotComplete != c.willNotComplete || x.Failed+x.Retrying != "1" {
			t.Errorf("%s: not started %q, waiting to retry %q, will not complete %q, failed %q", name, x.NotStarted, x.Retrying, x.WillNotComplete, x.Failed)
		}
	}
}

// Issue 6, point 2: indexes whose pod is ready, and indexes removed when an elastic Indexed Job was scaled down.
// Requirements: TRK-29
func TestReadyAndOutOfRangeIndexesAreListed(t *testing.T) {
	pods := []*input.Pod{
		explaintest.PodOf("train-0-a", explaintest.OnIndex(0, 1, explaintest.Running(true))),
		explaintest.PodOf("train-1-a", explaintest.OnIndex(1, 1, explaintest.Running(false))),
		explaintest.PodOf("train-2-a", explaintest.OnIndex(2, 1, explaintest.Terminating(time.Second))),
		explaintest.PodOf("train-3-a", explaintest.OnIndex(3, 1, explaintest.Running(true))),
		explaintest.PodOf("train-3-b", explaintest.OnIndex(3, 2, explaintest.Running(false))),
		explaintest.PodOf("train-4-a", explaintest.OnIndex(4, 1, explaintest.Exits(0, "", time.Minute))),
		explaintest.PodOf("train-5-a", explaintest.OnIndex(5, 1, explaintest.Terminating(time.Second))),
		explaintest.PodOf("train-6-a", explaintest.OnIndex(6, 1, explaintest.Running(true))),
		explaintest.PodOf("train-7-a", explaintest.OnIndex(7, 1, explaintest.Exits(1, "", time.Minute))),
		explaintest.PodOf("no-index", explaintest.Running(true)),
	}
	for _, tc := range []struct {
		completions                        int32
		active, ready, beyond, terminating string
		readyCount, beyondCount            int32
	}{
		{8, "0,1,3,6", "0,3,6", "", "2,5", 3, 0},
		{6, "0,1,3", "0,3", "6", "2,5", 2, 1},
		{5, "0,1,3", "0,3", "5,6", "2", 2, 2},
		{1, "0", "0", "1-3,5,6", "", 1, 5},
		{0, "", "", "0-3,5,6", "", 0, 6},
	} {
		// With TerminatingOrFailed, 2 and 5 would be in back-off.
		job := explaintest.IndexedJob(tc.completions, func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) })
		x := explaintest.Report(explaintest.InputOf(job, pods...)).Indexes
		if x.Active != tc.active || x.Ready != tc.ready || x.OutOfRange != tc.beyond || x.ReadyCount != tc.readyCount || x.OutOfRangeCount != tc.beyondCount || x.Terminating != tc.terminating {
			t.Errorf("completions %d: %+v", tc.completions, x)
		}
	}
	// A succeeded index is not active, whatever another of its pods does.
	done := explaintest.IndexedJob(8, func(j *batchv1.Job) { j.Status.CompletedIndexes = "0" })
	assert.Equal(t, explaintest.Report(explaintest.InputOf(done, pods...)).Indexes.Ready, "3,6", "ready")
}

// BLI-04: ignored attempts are added to the attempts that the limit allows.
// Requirements: CLI-04
func TestIgnoredAttemptsComeOnTop(t *testing.T) {
	f := explaintest.InputOf(explaintest.IndexedJob(2, func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = ptr.To[int32](1) }), explaintest.PodOf("a", func(p *corev1.Pod) {
		p.Annotations = map[string]string{
			batchv1.JobCompletionIndexAnnotation: "0", "batchjob.dev/attempt": "4",
			batchv1.JobIndexFailureCountAnnotation: "1", batchv1.JobIndexIgnoredFailureCountAnnotation: "2",
		}
	}))
	if d := explaintest.Report(f).Indexes.Details; len(d) != 1 || d[0].Attempt != 4 || d[0].Attempts != 4 {
		t.Errorf("%+v", d)
	}
}

// BLI-22, issue 6: an index waits for its back-off whether or not there is room for a pod.
func TestIndexWaitsForItsBackoffWithoutRoom(t *testing.T) {
	full := func(j *batchv1.Job) {
		j.Spec.Parallelism = ptr.To[int32](1)
		j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:      batchv1.PodFailurePolicyActionIgnore,
			OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{9}},
		}}}
	}
	f := explaintest.InputOf(explaintest.IndexedJob(6, full), explaintest.PodOf("runs", explaintest.OnIndex(0, 1, nil)),
		explaintest.PodOf("one", explaintest.OnIndex(1, 1, explaintest.Tracked(explaintest.Exits(1, "Error", 9*time.Second)))), explaintest.PodOf("over", explaintest.OnIndex(2, 1, explaintest.Tracked(explaintest.Exits(1, "Error", 10*time.Second)))),
		explaintest.PodOf("third", explaintest.OnIndex(3, 3, explaintest.Tracked(explaintest.Exits(1, "Error", 39*time.Second)))), explaintest.PodOf("ignored", explaintest.OnIndex(4, 1, explaintest.Tracked(explaintest.Exits(9, "Error", 2*time.Second)))))
	r := explaintest.Report(f)
	if x := r.Indexes; x.BackingOff != "1,3,4" || x.Pending != "2,5" || x.Active != "0" {
		t.Errorf("in back-off %q, pending %q, active %q", x.BackingOff, x.Pending, x.Active)
	}
	if x := r.Indexes; x.Retrying != "2" || x.NotStarted != "5" || x.WillNotComplete != "" {
		t.Errorf("waits to retry %q, not started %q, will not complete %q", x.Retrying, x.NotStarted, x.WillNotComplete)
	}
	left := map[int32]time.Duration{1: time.Second, 3: time.Second, 4: 8 * time.Second}
	for _, info := range r.Indexes.Details {
		until, waits := left[info.Index]
		switch {
		case waits != (info.Until != nil) || waits != (info.State == explain.IndexBackingOff):
			t.Errorf("%+v", info)
		case waits && info.Until.Sub(explaintest.Noon) != until:
			t.Errorf("index %d waits for %s, want %s", info.Index, info.Until.Sub(explaintest.Noon), until)
		case info.Index == 2 && (info.State != explain.IndexPending || info.Failures != 1 || info.Attempt != 1):
			t.Errorf("its back-off has ended, and there is no room: %+v", info)
		}
	}
	assert.Contains(t, explaintest.Verdict(r), "3 indexes are in back-off, the first may be retried in 1s")
	if w := r.Waits[0]; w.Kind != explain.WaitIndexBackoff || w.Indexes != "1,3,4" || !strings.Contains(w.Text, "if parallelism allows it") {
		t.Errorf("%+v", w)
	}
	f.Job.Spec.Parallelism = ptr.To[int32](2)
	r = explaintest.Report(f)
	if x := r.Indexes; x.BackingOff != "1,3,4" || strings.Contains(r.Waits[0].Text, "parallelism") || !strings.Contains(explaintest.Verdict(r), "the first is retried in 1s") {
		t.Errorf("with room: in back-off %q, %s, %+v", x.BackingOff, explaintest.Verdict(r), r.Waits)
	}
	f.Job.Spec.Suspend = ptr.To(true)
	for _, w := range explaintest.Report(f).Waits {
		if w.Kind == explain.WaitIndexBackoff {
			t.Errorf("suspended: %+v", w)
		}
	}
}
