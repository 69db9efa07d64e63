package live

import (
	"context"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// familyWatch follows the retries of the Job's family. The list of Jobs may be of others: of a single name, for example.
type familyWatch struct {
	source  *Source
	related *related
	job     *batchv1.Job
	ctx     context.Context // of run

	first     *batchv1.Job // of the family, nil until it was read
	retries   map[snapshot.JobKey]*batchv1.Job
	relatives []explain.Input // as they were read last
}

func (w *familyWatch) run(ctx context.Context) error {
	w.ctx, w.retries = ctx, map[snapshot.JobKey]*batchv1.Job{}
	connection := w.source.link.Open()
	defer connection.Connected() // Nothing is stale that is not shown any more.
	set := feed.JobSet{Client: w.source.Jobs.Namespace(w.job.Namespace), Namespace: w.job.Namespace, Selector: retry.OfLabel + "=" + retry.RootOf(w.job)}
	watch := feed.Watch{Connection: connection, Retry: refusedRetry, Optional: true, Refused: w.refused}
	jobs := &feed.Jobs{Watch: watch, Set: set, Each: w.take}
	return jobs.Run(ctx)
}

// take notes changes of retries, and reads what else belongs to the family. If that fails, the next change tries again.
func (w *familyWatch) take(updates []feed.Update) (err error) {
	for i := range updates {
		u := &updates[i]
		delete(w.retries, u.Key)
		if u.Gone != "" {
			continue
		}
		if job, err := feed.NamedJob(u.Job); err == nil {
			w.retries[u.Key] = &job.Job
		}
	}
	if w.first == nil {
		if w.first, err = gather.FirstJob(w.ctx, w.source.Client, w.job); err != nil {
			return nil //nolint:nilerr // what is known of the family stays
		}
	}
	jobs := slices.Collect(maps.Values(w.retries))
	if w.first != nil {
		jobs = append(jobs, w.first)
	}
	w.relatives = gather.Relatives(w.ctx, w.source.Client, w.job, retry.FamilyOf(w.job, jobs), w.relatives)
	w.note(w.relatives, true)
	return nil
}

func (w *familyWatch) note(relatives []explain.Input, read bool) {
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	r := w.related
	if len(relatives) == 0 && len(r.relatives) == 0 && r.relativesRead == read {
		return
	}
	r.relatives, r.relativesRead = relatives, read
	r.touch(w.source)
}

// refused forgets the relatives if they cannot be listed: what is not kept up to date is not shown.
func (w *familyWatch) refused(r *feed.Refusal) {
	if r != nil && !r.Unwatched() {
		w.note(nil, false)
	}
}
