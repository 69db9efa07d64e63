package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// doubtEvery is how often Jobs that nobody has worked on yet are looked at again.
const doubtEvery = 10 * time.Second

// unreadable is the status of a Job that makes no sense to this program.
const unreadable = "Unreadable"

// maxGoneJobs is how many Jobs that were deleted are kept.
const maxGoneJobs = 1000

// liveJobs is the list of Jobs; of each it keeps what a row shows.
type liveJobs struct {
	source *liveSource

	// under source.mu
	rows    []liveRow         // by namespace and name
	gone    []explain.Outline // only appended to and cut in front: Snapshots share it
	read    bool
	dirty   bool           // since shown was made
	shown   *snapshot.Jobs // nil until the list was read
	running bool           // some Job of shown has not finished
	doubted time.Time
}

type liveRow struct {
	outline explain.Outline
	version string
	doubt   *observe.NamedJob // a Job that time may make a neglected one
}

// followJobs keeps up with the list. An error of the first list ends it, and so do names of which none exists.
func (s *liveSource) followJobs(ctx context.Context) error {
	jobs, version, err := s.set.list(ctx)
	if err != nil {
		return err
	}
	if missing := s.set.missing(jobs); len(jobs) == 0 && len(missing) > 0 {
		return errors.Join(missing...)
	}
	if err := s.list.reconcile(jobs); err != nil {
		return err
	}
	return s.keepUpJobs(ctx, watchedJobs{set: s.set, sink: &s.list}, version, func(*explain.Gap) {})
}

// reconcile takes all Jobs that there are, by namespace and name. Those that have not changed are not read again.
func (l *liveJobs) reconcile(jobs []*unstructured.Unstructured) error {
	l.source.mu.Lock()
	known := make(map[snapshot.JobKey]liveRow, len(l.rows))
	for _, row := range l.rows {
		known[row.key()] = row
	}
	l.source.mu.Unlock()
	rows := make([]liveRow, 0, len(jobs))
	for _, job := range jobs {
		row, ok := known[snapshotKey(job)]
		if !ok || row.version == "" || row.version != job.GetResourceVersion() {
			row = l.rowOf(job)
		}
		rows = append(rows, row)
	}
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	before := l.rows
	l.rows, l.read = rows, true
	for i := range before {
		if now, found := l.find(before[i].key()); !found || l.rows[now].outline.UID != before[i].outline.UID {
			l.bury(before[i].outline)
		}
	}
	l.touch()
	return nil
}

// bury notes a Job that was deleted, as it was last. source.mu is held.
func (l *liveJobs) bury(job explain.Outline) {
	l.gone = append(l.gone, job)
	l.gone = l.gone[max(0, len(l.gone)-maxGoneJobs):]
}

func (l *liveJobs) changed(jobs ...*unstructured.Unstructured) error {
	for _, job := range jobs {
		row := l.rowOf(job)
		l.source.mu.Lock()
		i, found := l.find(row.key())
		switch {
		case !found:
			l.rows = slices.Insert(l.rows, i, row)
		case l.rows[i].outline.UID != row.outline.UID: // The deletion was not seen.
			l.bury(l.rows[i].outline)
			l.rows[i] = row
		default:
			l.rows[i] = row
		}
		l.touch()
		l.source.mu.Unlock()
	}
	return nil
}

// removed takes a Job as it was when it was deleted: it may have ended just before.
func (l *liveJobs) removed(job *unstructured.Unstructured) error {
	last := l.rowOf(job)
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	i, found := l.find(snapshotKey(job))
	if !found {
		return nil
	}
	if before := l.rows[i].outline; before.UID != last.outline.UID {
		l.bury(before)
	}
	l.bury(last.outline)
	l.rows = slices.Delete(l.rows, i, i+1)
	l.touch()
	return nil
}

// rowOf reads a Job. One that makes no sense has a name at least.
func (l *liveJobs) rowOf(object *unstructured.Unstructured) liveRow {
	now := l.source.env.now()
	job, err := namedJob(object)
	if err != nil {
		return liveRow{outline: explain.Outline{Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID()), Status: unreadable}}
	}
	row := liveRow{outline: analysis.OutlineOf(&job.Job, job.RuleNames, now), version: job.ResourceVersion}
	if !row.outline.Neglected && analysis.IsNeglected(&job.Job, now.AddDate(1, 0, 0)) {
		row.doubt = job
	}
	return row
}

func (l *liveJobs) touch() {
	l.dirty = true
	l.source.touch()
}

func (l *liveJobs) find(key snapshot.JobKey) (int, bool) {
	return slices.BinarySearchFunc(l.rows, key, func(row liveRow, key snapshot.JobKey) int {
		return cmp.Or(cmp.Compare(row.outline.Namespace, key.Namespace), cmp.Compare(row.outline.Name, key.Name))
	})
}

// snapshot is the list as it is now: the one of before if nothing in it has changed. source.mu is held.
func (l *liveJobs) snapshot(now time.Time) *snapshot.Jobs {
	if now.Sub(l.doubted) >= doubtEvery {
		l.doubted = now
		l.doubt(now)
	}
	if !l.dirty || !l.read {
		return l.shown
	}
	l.dirty, l.running = false, false
	items := make([]explain.Outline, len(l.rows))
	for i := range l.rows {
		items[i] = l.rows[i].outline
		l.running = l.running || items[i].Finished == nil
	}
	l.shown = &snapshot.Jobs{Items: items, Gone: l.gone[:len(l.gone):len(l.gone)]}
	return l.shown
}

// doubt looks again at Jobs that nobody has worked on: some are neglected by now.
func (l *liveJobs) doubt(now time.Time) {
	for i := range l.rows {
		row := &l.rows[i]
		if row.doubt == nil {
			continue
		}
		if again := analysis.OutlineOf(&row.doubt.Job, row.doubt.RuleNames, now); again.Neglected {
			row.outline, row.doubt = again, nil
			l.dirty = true
		}
	}
}

func (r *liveRow) key() snapshot.JobKey {
	return snapshot.JobKey{Namespace: r.outline.Namespace, Name: r.outline.Name}
}

func snapshotKey(job *unstructured.Unstructured) snapshot.JobKey {
	return snapshot.JobKey{Namespace: job.GetNamespace(), Name: job.GetName()}
}
