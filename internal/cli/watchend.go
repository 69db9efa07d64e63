package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// watchedEnd is what --exit-status waits for: the end of all Jobs that were seen.
type watchedEnd struct {
	names []string
	label func(snapshot.JobKey) string

	jobs map[snapshot.JobKey]*explain.Outline
	lost []string
	list *snapshot.Jobs
}

// observe takes what is shown, and says that nothing more is waited for.
func (e *watchedEnd) observe(s *snapshot.Snapshot) bool {
	if s.Jobs == nil || s.Jobs == e.list {
		return e.done()
	}
	e.list = s.Jobs
	if e.jobs == nil {
		e.jobs = map[snapshot.JobKey]*explain.Outline{}
	}
	present := map[snapshot.JobKey]bool{}
	for i := range s.Jobs.Items {
		job := &s.Jobs.Items[i]
		key := snapshot.JobKey{Namespace: job.Namespace, Name: job.Name}
		present[key] = true
		if before := e.jobs[key]; before != nil && before.UID != job.UID && !isEnd(before.Fate) {
			e.lose(key, "was deleted before it was seen to end, and another was created")
		}
		e.jobs[key] = job
	}
	for key, job := range e.jobs {
		if !present[key] && !isEnd(job.Fate) {
			e.lose(key, "was deleted before it was seen to end")
		}
	}
	return e.done()
}

func (e *watchedEnd) lose(key snapshot.JobKey, how string) {
	e.lost = append(e.lost, e.label(key)+" "+how)
	delete(e.jobs, key)
}

func isEnd(f explain.Fate) bool { return f == explain.FateComplete || f == explain.FateFailed }

func (e *watchedEnd) done() bool {
	if len(e.lost) > 0 {
		return true
	}
	if len(e.jobs) < max(1, len(e.names)) {
		return false
	}
	for _, job := range e.jobs {
		if !isEnd(job.Fate) {
			return false
		}
	}
	return true
}

// result is nil if all are complete.
func (e *watchedEnd) result() error {
	if len(e.lost) > 0 {
		slices.Sort(e.lost)
		return newUserError(kindNotFound, nil, strings.Join(e.lost, "; "), "")
	}
	var failed []string
	for key, job := range e.jobs {
		if job.Fate == explain.FateFailed {
			failed = append(failed, e.label(key))
		}
	}
	switch {
	case !e.done():
		return fmt.Errorf("left before the end: %w", context.Canceled)
	case len(failed) > 0:
		slices.Sort(failed)
		return jobFailed(failed)
	}
	return nil
}
