package feed

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// stallsEvery is how often a list that is live reads again what its stalls are known by.
const stallsEvery = 10 * time.Second

// Stalls knows which Jobs of a set are stalled. It asks only while Jobs have no ready pod, and reads
// two pages then, instead of a watch of all pods (ADR 0017).
type Stalls struct {
	Timing
	Client    kube.Interface
	Namespace string // "" for all
	OurName   string // see explain.Input

	mu   sync.Mutex
	read *gather.Stalls
}

// Read asks about those of the Jobs that may be stalled.
func (s *Stalls) Read(ctx context.Context, jobs []*batchv1.Job) {
	var open []*batchv1.Job
	for _, job := range jobs {
		if analysis.MayStall(job) {
			open = append(open, job)
		}
	}
	s.mu.Lock()
	before := s.read
	s.mu.Unlock()
	read := gather.ReadStalls(ctx, s.Client, s.Namespace, open, before)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.read = read
	}
}

// Run reads again and again, and at once after news. It calls changed after each time.
func (s *Stalls) Run(ctx context.Context, news <-chan struct{}, jobs func() []*batchv1.Job, changed func() error) error {
	for {
		if err := s.Pause(ctx, stallsEvery, news); err != nil {
			return err
		}
		s.Read(ctx, jobs())
		if err := changed(); err != nil {
			return err
		}
	}
}

// Of is why the Job is stalled, nil if it is not.
func (s *Stalls) Of(job *batchv1.Job, ruleNames []string) *explain.Stall {
	s.mu.Lock()
	read := s.read
	s.mu.Unlock()
	f := read.Input(job, ruleNames, s.Now())
	f.OurName = s.OurName
	return analysis.StallOf(f)
}

// Gaps are what could not be read.
func (s *Stalls) Gaps() []explain.Gap {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read.Gaps()
}
