package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// openJob is the Job in focus. It is watched by name unless the list already is; its pods and events are watched while a Job
// with the same UID exists.
type openJob struct {
	source *Source
	key    types.NamespacedName
	ctx    context.Context // of run, for the tasks that the watch starts
	tasks  tasks           // the tasks that follow related objects

	// guarded by source.mu
	job     *observe.NamedJob // nil until it was read
	related *related          // the data related to job
	gone    bool
	goneAt  *time.Time    // when it was first seen to be gone
	shown   *snapshot.Job // nil until there was a response
	shownOf *related      // the data that shown was made of
	isTimed bool          // whether shown changes with time

	refusal *feed.Refusal // nil if the Job is watched
	unread  *input.Gap    // nil if job is its latest state
}

func (j *openJob) run(ctx context.Context) error {
	j.ctx = ctx
	defer j.tasks.stop()
	if j.source.isOnlyJob(j.key) {
		return j.followList(ctx)
	}
	connection := j.source.link.Open()
	defer connection.Connected() // Data that is no longer shown is not stale.
	set := feed.JobSet{Client: j.source.Jobs.Namespace(j.key.Namespace), Namespace: j.key.Namespace, Names: []string{j.key.Name}}
	watch := feed.Watch{Connection: connection, RetryAfter: feed.UnwatchedRetry, OnRefusal: j.onRefusal}
	jobs := &feed.Jobs{Watch: watch, Set: set}
	jobs.OnUpdates = func(updates []feed.Update) error {
		for i := range updates {
			j.apply(&updates[i])
		}
		if jobs.Len() == 0 {
			j.setGone()
		}
		return nil
	}
	return jobs.Run(ctx)
}

// followList applies the updates of the list to the Job.
func (j *openJob) followList(ctx context.Context) error {
	var before feed.Update
	for {
		latest, refusal := j.source.onlyJobUpdate()
		j.onRefusal(refusal)
		if latest != before {
			j.apply(&latest)
		}
		if latest.Gone != "" {
			j.setGone()
		}
		before = latest
		select {
		case <-j.source.list.only.changes:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// onRefusal records that watching the Job is forbidden, or with nil that it is watched.
func (j *openJob) onRefusal(r *feed.Refusal) {
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	if (r == nil) == (j.refusal == nil) {
		return
	}
	j.refusal = r
	if j.related != nil {
		j.related.touch(j.source)
	}
}

// apply applies an update of the Job. For another Job than before, it starts the tasks that follow its related objects.
func (j *openJob) apply(u *feed.Update) {
	if u.Job == nil {
		return // It is gone, and its last state is unknown.
	}
	job, err := feed.NamedJob(u.Job)
	switch {
	case u.Gone != "" && err == nil:
		j.setDeleted(job)
	case u.Gone != "":
	case err != nil:
		j.setUndecodable(u.Job, err)
	case j.put(job):
		j.tasks.stop()
		s, r := j.source, j.related
		follow := []func(context.Context) error{
			newPodWatch(s, r, &job.Job).run,
			newEventWatch(s, r, &job.Job, false).run,
			newEventWatch(s, r, &job.Job, true).run,
			(&leaseAndNodes{source: s, related: r, job: &job.Job}).run,
			func(ctx context.Context) error { return r.followFamily(ctx, s) },
		}
		if s.LogLines > 0 {
			follow = append(follow, (&logTails{source: s, related: r, namespace: j.key.Namespace}).run)
		}
		j.tasks.start(j.ctx, s, follow...)
	}
}

// put stores the state of the Job, and reports whether this is a different Job than before.
func (j *openJob) put(job *observe.NamedJob) (another bool) {
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	another = j.related == nil || j.gone || j.job.UID != job.UID
	if another {
		j.related, j.gone = newRelated(), false
	}
	j.job, j.related.job, j.unread = job, &job.Job, nil
	j.related.touch(j.source)
	return another
}

// setDeleted stores the state in which the Job was deleted.
func (j *openJob) setDeleted(job *observe.NamedJob) {
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	if j.related != nil && job.UID == j.job.UID {
		j.job, j.related.changed = job, true
	}
}

// setUndecodable records that the Job exists but cannot be decoded; its last readable state is shown with a gap. The next
// update may fix that.
func (j *openJob) setUndecodable(object *unstructured.Unstructured, err error) {
	gap := &input.Gap{What: "jobs", Text: fmt.Sprintf("the Job could not be read: %v", cmp.Or(errors.Unwrap(err), err))}
	j.source.mu.Lock()
	known := j.related != nil && !j.gone && j.job.UID == object.GetUID()
	if known {
		j.unread = gap
		j.related.touch(j.source)
	}
	j.source.mu.Unlock()
	if known {
		return
	}
	j.tasks.stop()
	report := j.missingReport()
	report.Job.UID = string(object.GetUID())
	report.Verdict = explain.Verdict{Status: unreadable, Sentence: "This program does not understand the Job."}
	report.Gaps = []input.Gap{*gap}
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	j.job, j.related, j.shownOf, j.gone = nil, nil, nil, false
	j.shown = &snapshot.Job{Report: report}
	j.source.touch()
}

// setGone records that the Job does not exist, and stops watching related objects.
func (j *openJob) setGone() {
	j.tasks.stop()
	j.source.mu.Lock()
	defer j.source.mu.Unlock()
	if j.gone {
		return
	}
	now := j.source.Now()
	j.gone, j.goneAt = true, &now
	j.source.podsChanged()
	switch {
	case j.related != nil:
		j.related.touch(j.source)
	case j.shown == nil:
		j.shown = &snapshot.Job{Gone: true, Report: j.missingReport()}
	}
	j.source.touch()
}

// missingReport returns the report on a Job that never existed.
func (j *openJob) missingReport() *explain.Report {
	return &explain.Report{
		TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: explain.Kind}, ObservedAt: metav1.NewTime(j.source.Now()),
		Job:     explain.Job{Namespace: j.key.Namespace, Name: j.key.Name},
		Verdict: explain.Verdict{Sentence: "The Job does not exist."},
	}
}

// snapshot returns the latest report on the Job. The caller holds source.mu.
func (j *openJob) snapshot() *snapshot.Job {
	if j.shown != nil && j.gone && !j.shown.Gone {
		j.shown = &snapshot.Job{Report: j.shown.Report, Gone: true, GoneAt: j.goneAt}
	}
	return j.shown
}
