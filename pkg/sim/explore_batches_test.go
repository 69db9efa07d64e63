package sim

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// TestBatchesAddNothing_PRV_05: with and without batches, the same is stored, known, and planned at the same time.
func TestBatchesAddNothing_PRV_05(t *testing.T) {
	worlds := []*smallWorld{onePod()}
	if !testing.Short() && !underRace {
		worlds = append(worlds, worldNamed("two leaders, once a success is recorded"), worldNamed("two leaders, once the last failure is recorded"))
	}
	for _, s := range worlds {
		at := *s
		at.unbatched = true
		with, without := situations(s), situations(&at)
		if len(with) == 0 || !maps.Equal(with, without) {
			t.Errorf("%s: %d situations with batches, %d without", s.name, len(with), len(without))
		}
	}
}

// situations returns those of all states.
func situations(s *smallWorld) map[fingerprint]bool {
	x, all := newSearch(s, limits{}), map[fingerprint]bool{}
	x.explore(2)
	for id := range x.nodes {
		path := x.path(int32(id))
		r := s.replayed(path, len(path))
		all[r.situation()] = true
		r.abandon()
	}
	return all
}

// situation stands for what is stored, what each process knows of it, and what it is about to do, whatever the time.
func (r *run) situation() fingerprint {
	e := newEncoder(r, r.canonical())
	e.unversioned, e.timeless = true, true
	e.number(int64(r.acted))
	e.store()
	for _, p := range r.world.processes {
		for _, job := range p.cache.Jobs() {
			e.value(reflect.ValueOf(job))
			pods := p.cache.Pods(job.UID)
			slices.SortFunc(pods, func(a, b *reconcile.Pod) int { return strings.Compare(a.Name, b.Name) })
			e.value(reflect.ValueOf(pods))
		}
		for _, v := range e.pending(p) {
			if v.kind == fromCall {
				e.text(v.text + " " + v.call.Verb + " " + v.call.Object)
				e.planned(r.carriers[v.routine])
			}
		}
		e.text("process")
	}
	return e.sum()
}

// planned writes the stage of a sync.
func (e *encoder) planned(c *carrier) {
	if c.work == nil {
		return
	}
	_, plan := partsOf(c.work)
	for _, part := range []string{"Status", "Create"} {
		e.value(plan.FieldByName(part))
	}
	e.changes(plan)
}
