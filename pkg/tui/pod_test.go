package tui

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// podDetail is a pod with several containers.
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

// openPod opens the first pod of the tab Pods, as the Source answers it.
func podSnapshot(detail *explain.PodDetail, log *snapshot.Log) *snapshot.Snapshot {
	s := podsSnapshot(podReport())
	s.Focus.Pod = "train-large-model-1-zx9qk"
	s.Pod, s.Log = detail, log
	return s
}

// Issue 6, 3: the pod screen in all sizes and looks.
func TestPodGoldens(t *testing.T) {
	goldens(t, "pod.attempts", podSnapshot(podDetail(), nil), nil, "5", "enter")
	goldens(t, "pod.events", podSnapshot(podDetail(), nil), nil, "5", "enter", "3")
	goldens(t, "pod.waiting", podSnapshot(nil, nil), nil, "5", "enter")
	goldens(t, "pod.other-attempt", podSnapshot(podDetail(), nil), nil, "5", "enter", "down")
	goldens(t, "pod.recorded", loadPod(t, "failed-indexes", 0), nil, "5", "enter")
	goldens(t, "pod.nonindexed", loadPod(t, "backoff-limit-oom", 0), nil, "5", "enter")
	gone := podDetail()
	gone.Gone = true
	gone.Gaps = []explain.Gap{{What: "events", Text: "The events of the pod could not be read: forbidden"}}
	r := podReport()
	r.Pods = r.Pods[3:]
	s := podSnapshot(gone, nil)
	s.Job.Report = r
	index := func(s *snapshot.Snapshot, at int32) func(*Options) { return nil }
	_ = index
	goldensOf(t, "pod.gone", s, func(b *testbed) { b.push(newPodScreen(trainKey(), "", ptr.To[int32](1))) })
	goldensOf(t, "pod.index-gone", podsSnapshot(r), func(b *testbed) { b.push(newPodScreen(trainKey(), "", ptr.To[int32](5))) })
	goldensOf(t, "pod.index-no-pod", podsSnapshot(r), func(b *testbed) { b.push(newPodScreen(trainKey(), "", ptr.To[int32](7))) })
}

// push opens a screen as an action does.
func (b *testbed) push(s screen) {
	b.act(action{open: s})
	b.send(tickMsg(b.now))
}

// goldensOf is goldens for a screen that no keys lead to.
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
