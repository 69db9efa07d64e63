package live

import (
	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// The parts of a focus; each belongs to the previous one.
const (
	partJob = iota
	partPod
	partLog
	parts
)

// followFocus follows the focus: it stops watching what is out of focus and starts watching what is newly in focus.
func (s *Source) followFocus(ctx context.Context) error {
	var running [parts]tasks
	for {
		s.mu.Lock()
		focus, was := s.wanted, s.focus
		s.mu.Unlock()
		first := firstChange(focus, was)
		for part := parts - 1; part >= first; part-- {
			running[part].stop()
		}
		for part, run := range s.apply(focus, first) {
			if run != nil {
				running[part].start(ctx, s, run)
			}
		}
		select {
		case <-s.focusChanged:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// firstChange returns the first part that differs; parts if none does.
func firstChange(focus, was snapshot.Focus) int {
	switch {
	case focus.Job != was.Job || focus.CronJob != was.CronJob:
		return partJob
	case focus.Pod != was.Pod:
		return partPod
	case !focus.Equal(was):
		return partLog
	}
	return parts
}

// apply changes the focus from the part first on, and returns for each part the function to run; nil for none.
func (s *Source) apply(focus snapshot.Focus, first int) (run [parts]func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first == parts {
		return run
	}
	s.focus, s.log = focus, nil
	s.touch()
	if first == partJob {
		s.job, s.cronJob = nil, nil
		if focus.Job.Name != "" {
			s.job = &openJob{source: s, key: focus.Job}
			run[partJob] = s.job.run
		} else if focus.CronJob.Name != "" {
			s.cronJob = &openCronJob{source: s, key: focus.CronJob, changes: make(chan struct{}, 1)}
			run[partJob] = s.cronJob.run
		}
	}
	if first <= partPod {
		s.pod = nil
		if s.job != nil && focus.Pod != "" {
			s.pod = &openPod{source: s, namespace: focus.Job.Namespace, name: focus.Pod, changes: make(chan struct{}, 1)}
			run[partPod] = s.pod.run
		}
	}
	if focus.Log != nil && (s.pod != nil || s.job != nil && focus.Log.Failed) {
		s.log = s.OpenLog(focus.Job.Namespace, *focus.Log, s.failedPods, s.touch)
		run[partLog] = s.log.Run
	}
	if s.pod != nil && s.log != nil {
		s.log.SetPod(s.pod.state)
	}
	return run
}
