package follow

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// StallLimit is when to give up on stalled Jobs.
type StallLimit struct {
	After time.Duration // 0 for no limit
	// Notes prints one notice if stalls may be missed because something cannot be read.
	Notes bool
	// Look reads everything about a Job that lists show as stalled, and returns why it is stalled, nil if it is not.
	Look func(context.Context, *batchv1.Job) (*explain.Stall, error)
	// Exceeded is called once, after all unfinished Jobs have been stalled for After, with the reason for each.
	Exceeded func(map[types.UID]*explain.Stall)
}

// FollowStalls shows which Jobs are stalled, until stop is called. open are the unfinished Jobs, and stalls has an
// entry for each of their namespaces, or one for all. Without a limit, stalls do not affect whether the verb ends, so
// missing permissions are not reported.
func (p *Progress) FollowStalls(ctx context.Context, stalls []*feed.Stalls, open []*batchv1.Job, limit StallLimit) (stop func()) {
	if p.Quiet && limit.After == 0 {
		return func() {}
	}
	for _, s := range stalls {
		s.Read(ctx, in(s.Namespace, open))
	}
	p.stalls = stalls
	ctx, cancel := context.WithCancel(ctx)
	patience := &patience{p: p, limit: limit, noted: !limit.Notes, stalls: feed.StallLimit{After: limit.After}}
	var reading sync.WaitGroup
	for _, s := range stalls {
		reading.Go(func() {
			_ = s.Run(ctx, nil, func() []*batchv1.Job { return in(s.Namespace, p.open()) }, func() error { // It returns only the context's error.
				p.again()
				patience.check(ctx)
				return nil
			})
		})
	}
	return func() {
		cancel()
		reading.Wait()
	}
}

// patience applies a StallLimit.
type patience struct {
	p     *Progress
	limit StallLimit

	mu     sync.Mutex
	stalls feed.StallLimit
	over   bool
	noted  bool // the notice about gaps is printed
}

// check calls Exceeded once the limit is exceeded. Lists lack the warnings about pods, so it reads each Job first.
func (w *patience) check(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.After == 0 || w.over {
		return
	}
	for _, s := range w.p.stalls {
		cmdutil.NoteStalls(w.p, s.Gaps(), &w.noted)
	}
	open := w.p.open()
	if !w.stalls.Exceeded(w.p.now(), open, w.p.Stall) {
		return
	}
	found := map[types.UID]*explain.Stall{}
	for _, job := range open {
		stall, err := w.limit.Look(ctx, job)
		if err != nil {
			return
		}
		if stall == nil || stall.MayContinue {
			w.stalls.Restart(job)
			return
		}
		found[job.UID] = stall
	}
	w.over = true
	w.limit.Exceeded(found)
}

// in returns the Jobs of a namespace, or all of them with "".
func in(namespace string, jobs []*batchv1.Job) (found []*batchv1.Job) {
	for _, job := range jobs {
		if namespace == "" || job.Namespace == namespace {
			found = append(found, job)
		}
	}
	return found
}

// open returns the unfinished Jobs.
func (p *Progress) open() []*batchv1.Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.news.Open
}

// again shows the Jobs once more, as their stalls may have changed although the objects have not.
func (p *Progress) again() {
	p.mu.Lock()
	defer p.mu.Unlock()
	news := p.news
	news.Changed = news.Open
	p.take(news)
}

// row returns the table row of a Job, with its stall as far as lists show it.
func (p *Progress) row(job *batchv1.Job) jobprinter.Row {
	row := jobprinter.Row{Job: job, Now: p.now()}
	if s := p.stallsOf(job); s != nil {
		o := s.Outline(job, nil, row.Now)
		row.Stalled, row.Why = o.Stalled, o.Why
	}
	return row
}

// Stall returns why the Job is stalled as far as lists show, nil if it is not.
func (p *Progress) Stall(job *batchv1.Job) *explain.Stall { return p.row(job).Stalled }

// stallsOf returns the Stalls for the Job's namespace, nil if there are none.
func (p *Progress) stallsOf(job *batchv1.Job) *feed.Stalls {
	for _, s := range p.stalls {
		if s.Namespace == "" || s.Namespace == job.Namespace {
			return s
		}
	}
	return nil
}
