package progress

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// FollowStalls shows which Jobs are stalled, until stop is called; open are those that have not ended. Whether Jobs finish
// does not depend on it, so that there is no word on what may not be read.
func (p *Progress) FollowStalls(ctx context.Context, stalls *feed.Stalls, open []*batchv1.Job) (stop func()) {
	if p.Quiet {
		return func() {}
	}
	stalls.Read(ctx, open)
	p.stalls = stalls
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { _ = stalls.Run(ctx, nil, p.open, p.again) }) // Its error is the context's.
	return func() {
		cancel()
		reading.Wait()
	}
}

// open are the Jobs that have not ended.
func (p *Progress) open() []*batchv1.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news.Open
}

// again shows what has changed in Jobs that are as they were.
func (p *Progress) again() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	news.Changed = news.Open
	p.take(news)
	return nil
}

// row is what is known of a Job.
func (p *Progress) row(job *batchv1.Job) jobprinter.Row {
	row := jobprinter.Row{Job: job, Now: p.now()}
	if p.stalls != nil {
		o := p.stalls.Outline(job, nil, row.Now)
		row.Stalled, row.Why = o.Stalled, o.Why
	}
	return row
}
