package tui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/pods"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// podDetail returns a pod with several containers.
func podDetail() *explain.PodDetail {
	return &explain.PodDetail{
		Name: "train-large-model-1-zx9qk", Node: "node-a-7", Phase: "Failed", State: "OOMKilled", Created: ago(4 * time.Minute),
		Containers: []explain.ContainerInfo{
			{Name: "fetch", Init: true, Image: "registry.example/fetch:3", Now: explain.ContainerRun{State: "Terminated", Reason: "Completed", ExitCode: ptr.To[int32](0), Started: ago(4 * time.Minute), Ended: ago(230 * time.Second)}},
			{
				Name: "main", Default: true, Image: "registry.example/train:2026-11", Restarts: 1,
				Now:    explain.ContainerRun{State: "Terminated", Reason: "OOMKilled", ExitCode: ptr.To[int32](137), Signal: "SIGKILL", Message: "step 12000: loss is NaN\n\tgiving up\n", Started: ago(220 * time.Second), Ended: ago(3 * time.Minute)},
				Before: &explain.ContainerRun{State: "Terminated", Reason: "Error", ExitCode: ptr.To[int32](1), Started: ago(4 * time.Minute), Ended: ago(225 * time.Second)},
			},
			{Name: "proxy", Image: "registry.example/proxy:1", Now: explain.ContainerRun{State: "Waiting", Reason: "ImagePullBackOff", Message: "Back-off pulling image \"registry.example/proxy:1\""}},
		},
		Conditions: []explain.Condition{
			{Type: "PodScheduled", Status: "True", Since: ago(4 * time.Minute)},
			{Type: "ContainersReady", Status: "False", Reason: "PodFailed", Since: ago(3 * time.Minute)},
		},
		Events: []explain.PodEvent{
			{First: *ago(4 * time.Minute), Last: *ago(4 * time.Minute), Count: 1, Reason: "Scheduled", Message: "Successfully assigned ml/train-large-model-1-zx9qk to node-a-7", Source: "default-scheduler"},
			{First: *ago(3 * time.Minute), Last: *ago(time.Minute), Count: 12, Warning: true, Reason: "BackOff", Message: "Back-off pulling image \"registry.example/proxy:1\": ErrImagePull: not found", Source: "kubelet, node-a-7"},
		},
	}
}

// podSnapshot returns the Snapshot of a Source after the first pod of the tab Pods was opened.
func podSnapshot(detail *explain.PodDetail, log *snapshot.Log) *snapshot.Snapshot {
	s := podsSnapshot(podReport())
	s.Focus.Pod = "train-large-model-1-zx9qk"
	s.Pod, s.Log = detail, log
	return s
}

// Issue 6, 3: the pod screen in all sizes and looks.
func TestPodFitsEverySize(t *testing.T) {
	goldens(t, "pod.attempts", podSnapshot(podDetail(), nil), nil, "5", "enter")
	goldens(t, "pod.events", podSnapshot(podDetail(), nil), nil, "5", "enter", "3")
	goldens(t, "pod.waiting", podSnapshot(nil, nil), nil, "5", "enter")
	goldens(t, "pod.other-attempt", podSnapshot(podDetail(), nil), nil, "5", "enter", "down")
	goldens(t, "pod.recorded", loadPod(t, "failed-indexes", 0), nil, "5", "enter")
	goldens(t, "pod.nonindexed", loadPod(t, "backoff-limit-oom", 0), nil, "5", "enter")
	gone := podDetail()
	gone.Gone = true
	gone.Gaps = []input.Gap{{What: "events", Text: "The events of the pod could not be read: forbidden"}}
	r := podReport()
	r.Pods = r.Pods[3:]
	s := podSnapshot(gone, nil)
	s.Job.Report = r
	goldensOf(t, "pod.gone", s, func(b *testbed) { b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](1))) })
	goldensOf(t, "pod.index-gone", podsSnapshot(r), func(b *testbed) { b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](5))) })
	goldensOf(t, "pod.index-no-pod", podsSnapshot(r), func(b *testbed) { b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](7))) })
}

// push opens a screen as an action does.
func (b *testbed) push(s screen.Screen) {
	b.act(screen.Action{Open: s})
	b.send(tickMsg(b.now))
}

// goldensOf is like goldens, for a screen that no keys open.
func goldensOf(t *testing.T, name string, s *snapshot.Snapshot, lead func(*testbed)) {
	t.Helper()
	draw := func(at size, ascii bool) string {
		b := open(t, s, at, func(o *Options) { o.ASCII = ascii })
		lead(b)
		checkFrame(t, b, at)
		return b.picture()
	}
	for _, at := range sizes {
		golden(t, name+"."+at.String(), draw(at, false))
	}
	golden(t, name+".ascii", draw(size{80, 24}, true))
}

// Issue 6, 3: moving the cursor in the attempts changes the pod in focus, and the log is read only while it is shown.
func TestCursorChangesThePod(t *testing.T) {
	b := open(t, podSnapshot(podDetail(), nil), size{80, 24}, nil)
	b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](1)))
	pod := func(suffix string, log *snapshot.LogTarget) snapshot.Focus {
		return snapshot.Focus{Job: trainKey(), Pod: "train-large-model-" + suffix, Log: log}
	}
	current, sidecar := &snapshot.LogTarget{}, &snapshot.LogTarget{Container: "proxy"}
	for i, c := range []struct {
		key  string
		want snapshot.Focus
	}{
		{"", pod("1-zx9qk", nil)},
		{"down", pod("1-abc12", nil)},
		{"j", pod("1-q0q0q", nil)},
		{"[", pod("1-q0q0q", nil)},
		{"up", pod("1-abc12", nil)},
		{"l", pod("1-abc12", current)},
		{"]", pod("1-zx9qk", current)},
		{"]", pod("1-zx9qk", current)},
		{"down", pod("1-zx9qk", current)},
		{"p", pod("1-zx9qk", &snapshot.LogTarget{Previous: true})},
		{"p", pod("1-zx9qk", current)},
		{"c", pod("1-zx9qk", sidecar)},
		{"p", pod("1-zx9qk", &snapshot.LogTarget{Container: "proxy", Previous: true})},
		{"c", pod("1-zx9qk", &snapshot.LogTarget{Container: "fetch", Previous: true})},
		{"3", pod("1-zx9qk", nil)},
		{"shift+tab", pod("1-zx9qk", &snapshot.LogTarget{Container: "fetch", Previous: true})},
		{"[", pod("1-abc12", current)},
		{"1", pod("1-abc12", nil)},
		{"right", pod("1-abc12", current)},
		{"tab", pod("1-abc12", nil)},
		{"k", pod("1-zx9qk", nil)},
	} {
		if c.key != "" {
			b.press(c.key)
			b.View()
		}
		if !b.focus.looked.Equal(c.want) {
			t.Fatalf("%d: after %q it looks at %+v %+v, want %+v %+v", i, c.key, b.focus.looked, b.focus.looked.Log, c.want, c.want.Log)
		}
	}
	b.press("e")
	assert.Equalf(t, b.screens.top().Crumb(), "Explain", "e opens %T", b.screens.top())
	b.press("q", "y")
	b.has(t, "copied: train-large-model-1-zx9qk")
}

// Issue 6, 3: with a single pod the arrows scroll, like the other scroll keys.
func TestPodScrollsByTheArrows(t *testing.T) {
	b := open(t, podSnapshot(podDetail(), nil), size{60, 20}, nil)
	b.push(pods.NewScreen(trainKey(), "train-large-model-1-zx9qk", nil))
	b.has(t, "train-large-model-1-zx9qk  ✗ OOMKilled", "Init container fetch")
	b.press("down", "down", "down", "j", "j")
	hides(b, "Init container fetch")
	b.press("G")
	b.has(t, "ContainersReady")
	b.press("g")
	b.has(t, "Init container fetch")
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	b.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	hides(b, "Init container fetch")
}

// Issue 6, 3: data of a pod or Job other than the requested one is not shown.
func TestOtherPodIsNotShown(t *testing.T) {
	other := podDetail()
	other.Name, other.Containers = "train-large-model-9-other", nil
	b := open(t, podSnapshot(other, someLog(3)), size{80, 24}, nil)
	b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](1)))
	b.has(t, "Reading pod train-large-model-1-zx9qk")
	b.press("3")
	b.has(t, "Reading the events of pod train-large-model-1-zx9qk")
	b.press("[", "2")
	b.has(t, "Reading the log of pod train-large-model-1-abc12")
	hides(b, "step 1")
	b.push(pods.NewScreen(types.NamespacedName{Namespace: "ml", Name: "other"}, "x", nil))
	b.has(t, "Reading job ml/other")
	b.press("down", "[", "c", "p", "2", "3", "1")
	b.View()
}

// Issue 6, 3: a pod that is deleted while it is shown stays in the list, marked; a new attempt is inserted above, and the
// cursor stays on its attempt.
func TestPodAttemptsComeAndGo(t *testing.T) {
	b := open(t, podSnapshot(podDetail(), nil), size{160, 50}, nil)
	b.push(pods.NewScreen(trainKey(), "train-large-model-1-abc12", ptr.To[int32](1)))
	next := podSnapshot(podDetail(), nil)
	next.Seq = 2
	fresh := next.Job.Report.Pods[0]
	fresh.Name, fresh.Attempt, fresh.Created, fresh.State, fresh.Phase = "train-large-model-1-fresh", 4, ago(0), "Running", "Running"
	next.Job.Report.Pods = append([]explain.PodInfo{fresh, next.Job.Report.Pods[0]}, next.Job.Report.Pods[2:]...)
	b.send(snapshotMsg{snap: next})
	b.has(t, "1-fresh", "1-zx9qk", "▌       2  · gone, was Error", "1-abc12", "1-q0q0q")
	assert.Equal(t, b.focus.looked.Pod, "train-large-model-1-abc12", "looks at")
	b.press("1")
	b.has(t, "The pod is gone.", "Part of these failures")
}

// Issue 6, 3: a pod that is not in the Report is shown as gone only if the Report has all pods.
func TestMissingPodIsGoneInACompleteReport(t *testing.T) {
	for _, c := range []struct {
		change func(*explain.Report)
		gone   bool
	}{
		{func(*explain.Report) {}, true},
		{func(r *explain.Report) { r.PodsOmitted = 3 }, false},
		{func(r *explain.Report) { r.Gaps = []input.Gap{{What: "pods", Text: "no"}} }, false},
		{func(r *explain.Report) { r.Gaps = []input.Gap{{What: "events", Text: "no"}} }, true},
	} {
		s := podSnapshot(nil, nil)
		s.Job.Report.Pods = s.Job.Report.Pods[3:]
		c.change(s.Job.Report)
		b := open(t, s, size{80, 24}, nil)
		b.push(pods.NewScreen(trainKey(), "", ptr.To[int32](1)))
		if c.gone {
			b.has(t, "· gone", "The pod is gone.", "Its last failure: Container main exited with code 137")
		} else {
			b.has(t, "not in the list", "Reading pod train-large-model-1-zx9qk")
			hides(b, "gone")
		}
	}
}
