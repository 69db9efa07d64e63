package live

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

const (
	cronJobPause = time.Second      // between two reads of a CronJob whose Jobs change
	cronJobEvery = 10 * time.Second // without a change
)

// openCronJob is the CronJob in focus. It and its events are read again when the list of Jobs changes, and periodically; the
// list has its Jobs.
type openCronJob struct {
	source  *Source
	key     types.NamespacedName
	changes chan struct{} // notified when the list of Jobs changes

	// guarded by source.mu
	report *explain.CronJobReport // nil until there was a response
}

// jobsChanged has the open CronJob read again. The caller holds s.mu.
func (s *Source) jobsChanged() {
	if s.cronJob != nil {
		notify(s.cronJob.changes)
	}
}

func (c *openCronJob) run(ctx context.Context) error {
	for {
		if list := c.list(); list != nil {
			c.readOnce(ctx, list)
			if err := c.source.Pause(ctx, cronJobPause, nil); err != nil {
				return err
			}
		}
		if err := c.source.Pause(ctx, cronJobEvery-cronJobPause, c.changes); err != nil {
			return err
		}
	}
}

// list returns the list of Jobs, nil until it was read.
func (c *openCronJob) list() *snapshot.Jobs {
	c.source.mu.Lock()
	defer c.source.mu.Unlock()
	return c.source.list.snapshot()
}

// readOnce reads the CronJob. If that fails, the last report is kept, with a gap.
func (c *openCronJob) readOnce(ctx context.Context, list *snapshot.Jobs) {
	s, now := c.source, c.source.Now()
	jobs, runs := cronjob.Runs(list.Items, c.key.Namespace, c.key.Name, now)
	in, err := gather.CronJob(ctx, s.Client, c.key.Namespace, c.key.Name, jobs, now)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		in.Gaps = append(in.Gaps, gather.GapOf(c.key.Namespace, "get", "cronjobs", err))
	}
	in.Gaps = append(in.Gaps, list.Gaps...)
	if s.Set.Selector != "" || len(s.Set.Names) > 0 {
		in.Gaps = append(in.Gaps, input.Gap{What: "jobs", Text: "the runs are only those of Jobs in the list"})
	}
	report := cronjob.Explain(in, runs)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && c.report != nil {
		report = *c.report
		report.Gaps = slices.Clone(in.Gaps)
	}
	c.report = &report
	s.touch()
}
