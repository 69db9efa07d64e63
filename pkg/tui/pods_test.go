package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// trainKey returns the Job of hand-made Reports.
func trainKey() types.NamespacedName {
	return types.NamespacedName{Namespace: "ml", Name: "train-large-model"}
}

// podReport returns a Report with pods in all states.
func podReport() *explain.Report {
	pod := func(index, attempt int32, suffix string, info explain.PodInfo) explain.PodInfo {
		info.Name, info.Index, info.Attempt = "train-large-model-"+suffix, ptr.To(index), attempt
		if info.Created == nil {
			info.Created = ago(10 * time.Minute)
		}
		return info
	}
	failed := func(cause string, ended time.Duration) explain.PodInfo {
		return explain.PodInfo{Phase: "Failed", State: "Error", Node: "node-a-7", Cause: cause, Counted: explain.Counted, Ended: ago(ended), Created: ago(ended + time.Minute)}
	}
	oom := failed("Container main exited with code 137 (OOMKilled)", 3*time.Minute)
	oom.State, oom.Rule, oom.Action = "OOMKilled", ptr.To[int32](0), "FailIndex"
	evicted := failed("Container main exited with code 143 (SIGTERM), and the pod has condition DisruptionTarget", 5*time.Minute)
	evicted.Rule, evicted.Action, evicted.Counted = ptr.To[int32](1), "Ignore", explain.NotCounted
	r := &explain.Report{
		Job:        explain.Job{Namespace: "ml", Name: "train-large-model", CompletionMode: "Indexed", Completions: ptr.To[int32](8), BackoffLimitPerIndex: ptr.To[int32](3), Started: ago(20 * time.Minute)},
		ObservedAt: *ago(0), Verdict: explain.Verdict{Status: "Running", Outcome: reconcile.OutcomeOpen},
		FailurePolicy: &explain.FailurePolicy{Unmatched: new(int32), Rules: []explain.FailureRule{
			{Index: 0, Name: "OutOfMemory", Action: "FailIndex", Matched: new(int32)}, {Index: 1, Action: "Ignore", Matched: new(int32)},
		}},
		Indexes: &explain.Indexes{
			Total: 8, Completed: "0,6-7", Failed: "1", Active: "2-3", Terminating: "4", BackingOff: "5", CompletedCount: 3, FailedCount: 1, ActiveCount: 2, TerminatingCount: 1, BackingOffCount: 1,
			Details: []explain.IndexInfo{
				{Index: 1, State: explain.IndexFailed, Attempt: 3, Attempts: 4, Failures: 2, Ignored: 1, Pod: "train-large-model-1-zx9qk", Cause: "Container main exited with code 137 (OOMKilled)"},
				{Index: 5, State: explain.IndexBackingOff, Attempt: 1, Attempts: 4, Failures: 1, Until: ago(-25 * time.Second), Pod: "train-large-model-5-gone1", Cause: "Container main exited with code 1"},
			},
		},
		Causes: []explain.Cause{
			{Text: "Container main exited with code 137 (OOMKilled)", Meaning: "killed because it used more memory than its limit, or than the node had", Count: 2, Lost: explain.Lost{Indexes: "1,5"}, Ruling: explain.Ruling{Rule: ptr.To[int32](0), RuleName: "OutOfMemory", Action: "FailIndex"}, Pods: []string{"train-large-model-1-zx9qk"}, Ended: explain.Ended{Message: "loss is NaN at step 12000"}},
		},
		Pods: []explain.PodInfo{
			pod(1, 3, "1-zx9qk", oom),
			pod(1, 2, "1-abc12", failed("Container main exited with code 1", 4*time.Minute)),
			pod(1, 1, "1-q0q0q", evicted),
			pod(3, 1, "3-img00", explain.PodInfo{Phase: "Pending", State: "ImagePullBackOff", Node: "node-b-1"}),
			pod(4, 1, "4-term1", explain.PodInfo{Phase: "Running", State: "Terminating", Node: "node-b-2", GraceEnds: ago(-17 * time.Second)}),
			pod(4, 1, "4-term2", explain.PodInfo{Phase: "Running", State: "Terminating", Node: "node-c-3", GraceEnds: ago(4 * time.Minute)}),
			pod(2, 1, "2-runs1", explain.PodInfo{Phase: "Running", State: "Running", Ready: true, Node: "node-b-1"}),
			pod(0, 1, "0-good1", explain.PodInfo{Phase: "Succeeded", State: "Succeeded", Node: "node-b-1", Ended: ago(9 * time.Minute), Counted: explain.Counted}),
		},
	}
	return withFailures(r)
}

// withFailures adds the recognized failures to a Report that has only texts.
func withFailures(r *explain.Report) *explain.Report {
	oomKilled := cause.Exit{Container: "main", ExitCode: 137, Reason: "OOMKilled"}
	known := map[string]*cause.Failure{}
	for _, f := range []cause.Failure{
		{Exit: oomKilled}, {Exit: cause.Exit{Container: "main", ExitCode: 143}, Condition: "DisruptionTarget"},
		{Exit: cause.Exit{Container: "main", ExitCode: 1}}, {Exit: cause.Exit{Container: "main", ExitCode: 3}},
		{Exit: cause.Exit{Container: "sidecar", ExitCode: 3, Reason: "Error"}, Deleting: true},
		{Exit: cause.Exit{Container: "sidecar", ExitCode: 42}}, {Condition: "DisruptionTarget"},
	} {
		known[f.Text()] = &f
	}
	for i := range r.Causes {
		if f := known[r.Causes[i].Text]; f != nil {
			r.Causes[i].Failure, r.Causes[i].Container = f, f.Container
		}
	}
	for i := range r.Pods {
		r.Pods[i].Failure = known[r.Pods[i].Cause]
	}
	if r.Indexes != nil {
		for i := range r.Indexes.Details {
			r.Indexes.Details[i].Failure = known[r.Indexes.Details[i].Cause]
		}
	}
	return r
}

func podsSnapshot(r *explain.Report) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Seq: 1, Time: testNow(), Focus: snapshot.Focus{Job: types.NamespacedName{Namespace: r.Job.Namespace, Name: r.Job.Name}}, Job: &snapshot.Job{Report: r}, Jobs: &snapshot.Jobs{},
	}
}

// Issue 6, 2 and 3: the pods of a Job in all sizes and looks.
func TestPodsFitEverySize(t *testing.T) {
	goldens(t, "pods.all", podsSnapshot(podReport()), nil, "5", "down", "down", "down")
	goldens(t, "pods.filtered", podsSnapshot(podReport()), nil, "5", "s", "s", "/", "1", "3", "7", "enter")
	goldens(t, "pods.times", podsSnapshot(podReport()), nil, "5", "r")
	goldens(t, "pods.recorded", load(t, "failed-indexes-rule"), nil, "5")
	few := podReport()
	few.PodsOmitted = 1200
	few.Gaps = []input.Gap{{What: "pods", Text: "The pods of the Job could not be read: forbidden", Command: "kubectl auth can-i list pods -n ml"}}
	goldens(t, "pods.gaps", podsSnapshot(few), nil, "5")
	none := podReport()
	none.Pods, none.Counts.Failed = nil, 4
	goldens(t, "pods.none", podsSnapshot(none), nil, "5")
}

// longNamed is podReport for a Job with a name of 63 characters, of which the names of pods have only the start; one more
// cause names no container.
func longNamed() *explain.Report {
	r := podReport()
	r.Job.Name = strings.Repeat("extraordinarily-", 4)[:63]
	for i := range r.Pods {
		r.Pods[i].Name = r.Job.Name[:50] + strings.TrimPrefix(r.Pods[i].Name, "train-large-model")
	}
	r.Pods[1].Cause = "Pod has condition DisruptionTarget"
	withFailures(r)
	r.FailurePolicy.Rules[0].Name = "UnknownParameter"
	return r
}

// Issue 6, 2 and 3: the exit code and the rule are not cut in favor of NODE, COUNTED and TRY, a cause without a container
// does not make the others longer, and the suffix of a long name is shown.
func TestPodsKeepWhatOneLooksFor(t *testing.T) {
	for _, c := range []struct {
		width   int
		header  string
		in, out []string
	}{
		{60, "NAME STATE CAUSE RULE", []string{"-1-zx9qk", "exit 137 OOMKilled", "0 Unknown", "no rule"}, nil},
		{80, "NAME STATE CAUSE RULE", []string{"-1-zx9qk", "exit 137 OOMKilled", "0 UnknownParameter", "condition Disruption", "no rule"}, nil},
		{120, "NAME INDEX STATE CAUSE RULE ACTION WHEN", []string{"-1-zx9qk", "exit 137 OOMKilled", "0 UnknownParameter", "condition DisruptionTarget", "FailIndex"}, nil},
		{160, "NAME INDEX ATTEMPT STATE CAUSE RULE ACTION COUNTED WHEN NODE", []string{"extraordinarily-ext", "-1-zx9qk", "exit 137 OOMKilled", "0 UnknownParameter", "node-a-7"}, nil},
	} {
		b := open(t, podsSnapshot(longNamed()), size{c.width, 24}, nil, "5")
		assert.Equalf(t, b.headers(t), c.header, "%d columns: %s", c.width, b.picture())
		shows(b, append(c.in, "1 succeeded")...)
		hides(b, "(main)", "rule matc", "…ext")
	}
	short := podReport()
	short.Pods[1].Cause = "Container sidecar exited with code 3 while its pod was being deleted"
	withFailures(short)
	for _, width := range []int{60, 80, 120, 160} {
		b := open(t, podsSnapshot(short), size{width, 24}, nil, "5")
		shows(b, "exit 137 OOMKill", "0 OutOf", "no rule", "exit 3 Error")
		if width >= 120 {
			shows(b, "exit 137 OOMKilled (main)")
		}
	}
}

func (b *testbed) podsInOrder() string {
	names := b.names()
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], "train-large-model-")
	}
	return strings.Join(names, " ")
}

// Issue 6, 2: the pods can be sorted and filtered.
func TestPodsAreSortedAndFiltered(t *testing.T) {
	b := open(t, podsSnapshot(podReport()), size{160, 50}, nil, "5")
	for _, c := range []struct{ key, want, mark string }{
		{"", "1-zx9qk 1-abc12 1-q0q0q 3-img00 4-term1 4-term2 2-runs1 0-good1", "by problems ▼"},
		{"S", "0-good1 2-runs1 4-term2 4-term1 3-img00 1-q0q0q 1-abc12 1-zx9qk", "by problems ▲"},
		{"s", "0-good1 1-abc12 1-q0q0q 1-zx9qk 2-runs1 3-img00 4-term1 4-term2", "NAME ▲"},
		{"s", "0-good1 1-q0q0q 1-abc12 1-zx9qk 2-runs1 3-img00 4-term1 4-term2", "INDEX ▲"},
		{"s", "1-abc12 1-q0q0q 3-img00 1-zx9qk 2-runs1 0-good1 4-term1 4-term2", "STATE ▲"},
		{"s", "1-zx9qk 1-abc12 1-q0q0q 3-img00 4-term1 4-term2 2-runs1 0-good1", "WHEN ▲"},
		{"s", "1-zx9qk 1-abc12 1-q0q0q 3-img00 4-term1 4-term2 2-runs1 0-good1", "by problems ▼"},
	} {
		if c.key != "" {
			b.press(c.key)
		}
		assert.Equal(t, b.podsInOrder(), c.want, c.mark)
		b.has(t, c.mark)
	}
	for _, c := range []struct{ text, want string }{
		{"oom", "1-zx9qk"}, {"node-b !running", "3-img00 4-term1 0-good1"}, {"matched", "1-abc12"}, {"ignore", "1-q0q0q"}, {"exit 143", "1-q0q0q"},
	} {
		b.press("/")
		b.write(c.text)
		assert.Equal(t, b.podsInOrder(), c.want, c.text)
		b.press("esc")
	}
	b.press("/", "x", "enter", "esc")
	hides(b, "esc shows all")
	assert.Equal(t, len(b.screens.open), 1, "esc left the screen")
}

// Issue 6, 3: a terminating pod has a countdown, which is marked as bad when it is overdue; r shows the time of day.
func TestTerminatingPodHasACountdown(t *testing.T) {
	b := open(t, podsSnapshot(podReport()), size{160, 50}, nil, "5")
	b.has(t, "4-term1", "ends in 17s", "4-term2", "4m overdue")
	assert.Contains(t, b.marked(), "␛[1;38;2;255;123;114m4m overdue", "overdue is not red")
	b.later(20 * time.Second)
	b.has(t, "4-term1", "3s overdue", "4-term2", "4m20s overdue")
	b.press("r")
	b.has(t, "due at 12:00:17", "due at 11:56:00")
}

// Issue 6, 3 and 5: enter opens the pod under the cursor, l its logs, y copies its name.
func TestEnterOpensAPod(t *testing.T) {
	b := open(t, podsSnapshot(podReport()), size{80, 24}, nil, "5")
	b.View()
	b.press("down", "enter")
	if want := (snapshot.Focus{Job: trainKey(), Pod: "train-large-model-1-abc12"}); !b.focus.looked.Equal(want) {
		t.Errorf("looks at %+v", b.focus.looked)
	}
	b.press("q")
	b.View()
	b.press("G", "l")
	if want := (snapshot.Focus{Job: trainKey(), Pod: "train-large-model-0-good1", Log: &snapshot.LogTarget{}}); !b.focus.looked.Equal(want) {
		t.Errorf("looks at %+v", b.focus.looked)
	}
	b.press("q")
	b.press("y")
	b.has(t, "copied: train-large-model-0-good1")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	b.View()
	b.press("enter")
	assert.Equalf(t, b.focus.looked.Pod, "train-large-model-1-abc12", "looks at %+v", b.focus.looked)
}

// Issue 6: a frame of 10,000 pods that all change takes less than 10 ms, see also BenchmarkFrame.
func BenchmarkPodsFrame(b *testing.B) {
	r := podReport()
	few := r.Pods
	r.Pods = nil
	for i := range 10_000 {
		pod := few[i%len(few)]
		pod.Name = fmt.Sprintf("%s-%05d", pod.Name, i)
		r.Pods = append(r.Pods, pod)
	}
	bed := open(b, podsSnapshot(r), size{160, 50}, nil)
	bed.press("5")
	for b.Loop() {
		next := *r
		bed.send(snapshotMsg{snap: podsSnapshot(&next)})
		bed.View()
	}
}

// Issue 6, 2: after a change of the order the first pod is visible, unless the user has chosen a pod.
func TestPodsSortShowsTheTop(t *testing.T) {
	b := open(t, podsSnapshot(podReport()), size{80, 24}, nil, "5")
	b.press("S", "s")
	if !b.isOnTop() {
		t.Errorf("on %s", b.chosen())
	}
	b.press("down")
	name := b.chosen()
	b.press("S")
	if got := b.chosen(); got != name || b.isOnTop() {
		t.Errorf("%s was chosen, and now %s", name, got)
	}
}
