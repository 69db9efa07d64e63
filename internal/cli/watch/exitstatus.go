package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// exitStatus decides when --exit-status ends the command, and its result.
type exitStatus struct {
	names []string
	label func(types.NamespacedName) string

	jobs map[types.NamespacedName]*explain.Outline // as last seen
	// failed only grows: a later Job of the same name does not undo a failure.
	failed sets.Set[string]
	lost   []string
	list   *snapshot.Jobs
}

// observe processes a Snapshot, and reports whether the command can end.
func (e *exitStatus) observe(s *snapshot.Snapshot) bool {
	if s.Jobs == nil || s.Jobs == e.list {
		return e.done()
	}
	first := e.list == nil
	e.list = s.Jobs
	if first {
		e.jobs, e.failed = map[types.NamespacedName]*explain.Outline{}, sets.New[string]()
	}
	present := map[types.NamespacedName]*explain.Outline{}
	for i := range s.Jobs.Items {
		present[feed.KeyOfOutline(&s.Jobs.Items[i])] = &s.Jobs.Items[i]
	}
	for key, before := range e.jobs {
		if now := present[key]; !hasFinished(before) && (now == nil || now.UID != before.UID) {
			e.leave(key, func(o explain.Outline) bool { return o.UID == before.UID })
		}
	}
	for key, job := range present {
		e.take(key, job)
	}
	if first {
		e.missing()
	}
	return e.done()
}

// hasFinished reports whether the Job had finished when last seen, which may be in its deletion event.
func hasFinished(o *explain.Outline) bool { return o.Outcome.IsFinished() }

// take records the state of a Job.
func (e *exitStatus) take(key types.NamespacedName, job *explain.Outline) {
	e.jobs[key] = job
	if job.Outcome == reconcile.OutcomeFailed {
		e.failed.Insert(e.label(key))
	}
}

// leave records that a Job is gone, and whether it had finished.
func (e *exitStatus) leave(key types.NamespacedName, is func(explain.Outline) bool) {
	if i := slices.IndexFunc(e.list.Gone, is); i >= 0 && hasFinished(&e.list.Gone[i]) {
		e.take(key, &e.list.Gone[i])
		return
	}
	e.lost = append(e.lost, e.label(key)+" was deleted before it was seen to finish")
	delete(e.jobs, key)
}

// missing records named Jobs that were gone before the first list.
func (e *exitStatus) missing() {
	for _, name := range e.names {
		is := func(o explain.Outline) bool { return o.Name == name }
		if !slices.ContainsFunc(e.list.Items, is) {
			e.leave(types.NamespacedName{Name: name}, is)
		}
	}
}

func (e *exitStatus) done() bool {
	if len(e.lost) > 0 {
		return true
	}
	for _, job := range e.jobs {
		if !hasFinished(job) {
			return false
		}
	}
	return len(e.jobs) > 0
}

// result returns nil if all Jobs are complete.
func (e *exitStatus) result() error {
	switch {
	case len(e.lost) > 0:
		slices.Sort(e.lost)
		return cmdutil.NewUserError(cmdutil.KindNotFound, nil, strings.Join(e.lost, "; "), "")
	case !e.done():
		return fmt.Errorf("quit before the end: %w", context.Canceled)
	case len(e.failed) > 0:
		return cmdutil.JobFailed(sets.List(e.failed))
	}
	return nil
}
