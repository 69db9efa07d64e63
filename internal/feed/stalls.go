package feed

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

const (
	// StallsInterval is how often the evidence for stalled Jobs is read again for a live list.
	StallsInterval = 10 * time.Second
	// refusedInterval is how often refused failed pods are requested again if no more pods have failed.
	refusedInterval = time.Minute
)

// Stalls determines which Jobs of a set are stalled, and why their pods failed. It sends requests only if Jobs have no ready
// pod, may restart containers, lack pods, or have new failures, and then reads at most four pages, instead of watching all pods (ADR 0017).
type Stalls struct {
	Timing
	Client    kube.Interface
	Namespace string // "" for all namespaces
	OurName   string // see input.Input
	// Failures requests failed pods, too.
	Failures bool

	mu   sync.Mutex
	read *gather.Stalls
	// requested is when failed pods were last requested; after a refusal, they are requested again after refusedInterval.
	requested time.Time
}

// Read reads the evidence for the Jobs that may be stalled or have failures.
func (s *Stalls) Read(ctx context.Context, jobs []*batchv1.Job) {
	var open, lacking, failing []*batchv1.Job
	for _, job := range jobs {
		switch {
		case analysis.MayStall(job):
			open = append(open, job)
		case analysis.LacksPods(job):
			lacking = append(lacking, job)
		}
		if s.Failures && analysis.HasFailures(job) {
			failing = append(failing, job)
		}
	}
	s.mu.Lock()
	before, now := s.read, s.Now()
	if !before.IsRefused() {
		s.requested = now
	} else if now.Sub(s.requested) >= refusedInterval {
		s.requested, before = now, before.Unread()
	}
	s.mu.Unlock()
	read := gather.ReadStalls(ctx, s.Client, s.Namespace, open, lacking, failing, before, now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.read = read
	}
}

// Run reads every StallsInterval, and when woken. It calls onRead after each reading.
func (s *Stalls) Run(ctx context.Context, wake <-chan struct{}, jobs func() []*batchv1.Job, onRead func() error) error {
	for {
		if err := s.Pause(ctx, StallsInterval, wake); err != nil {
			return err
		}
		s.Read(ctx, jobs())
		if err := onRead(); err != nil {
			return err
		}
	}
}

// Outline returns the row of the Job, with the reason why it is stalled and the causes of its failed pods.
func (s *Stalls) Outline(job *batchv1.Job, ruleNames []string, now time.Time) explain.Outline {
	s.mu.Lock()
	read := s.read
	s.mu.Unlock()
	row := analysis.OutlineOf(job, ruleNames, now)
	stalled := read.Input(job, ruleNames, now)
	stalled.OurName = s.OurName
	if row.Stalled = analysis.StallOf(stalled); row.Stalled == nil {
		row.Refused = analysis.RefusedOf(stalled)
	}
	row.Why = analysis.WhyOf(read.Failures(job, ruleNames, now))
	return row
}

// Restarted returns the last failure of a restarted container of the Job, as far as it was read while the Job ran; or nil.
func (s *Stalls) Restarted(job *batchv1.Job) *input.Container {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read.Restarted(job.UID)
}

// Gaps returns the data that could not be read.
func (s *Stalls) Gaps() []input.Gap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read.Gaps()
}

// StallLimit is how long a Job may be stalled in one way before waiting for it is pointless.
type StallLimit struct {
	Name  string // of the way
	After time.Duration
}

// StallClock decides when Jobs have been stalled for too long.
type StallClock struct {
	// LimitOf returns the limit for a Job that is stalled in this way, the zero value if there is none.
	LimitOf func(*explain.Stall) StallLimit
	since   map[types.UID]stalledSince
}

// stalledSince is when a Job was first seen stalled with this limit, without interruption.
type stalledSince struct {
	limit StallLimit
	time  time.Time
}

// Exceeded reports whether every open Job has been stalled beyond its limit, without interruption. The time counts from the
// first call that saw the Job stalled, not from Stall.Since, because the Job may have waited in a queue before.
func (l *StallClock) Exceeded(now time.Time, open []*batchv1.Job, stallOf func(*batchv1.Job) *explain.Stall) bool {
	since := make(map[types.UID]stalledSince, len(l.since))
	exceeded := len(open) > 0
	for _, job := range open {
		stall := stallOf(job)
		var limit StallLimit
		if stall != nil {
			limit = l.LimitOf(stall)
		}
		if limit.After == 0 {
			exceeded = false
			continue
		}
		began := l.since[job.UID]
		if began.limit != limit {
			began = stalledSince{limit, now}
		}
		since[job.UID] = began
		exceeded = exceeded && now.Sub(began.time) >= limit.After
	}
	l.since = since
	return exceeded
}

// Restart restarts the Job's stall time at the next call of Exceeded.
func (l *StallClock) Restart(job *batchv1.Job) { delete(l.since, job.UID) }
