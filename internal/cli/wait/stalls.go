package wait

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
)

// followStalls has the progress show which Jobs are stalled, until stop is called. Whether Jobs finish does not depend on
// it, so that there is no word on what may not be read.
func (w *waiter) followStalls(ctx context.Context) (stop func()) {
	o := w.options
	if o.quiet || o.explainer == nil {
		return func() {}
	}
	stalls := o.explainer.Stalls(o.set.Namespace, o.Timing())
	stalls.Read(ctx, w.tally().open)
	w.progress.stalls = stalls
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() { _ = stalls.Run(ctx, nil, w.progress.open, w.progress.again) }) // Its error is the context's.
	return func() {
		cancel()
		reading.Wait()
	}
}

// open are the Jobs that have not ended.
func (p *waitProgress) open() []*batchv1.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news.open
}

// again shows what has changed in Jobs that are as they were.
func (p *waitProgress) again() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	news.changed = news.open
	p.take(news)
	return nil
}

// row is what is known of a Job.
func (p *waitProgress) row(job *batchv1.Job) jobprinter.Row {
	row := jobprinter.Row{Job: job, Now: p.now()}
	if p.stalls != nil {
		row.Stalled = p.stalls.Of(job, nil)
	}
	return row
}
