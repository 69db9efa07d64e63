package cli

import (
	"context"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// attend follows the focus: what is not looked at any more is stopped and forgotten, what is new is begun.
func (s *liveSource) attend(ctx context.Context) error {
	var job, pod, log liveTasks
	for {
		focus, was := s.turn()
		newJob := focus.Job != was.Job
		newPod := newJob || focus.Pod != was.Pod
		if newLog := !focus.Equal(was); newLog {
			log.stop()
		}
		if newPod {
			pod.stop()
		}
		if newJob {
			job.stop()
		}
		started := s.adopt(focus, newJob, newPod)
		if started.job != nil {
			job.start(ctx, s.group, started.job.run)
		}
		if started.pod != nil {
			pod.start(ctx, s.group, started.pod.run)
		}
		if started.log != nil {
			log.start(ctx, s.group, started.log.run)
		}
		select {
		case <-s.looked:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// turn returns the focus that is wanted, and the one that is.
func (s *liveSource) turn() (wanted, is snapshot.Focus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted, s.focus
}

// liveParts are what a focus begins; nil for what goes on, and for nothing.
type liveParts struct {
	job *liveJob
	pod *livePod
	log *liveLog
}

// adopt changes the focus, and returns what has to be started for it.
func (s *liveSource) adopt(focus snapshot.Focus, newJob, newPod bool) liveParts {
	s.mu.Lock()
	defer s.mu.Unlock()
	var parts liveParts
	if focus.Equal(s.focus) {
		return parts
	}
	s.focus = focus
	s.touch()
	if newJob {
		s.job = nil
		if !focus.Job.IsZero() {
			s.job = newLiveJob(s, focus.Job)
			parts.job = s.job
		}
	}
	if newPod {
		s.pod = nil
		if s.job != nil && focus.Pod != "" {
			s.pod = newLivePod(s, focus.Job.Namespace, focus.Pod)
			parts.pod = s.pod
		}
	}
	s.log = nil
	if s.pod != nil && focus.Log != nil {
		s.log = newLiveLog(s, s.pod, *focus.Log)
		parts.log = s.log
	}
	return parts
}
