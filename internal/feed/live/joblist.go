package live

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// unreadable is the status of a Job that cannot be decoded.
const unreadable = "Unreadable"

// maxGoneJobs is how many deleted Jobs are kept.
const maxGoneJobs = 1000

// jobList is the list of Jobs; for each Job it keeps only what its row shows.
type jobList struct {
	source    *Source
	stalls    feed.Stalls
	firstRead chan struct{} // notified when the list was read for the first time

	// guarded by source.mu
	rows       []jobRow          // by namespace and name
	gone       []explain.Outline // only appended to and cut at the front: Snapshots share it
	read       bool
	dirty      bool           // rows changed since shown was made
	shown      *snapshot.Jobs // nil until the list was read
	hasRunning bool           // whether a Job of shown has not finished
	only       onlyJob        // for a list of one name
}

type jobRow struct {
	outline explain.Outline
	open    *observe.NamedJob // set if the Job may be or become stalled, or has failures
}

// followJobs follows the list. It returns an error if the first list fails, or if none of the names exists.
func (s *Source) followJobs(ctx context.Context) error {
	watch := feed.Watch{Connection: s.link.Open(), RetryAfter: feed.UnwatchedRetry, OnRefusal: s.list.onRefusal}
	jobs := &feed.Jobs{Watch: watch, Set: s.Set, OnUpdates: s.list.apply}
	first, err := jobs.First(ctx)
	if err != nil {
		return err
	}
	if missing := s.Set.Missing(first); len(first) == 0 && len(missing) > 0 {
		return errors.Join(missing...)
	}
	return jobs.Run(ctx)
}

// apply applies updates of Jobs. A Job may have finished just before its deletion.
func (l *jobList) apply(updates []feed.Update) error {
	rows := make([]jobRow, len(updates))
	for i := range updates {
		if job := updates[i].Job; job != nil {
			rows[i] = l.rowOf(job)
		}
	}
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	for i := range updates {
		l.applyOne(&updates[i], rows[i])
	}
	if len(l.source.Set.Names) == 1 {
		l.only.put(updates)
	}
	if len(updates) > 0 || !l.read {
		if !l.read {
			notify(l.firstRead)
		}
		l.read, l.dirty = true, true
		l.source.jobsChanged()
		l.source.touch()
	}
	return nil
}

// applyOne applies the update of one Job. The caller holds source.mu.
func (l *jobList) applyOne(update *feed.Update, row jobRow) {
	i, found := slices.BinarySearchFunc(l.rows, update.Key, func(row jobRow, key types.NamespacedName) int {
		return feed.CompareKeys(feed.KeyOfOutline(&row.outline), key)
	})
	switch {
	case update.Gone == "" && found:
		l.rows[i] = row
	case update.Gone == "":
		l.rows = slices.Insert(l.rows, i, row)
	default:
		if found {
			if update.Job == nil {
				row = l.rows[i]
			}
			l.rows = slices.Delete(l.rows, i, i+1)
		}
		l.gone = append(l.gone, row.outline)
		l.gone = l.gone[max(0, len(l.gone)-maxGoneJobs):]
	}
}

// rowOf returns the row of a Job; if the Job cannot be decoded, the row has at least its name.
func (l *jobList) rowOf(object *unstructured.Unstructured) jobRow {
	now := l.source.Now()
	job, err := feed.NamedJob(object)
	if err != nil {
		return jobRow{outline: explain.Outline{Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()), Status: unreadable}}
	}
	if analysis.MayStall(&job.Job) || analysis.LacksPods(&job.Job) || analysis.HasFailures(&job.Job) {
		return jobRow{open: job, outline: l.stalls.Outline(&job.Job, job.RuleNames, now)}
	}
	return jobRow{outline: analysis.OutlineOf(&job.Job, job.RuleNames, now)}
}

// followStalls keeps the stalled states of the Jobs up to date.
func (s *Source) followStalls(ctx context.Context) error {
	l := &s.list
	return l.stalls.Run(ctx, l.firstRead, l.openJobs, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.refreshRows(s.link.AsOf(s.Now()))
		s.jobsChanged()
		s.touch()
		return nil
	})
}

// openJobs returns the Jobs that may be stalled or have failures.
func (l *jobList) openJobs() []*batchv1.Job {
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	var jobs []*batchv1.Job
	for i := range l.rows {
		if job := l.rows[i].open; job != nil {
			jobs = append(jobs, &job.Job)
		}
	}
	return jobs
}

// snapshot returns the current list, and the previous value if nothing has changed. The caller holds source.mu.
func (l *jobList) snapshot() *snapshot.Jobs {
	if !l.dirty || !l.read {
		return l.shown
	}
	l.dirty, l.hasRunning = false, false
	items := make([]explain.Outline, len(l.rows))
	for i := range l.rows {
		items[i] = l.rows[i].outline
		l.hasRunning = l.hasRunning || !items[i].Outcome.IsFinished()
	}
	l.shown = &snapshot.Jobs{Items: items, Gone: l.gone[:len(l.gone):len(l.gone)], Gaps: l.stalls.Gaps()}
	return l.shown
}

// refreshRows updates the rows of Jobs that may be stalled or have failures, after time has passed or more evidence was read.
// The caller holds source.mu.
func (l *jobList) refreshRows(now time.Time) {
	for i := range l.rows {
		row := &l.rows[i]
		if row.open == nil {
			continue
		}
		again := l.stalls.Outline(&row.open.Job, row.open.RuleNames, now)
		if !reflect.DeepEqual(again, row.outline) {
			row.outline, l.dirty = again, true
		}
	}
	if l.shown != nil && !slices.Equal(l.shown.Gaps, l.stalls.Gaps()) {
		l.dirty = true
	}
}

// onlyJob is the Job of a list that was requested by one name. The openJob reads it here, because a watch of its own would
// bring the same updates.
type onlyJob struct {
	changes chan struct{} // notifies the openJob

	// guarded by source.mu
	latest  feed.Update   // with the last state seen, even if the Job was deleted since; zero for none
	refusal *feed.Refusal // nil if the list is watched
}

// isOnlyJob reports whether the list contains only this Job.
func (s *Source) isOnlyJob(key types.NamespacedName) bool {
	return len(s.Set.Names) == 1 && s.Set.Names[0] == key.Name && s.Set.Namespace == key.Namespace
}

// put applies updates of the list. The caller holds source.mu.
func (o *onlyJob) put(updates []feed.Update) {
	for _, update := range updates {
		if update.Job == nil {
			update.Job = o.latest.Job
		}
		o.latest = update
	}
	notify(o.changes)
}

// onRefusal records that watching the list is forbidden, or with nil that it is watched.
func (l *jobList) onRefusal(r *feed.Refusal) {
	if l.source.OnRefusal != nil {
		l.source.OnRefusal(r)
	}
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	l.only.refusal = r
	notify(l.only.changes)
}

// onlyJobUpdate returns the latest update of the list's only Job, and the refusal, if any.
func (s *Source) onlyJobUpdate() (feed.Update, *feed.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list.only.latest, s.list.only.refusal
}
