package demo

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

const (
	// maxLines is the maximum number of lines of a log, and tails the number of logs in the evidence, with tailLines
	// each.
	maxLines  = 500
	tails     = 2
	tailLines = 5
)

// log returns the last lines of the pod's container: one for each second, and why it failed.
func (s *Source) log(job string, pod *corev1.Pod) (lines []snapshot.LogLine) {
	started := s.started[pod.UID]
	if started.IsZero() {
		return nil
	}
	index, until, failed := max(observe.CompletionIndex(pod), 0), s.world.Now(), false
	for _, status := range pod.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			until, failed = ended.FinishedAt.Time, ended.ExitCode != 0 && pod.DeletionTimestamp == nil
		}
	}
	last := int(until.Sub(started) / time.Second)
	for n := max(last-maxLines, 0); n <= last; n++ {
		lines = append(lines, snapshot.LogLine{Time: started.Add(time.Duration(n) * time.Second), Text: s.parts[job].line(index, n)})
	}
	if failed {
		for _, text := range s.parts[job].failure {
			lines = append(lines, snapshot.LogLine{Time: until, Text: text})
		}
	}
	return lines
}

// tail returns the end of a log, for the evidence.
func (s *Source) tail(job string, pod *corev1.Pod) explain.LogTail {
	tail := explain.LogTail{Pod: pod.Name, Container: pod.Spec.Containers[0].Name}
	lines := s.log(job, pod)
	for _, line := range lines[max(len(lines)-tailLines, 0):] {
		tail.Lines = append(tail.Lines, line.Text)
	}
	return tail
}
