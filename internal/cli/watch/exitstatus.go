package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// exitStatus decides when --exit-status ends the command, and its result.
type exitStatus struct {
	names []string
	words follow.Words

	// jobs are all Jobs seen so far, by UID: a later Job of the same name does not undo a failure.
	jobs map[string]follow.Ended
	list *snapshot.Jobs
	done bool
	// behind is the number of Snapshots so far whose explanation is older than the end of the Jobs.
	behind int
}

// maxBehind limits how many Snapshots the end of the command waits for an explanation, which cannot be renewed if reads fail.
const maxBehind = 5

// observe processes a Snapshot, and reports whether the command can end: the Jobs have ended, and so has the one that the screen, or
// a recording, explains.
func (e *exitStatus) observe(s *snapshot.Snapshot) bool {
	if s.Jobs != nil && s.Jobs != e.list {
		e.update(s.Jobs)
	}
	if e.done && e.isBehind(s.Job) && e.behind < maxBehind {
		e.behind++
		return false
	}
	return e.done
}

// isBehind reports whether the explanation of a Job is from before its end.
func (e *exitStatus) isBehind(job *snapshot.Job) bool {
	if job == nil || job.Report == nil || job.Gone || job.Report.Verdict.Outcome.IsFinished() {
		return false
	}
	return e.jobs[job.Report.Job.UID].Outcome.IsFinished()
}

// update processes a list of Jobs.
func (e *exitStatus) update(list *snapshot.Jobs) {
	first, present := e.list == nil, map[string]bool{}
	e.list = list
	if first {
		e.jobs = map[string]follow.Ended{}
	}
	for i := range list.Items {
		o := &list.Items[i]
		present[o.UID] = true
		e.record(o)
	}
	for uid, job := range e.jobs {
		if job.Outcome == "" && !present[uid] {
			e.leave(uid, job, func(o explain.Outline) bool { return o.UID == uid })
		}
	}
	for _, name := range e.names {
		is := func(o explain.Outline) bool { return o.Name == name }
		if first && !slices.ContainsFunc(list.Items, is) {
			e.leave(name, follow.Ended{NamespacedName: types.NamespacedName{Name: name}}, is)
		}
	}
	open, lost := false, false
	for _, job := range e.jobs {
		open = open || job.Outcome == ""
		lost = lost || job.Outcome == feed.Deleted
	}
	e.done = len(e.jobs) > 0 && !open || lost
}

// record records the state of a Job.
func (e *exitStatus) record(o *explain.Outline) {
	job := follow.Ended{NamespacedName: feed.KeyOfOutline(o)}
	if o.Outcome.IsFinished() {
		job.Outcome = o.Outcome
	}
	e.jobs[o.UID] = job
}

// leave records that a Job is gone; its deletion event may show that it had finished.
func (e *exitStatus) leave(uid string, job follow.Ended, is func(explain.Outline) bool) {
	if i := slices.IndexFunc(e.list.Gone, is); i >= 0 && e.list.Gone[i].Outcome.IsFinished() {
		e.record(&e.list.Gone[i])
		return
	}
	job.Outcome = feed.Deleted
	e.jobs[uid] = job
}

// result returns nil if all Jobs are complete.
func (e *exitStatus) result() error {
	if !e.done {
		return fmt.Errorf("quit before the end: %w", context.Canceled)
	}
	return e.words.Result(e.ends())
}

// ends returns the Jobs by name.
func (e *exitStatus) ends() []follow.Ended {
	return slices.SortedFunc(maps.Values(e.jobs), func(a, b follow.Ended) int {
		return feed.CompareKeys(a.NamespacedName, b.NamespacedName)
	})
}
