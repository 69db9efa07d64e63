package metrics

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/utils/clock"
)

// scope holds the state that the gauges measure for the Jobs and pods of one Runtime. A process has several scopes if
// it works on several shards, which begin and end independently.
type scope struct {
	uncounted       *uncountedPods
	doomed, refused *waitingJobs
}

// scopes holds the scopes of all Runtimes.
type scopes struct {
	clock clock.PassiveClock
	mu    sync.Mutex
	all   map[*scope]bool
}

func (s *scopes) begin() *scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := &scope{newUncountedPods(s.clock), newWaitingJobs(s.clock), newWaitingJobs(s.clock)}
	s.all[begun] = true
	return begun
}

func (s *scopes) end(ended *scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, ended)
}

func (s *scopes) each() []*scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.all))
}

// oldest returns a function that returns the largest age of all scopes.
func (s *scopes) oldest(of func(*scope) float64) func() float64 {
	return func() (age float64) {
		for _, one := range s.each() {
			age = max(age, of(one))
		}
		return age
	}
}

// reasons returns a function that returns the values of all scopes by reason, combined with join.
func (s *scopes) reasons(of func(*scope) map[string]float64, join func(a, b float64) float64) func() map[string]float64 {
	return func() map[string]float64 {
		all := noRefusals()
		for _, one := range s.each() {
			for reason, value := range of(one) {
				all[reason] = join(all[reason], value)
			}
		}
		return all
	}
}

// Scope returns metrics for one of several Runtimes of a process: the counters are shared, but Forget applies only to
// the scope's own Jobs and pods. Close ends the scope.
func (m *Metrics) Scope() *Metrics {
	if m == nil {
		return nil
	}
	scoped := *m
	scoped.scope = m.scopes.begin()
	return &scoped
}

// Close removes all Jobs and pods of a scope that is no longer used.
func (m *Metrics) Close() {
	if m != nil {
		m.Forget()
		m.scopes.end(m.scope)
	}
}
