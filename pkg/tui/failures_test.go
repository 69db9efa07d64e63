package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// The chosen cause is shown in full below the list; all list keys move the cursor.
func TestChosenCauseIsShownInFull(t *testing.T) {
	const first, second, third = "indexes 0,2,3,6", "indexes 1,4,7", "indexes 5,11,17"
	b := open(t, load(t, "three-causes"), size{80, 24}, nil, "4")
	for _, step := range []struct{ key, want string }{
		{"down", second}, {"j", third}, {"down", third}, {"up", second}, {"k", first}, {"up", first}, {"G", third}, {"g", first}, {"end", third}, {"home", first},
		{"pgdown", third}, {"pgup", first}, {"f", third}, {"b", first},
	} {
		b.press(step.key)
		shows(b, "Cause ─", step.want)
		if t.Failed() {
			t.Fatalf("after %q", step.key)
		}
	}
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	shows(b, third)
	b.press("r")
	shows(b, "first 04:21:35, last 04:21:37", "exit 42             04:21:37")
}

// enter opens a pod that failed with the chosen cause; if there is none, a notice says so.
func TestEnterOpensAPodThatFailedSo(t *testing.T) {
	s := load(t, "three-causes")
	b := open(t, s, size{80, 24}, nil, "4", "enter")
	shows(b, "three-causes/three-causes › index 6")
	if f := b.screens.top().Focus(); f.Pod != "three-causes-6-rc9d4" || f.Job != s.Focus.Job {
		t.Errorf("focus %v", f)
	}
	b.press("esc")
	shows(b, "60 failures, 3 causes")

	r := s.Job.Report
	r.Causes = []explain.Cause{{Text: "it was lost", Count: 1}}
	b = open(t, s, size{80, 24}, nil, "4", "enter")
	shows(b, "no pod is known for this cause", "It was lost")

	b = open(t, load(t, "completions"), size{80, 24}, nil, "4", "enter", "down", "G")
	shows(b, "No failures are known.")
	hides(b, "enter open")
}

// Pods that the Job stopped are one line, not a row, even if there is nothing else.
// Requirements: CLI-41
func TestStoppedPodsAreNoRows(t *testing.T) {
	s := load(t, "three-causes")
	r := s.Job.Report
	stopped := explain.Cause{Failure: &cause.Failure{DeletedRunning: true}, Text: "pod was stopped", Count: 7, Stop: explain.Stop{Stopped: explain.StoppedAtEnd, Consequence: true}}
	r.Causes = append(slices.Clone(r.Causes), stopped)
	r.Counts.Failed += 7
	r.Counts.StoppedFailures = 7
	b := open(t, s, size{120, 30}, nil, "4")
	shows(b, "60 failures, 3 causes; 7 other pods were stopped when the Job failed")
	b.press("G")
	shows(b, "indexes 5,11,17")
	hides(b, "Pod was stopped", "exceeded: 67", "67 failures")
	b.press("1")
	shows(b, "60 failures", "7 other pods were stopped when the Job failed")
	hides(b, "67")

	r.Causes = []explain.Cause{stopped}
	r.Counts.Failed = 7
	b.press("4", "enter")
	shows(b, "7 pods were stopped when the Job failed.")
	hides(b, "enter open")
}

// The cursor stays on its cause when other causes are inserted before it.
func TestFailuresCursorStays(t *testing.T) {
	s := load(t, "three-causes")
	b := open(t, s, size{80, 24}, nil, "4", "down")
	shows(b, "indexes 1,4,7")
	r := *s.Job.Report
	r.Causes = append([]explain.Cause{{Text: "a new one", Count: 99}}, r.Causes...)
	b.news(s, func(news *snapshot.Snapshot) { news.Job = &snapshot.Job{Report: &r} })
	shows(b, "A new one", "indexes 1,4,7")
}

// A list longer than the screen leaves room for the cause, and vice versa.
func TestLongListLeavesRoomForTheCause(t *testing.T) {
	s := load(t, "three-causes")
	r := s.Job.Report
	one := r.Causes[0]
	r.Causes = nil
	for i := range 50 {
		c := one
		c.Text = "cause " + string(rune('A'+i))
		r.Causes = append(r.Causes, c)
	}
	for _, at := range sizes {
		b := open(t, s, at, nil, "4", "G")
		shows(b, "Cause r", "Cause ", " ──")
		checkFrame(t, b, at)
	}
}

// Issue 6, 2: on a narrow screen causes are distinguishable by their first words, and in pods with several containers also by
// the container.
func TestShortCausesStayApart(t *testing.T) {
	s := load(t, "three-causes")
	b := open(t, s, size{60, 20}, nil, "4")
	shows(b, "▌    30  exit 1 ", "     20  exit 137 OOMKilled ", "     10  exit 42 ")
	b = open(t, s, size{160, 50}, nil, "4")
	shows(b, "20  Container main exited with code 137 (OOMKilled)  ")
	r := s.Job.Report
	r.Causes = slices.Clone(r.Causes)
	sidecar := cause.Failure{Exit: cause.Exit{Container: "sidecar", ExitCode: 42}}
	r.Causes[2].Failure, r.Causes[2].Container, r.Causes[2].Text = &sidecar, "sidecar", sidecar.Text()
	b = open(t, s, size{60, 20}, nil, "4")
	shows(b, "exit 137 OOMKilled (main)", "exit 42 (sidecar)")
}

// Issue 6, 2: lines that do not fit are counted, in the list and in the cause, which has its own scroll keys.
func TestFailuresSayWhatIsBelow(t *testing.T) {
	s := load(t, "three-causes")
	r := s.Job.Report
	one := r.Causes[0]
	one.Message = strings.Repeat("the parameter is not known; ", 20) + "the end."
	r.Causes = []explain.Cause{one}
	b := open(t, s, size{60, 20}, nil, "4")
	shows(b, "Cause  J/K scroll ─", "▼ ", " more")
	hides(b, "the end.")
	for range 30 {
		b.press("J")
	}
	shows(b, "first 3s ago, last 0s ago")
	hides(b, "▼")
	b.press("K")
	shows(b, "▼ 1 more")
	for range 20 {
		c := one
		c.Text += "x"
		one = c
		r.Causes = append(r.Causes, c)
	}
	b = open(t, s, size{60, 20}, nil, "4")
	shows(b, "▼ 18 more")
	b.press("J", "down")
	shows(b, "▼ 18 more", "Container main exited with code 1x")
	b.press("G")
	hides(b, "▼ 18 more")
}
