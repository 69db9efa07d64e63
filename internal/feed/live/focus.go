package live

import (
	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// The parts of a focus: each belongs to the one before.
const (
	partJob = iota
	partPod
	partLog
	parts
)

// attend follows the focus: what is not looked at anymore is stopped and forgotten, what is new is begun.
func (s *Source) attend(ctx context.Context) error {
	var running [parts]tasks
	for {
		focus, was := s.turn()
		first := firstChange(focus, was)
		for part := parts - 1; part >= first; part-- {
			running[part].stop()
		}
		for part, run := range s.adopt(focus, first) {
			if run != nil {
				running[part].start(ctx, s, run)
			}
		}
		select {
		case <-s.looked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// turn returns the focus that is wanted, and the one that is.
func (s *Source) turn() (wanted, is snapshot.Focus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted, s.focus
}

// firstChange is the first part that is another one; parts for none.
func firstChange(focus, was snapshot.Focus) int {
	switch {
	case focus.Job != was.Job:
		return partJob
	case focus.Pod != was.Pod:
		return partPod
	case !focus.Equal(was):
		return partLog
	}
	return parts
}

// adopt changes the focus, from its first change on, and returns what has to be started for each part; nil for nothing.
func (s *Source) adopt(focus snapshot.Focus, first int) (run [parts]func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first == parts {
		return run
	}
	s.focus, s.log = focus, nil
	s.touch()
	if first == partJob {
		s.job = nil
		if !focus.Job.IsZero() {
			s.job = newOpenJob(s, focus.Job)
			run[partJob] = s.job.run
		}
	}
	if first <= partPod {
		s.pod = nil
		if s.job != nil && focus.Pod != "" {
			s.pod = newOpenPod(s, focus.Job.Namespace, focus.Pod)
			run[partPod] = s.pod.run
		}
	}
	if s.pod != nil && focus.Log != nil {
		s.log = s.OpenLog(focus.Job.Namespace, *focus.Log, s.touch)
		s.log.SetPod(s.pod.state)
		run[partLog] = s.log.Run
	}
	return run
}
