package demo

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// program runs the command line in tests.
var program = clitest.ProgramOf(NewCommand)

// viewed is a Source whose clock advances only when the test does it.
type viewed struct {
	*Source
	t   *testing.T
	now time.Time
	seq uint64
}

func newViewed(t *testing.T) *viewed {
	t.Helper()
	v := &viewed{t: t, now: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)}
	source, err := NewSource(func() time.Time { return v.now }, func(ctx context.Context, d time.Duration) error {
		v.now = v.now.Add(d)
		return ctx.Err()
	}, 0)
	assert.NoError(t, err)
	v.Source = source
	return v
}

// after advances the clock by wait, and returns the next Snapshot.
func (v *viewed) after(wait time.Duration, focus snapshot.Focus) *snapshot.Snapshot {
	v.t.Helper()
	v.now = v.now.Add(wait)
	v.Look(focus)
	s, err := v.Next(v.t.Context(), v.seq)
	assert.NoError(v.t, err)
	v.seq = s.Seq
	return s
}

func on(job string) snapshot.Focus {
	return snapshot.Focus{Job: types.NamespacedName{Namespace: "sim", Name: job}}
}

func outline(t *testing.T, s *snapshot.Snapshot, name string) *explain.Outline {
	t.Helper()
	for i := range s.Jobs.Items {
		if s.Jobs.Items[i].Name == name {
			return &s.Jobs.Items[i]
		}
	}
	t.Fatalf("no Job %s", name)
	return nil
}

// Issue 19: the demo shows the subject of each of the five proposals as it happens.
// Requirements: DEM-01
func TestDemoShowsTheProposals(t *testing.T) {
	v := newViewed(t)
	s := v.after(20*time.Second, snapshot.Focus{})
	if job := outline(t, s, "render"); job.Terminating == nil || *job.Terminating != 1 || job.Active != 2 {
		t.Errorf("KEP-3939: %+v", job)
	}
	if job := outline(t, s, "finetune"); job.Stalled == nil || job.Stalled.Kind != explain.ProblemUnschedulable {
		t.Errorf("finetune is not stalled: %+v", job.Stalled)
	}
	s = v.after(40*time.Second, snapshot.Focus{})
	if job := outline(t, s, "train"); job.Reason != "PodFailurePolicy_BadConfig" {
		t.Errorf("KEP-4443: train is %s, %s", job.Status, job.Reason)
	}
	if job := outline(t, s, "mpi"); job.Reason != "SuccessPolicy" || job.Succeeded != 1 {
		t.Errorf("KEP-3998: mpi is %s, %s, %d", job.Status, job.Reason, job.Succeeded)
	}
	if job := outline(t, s, "sweep"); job.FailedIndexCount == 0 || job.Succeeded < 10 || job.Finished != nil {
		t.Errorf("KEP-3850: %d indexes of sweep have failed, %d succeeded", job.FailedIndexCount, job.Succeeded)
	}
	assert.Equal(t, s.Time.Sub(v.now), 0, "the simulation is ahead")
}

// Issue 19: every screen has content: pods, logs of running and failed pods, and the evidence.
// Requirements: DEM-02
func TestDemoHasPodsAndLogs(t *testing.T) {
	v := newViewed(t)
	s := v.after(60*time.Second, on("train"))
	report := s.Job.Report
	var lines []string
	for _, e := range report.Evidence {
		lines = append(lines, e.Lines...)
	}
	assert.Contains(t, strings.Join(lines, "\n"), "learning_rate must be above 0", report.Evidence)
	if len(report.Timeline) == 0 {
		t.Error("no timeline")
	}
	focus := on("montecarlo")
	for _, pod := range v.after(0, focus).Job.Report.Pods {
		if pod.Phase == "Running" && pod.Ready {
			focus.Pod, focus.Log = pod.Name, &snapshot.LogTarget{}
		}
	}
	s = v.after(time.Second, focus)
	if s.Pod == nil || s.Pod.Containers[0].Now.State != "Running" || s.Pod.Containers[0].Now.Started == nil {
		t.Errorf("pod %+v", s.Pod)
	}
	if s.Log == nil || len(s.Log.Lines) == 0 || s.Log.Ended {
		t.Errorf("log %+v", s.Log)
	}
}

// Issue 19: without a terminal, the demo prints how the Jobs end; no kubeconfig is read.
// Requirements: DEM-03
func TestDemoAsText(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	got := program.Run(t, nil, "demo")
	if got.Code != 0 {
		t.Fatalf("exit %d, %s", got.Code, got.ErrOut)
	}
	for _, want := range []string{
		`train failed after 43s`, `(rule 0 "BadConfig": FailJob)`, "3 of 60 indexes failed", "render completed after 1m19s", "9 of 9 pods succeeded",
		"mpi completed", "host name warehouse.example could not be resolved", "3,000 of 3,000 indexes succeeded", "no node can take the pod",
	} {
		assert.Contains(t, got.Out, want)
	}
	assert.Contains(t, got.ErrOut, "Simulated without a cluster")
	assert.Equal(t, program.Run(t, nil, "demo", "job").Code, 2, "an argument")
}

// The demo starts with a failure with its cause, and with a large Job that is half done and has failures.
// Requirements: DEM-06
func TestDemoBeginsWithSomethingToSee(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	source, err := NewSource(func() time.Time { return now }, nil, begunAgo)
	assert.NoError(t, err)
	source.Look(on(selected))
	s, err := source.Next(t.Context(), 0)
	assert.NoError(t, err)
	// A call of the simulated controller may end after the time.
	if late := s.Time.Sub(now); late < 0 || late > time.Second {
		t.Errorf("the first Snapshot is of %s, %s late", s.Time, late)
	}
	if job := outline(t, s, "train"); job.Reason != "PodFailurePolicy_BadConfig" {
		t.Errorf("train is %s, %s", job.Status, job.Reason)
	}
	if done := outline(t, s, selected).Succeeded; done < 1000 || done > 2000 || len(s.Job.Report.Causes) == 0 {
		t.Errorf("%d of 3,000 indexes succeeded, causes %+v", done, s.Job.Report.Causes)
	}
}

// R works in the demo: the simulation runs what failed again, with the indexes of the retry only, and the view shows both as
// one family.
// Requirements: DEM-07
func TestDemoRetriesWhatFailed(t *testing.T) {
	v := newViewed(t)
	v.after(3*time.Minute, on("sweep"))
	for job, want := range map[string]string{"train": "0-3", "sweep": "7,23,41", "import": "", "finetune": ""} {
		found, err := v.Find(t.Context(), on(job).Job)
		assert.NoError(t, err, job)
		plan, err := found.Plan(nil)
		if err != nil || plan.Name != job+"-retry-1" || plan.Indexes.String() != want || found.Replaces != (job == "finetune") {
			t.Fatalf("%s: %+v, %v", job, plan, err)
		}
		assert.NoError(t, plan.Create(t.Context()), job)
	}
	if gone := v.after(0, on("finetune")).Job; !gone.Gone {
		t.Errorf("finetune was replaced: %+v", gone)
	}
	s := v.after(3*time.Minute, on("sweep-retry-1"))
	for job, want := range map[string]string{"train-retry-1": "Complete", "sweep-retry-1": "Failed", "import-retry-1": "Complete", "finetune-retry-1": "Running"} {
		if got := outline(t, s, job); got.Status != want || got.Retry == nil {
			t.Errorf("%s is %s, %+v", job, got.Status, got.Retry)
		}
	}
	if got := outline(t, s, "sweep-retry-1"); got.Succeeded != 59 || got.FailedIndexCount != 1 {
		t.Errorf("sweep-retry-1: %d succeeded, %d failed", got.Succeeded, got.FailedIndexCount)
	}
	if report := s.Job.Report; report.Family == nil {
		t.Errorf("no family in %+v", report.Verdict)
	}
	if _, err := v.Find(t.Context(), on("absent").Job); err == nil {
		t.Error("a Job that does not exist can be retried")
	}
}

// L and Y have something to show in the demo.
// Requirements: DEM-02
func TestDemoHasLogsOfFailedPodsAndYAML(t *testing.T) {
	v := newViewed(t)
	focus := on("sweep")
	focus.Log = &snapshot.LogTarget{Failed: true}
	log := v.after(2*time.Minute, focus).Log
	pods := map[string]bool{}
	for _, line := range log.Lines {
		pods[line.Pod] = true
	}
	if !pods["[index 7 attempt 2]"] || len(pods) < 6 {
		t.Errorf("logs of %v", pods)
	}
	for pod, want := range map[string]string{"": "kind: Job", v.after(0, focus).Job.Report.Pods[0].Name: "kind: Pod"} {
		if text, err := v.YAML(t.Context(), focus.Job, pod); err != nil || !strings.Contains(text, want) || !strings.Contains(text, "solver") {
			t.Errorf("%s, %v", text, err)
		}
	}
}
