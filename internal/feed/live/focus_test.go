package live

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

type noLog struct{ set []PodState }

func (l *noLog) Run(context.Context) error { return nil }
func (l *noLog) SetPod(p PodState)         { l.set = append(l.set, p) }
func (l *noLog) Snapshot() *snapshot.Log   { return nil }

// Issue 6.6: data out of focus is dropped, and a new log receives the state of its pod.
func TestFocusForgetsWhatIsNotLookedAt(t *testing.T) {
	log := &noLog{}
	config := testConfig()
	config.OpenLog = func(string, snapshot.LogTarget, func() FailedPods, func()) Log { return log }
	s := NewSource(config)
	job := types.NamespacedName{Namespace: "ns1", Name: "train"}
	s.apply(snapshot.Focus{Job: job, Pod: "train-a"}, partJob)
	s.pod.state = PodState{Read: true, Node: "node-1"}
	s.apply(snapshot.Focus{Job: job, Pod: "train-a", Log: &snapshot.LogTarget{}}, partLog)
	if s.job == nil || s.log == nil || len(log.set) != 1 || log.set[0] != s.pod.state {
		t.Errorf("job %v, log %v, pod states %+v", s.job, s.log, log.set)
	}
	s.apply(snapshot.Focus{}, partJob)
	if s.job != nil || s.pod != nil || s.log != nil {
		t.Errorf("kept: job %v, pod %v, log %v", s.job, s.pod, s.log)
	}
}
