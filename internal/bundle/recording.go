package bundle

import (
	"bytes"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// maxShown is how many logs a recording opens, and shownFor how long it shows each.
const (
	maxShown = 20
	shownFor = 3 * time.Second
)

// record writes a recording that shows the Job, and then the logs with their pods one after the other. It ends before the
// recording exceeds most bytes.
func record(out *bytes.Buffer, most int, c *Contents, input *input.Input, report *explain.Report) error {
	taken := c.Manifest.Taken.Time
	outline := analysis.OutlineOf(input.Job, input.RuleNames, taken)
	jobs, job := &snapshot.Jobs{Items: []explain.Outline{outline}}, &snapshot.Job{Report: report}
	focus := snapshot.Focus{Job: types.NamespacedName{Namespace: c.Manifest.Namespace, Name: c.Manifest.Name}}
	all := []*snapshot.Snapshot{{Seq: 1, Time: taken, Focus: focus, Jobs: jobs, Job: job}}
	for i := range c.Logs[:min(len(c.Logs), maxShown)] {
		log := &c.Logs[i]
		at := slices.IndexFunc(c.Pods, func(pod corev1.Pod) bool { return pod.Name == log.Pod })
		if at < 0 {
			continue
		}
		detail := explain.PodDetailOf(&c.Pods[at], input.Events)
		target := snapshot.LogTarget{Container: log.Container, Previous: log.Previous}
		lines := &snapshot.Log{Target: target, Container: log.Container, Ended: true}
		for _, text := range log.Lines {
			lines.Lines = append(lines.Lines, snapshot.LogLine{Text: text})
		}
		focus.Pod, focus.Log = log.Pod, &target
		n := len(all)
		all = append(all, &snapshot.Snapshot{
			Seq: uint64(n + 1), Time: taken.Add(time.Duration(n) * shownFor), Focus: focus, Jobs: jobs, Job: job, Pod: &detail, Log: lines,
		})
	}
	recorder := snapshot.NewRecorder(&slides{all: all}, out, "bundle of "+taken.UTC().Format(time.RFC3339))
	for range all {
		complete := out.Len()
		if _, err := recorder.Next(context.Background(), 0); err != nil {
			return err
		}
		if out.Len() > most {
			out.Truncate(complete)
			return nil
		}
	}
	return nil
}

// slides is a Source that returns given Snapshots.
type slides struct {
	snapshot.Source
	all []*snapshot.Snapshot
}

// Next implements snapshot.Source.
func (s *slides) Next(context.Context, uint64) (*snapshot.Snapshot, error) {
	next := s.all[0]
	s.all = s.all[1:]
	return next, nil
}
