package prove

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

// checker encodes the Checker's memory. Most of its times excuse a process that may not know what happened then: they
// matter while there is such a process, and then only by their order.
func (e *encoder) checker() {
	r := e.run
	c := r.world.Checker
	e.checking = true
	for _, t := range undeliveredAt(r, r.mayFail()) {
		e.comparedWith(t)
	}
	for _, h := range c.Order {
		e.history(h)
	}
	e.value(reflect.ValueOf(c.Owners))
	for _, uid := range slices.SortedFunc(maps.Keys(c.Touched), func(a, b types.UID) int { return cmp.Compare(e.names.apply(string(a)), e.names.apply(string(b))) }) {
		if at := c.Touched[uid]; !e.isKnown(at) {
			e.text(string(uid))
			e.moment(at)
		}
	}
	e.age(c.Late)
	if c.LostAt.After(e.now) { // An earlier time is compared in each life.
		e.age(c.LostAt)
	}
	e.checking = false
}

// isKnown reports whether every process knows what happened at a time, now and later.
func (e *encoder) isKnown(t time.Time) bool { return t.Before(e.known) }

// moment encodes a time that only matters for which processes may not know of it.
func (e *encoder) moment(t time.Time) {
	switch {
	case t.IsZero():
		e.number(-2)
	case e.isKnown(t):
		e.number(-1)
	default:
		e.number(0)
		e.compare(t)
	}
}

// momentFields are the fields that hold such times.
var momentFields = map[string]bool{
	"History.suspendedSince": true, "History.EndingSince": true, "History.SucceededAt": true, "History.StoredAt": true,
	"specVersion.At": true, "podVersion.until": true,
	"Life.SeenAt": true, "Life.WasActive": true, "Life.WasReady": true, "Life.JoinedAt": true,
}

// history encodes the Checker's record of a Job. After a fault, nothing is expected in time.
func (e *encoder) history(h *checker.History) {
	copied := *h
	// Only specs from which some process may plan matter. The newest is in the Job.
	for len(copied.Specs) > 1 && e.isKnown(copied.Specs[1].At) {
		copied.Specs = copied.Specs[1:]
	}
	if copied.Specs = slices.Clone(copied.Specs); len(copied.Specs) == 1 {
		copied.Specs = nil
	} else {
		copied.Specs[0].At = time.Time{} // See possible.
	}
	over := isOver(e, h)
	if e.flag(over); over {
		copied.EndingSince, copied.EndingBy = time.Time{}, 0
	} else {
		statuses(e, h.Statuses)
		wrote(e, h)
		copied.EndingBy = int(e.writer(copied.EndingBy))
	}
	if e.run.world.Checker.Late.Equal(anyTime()) {
		copied.Creation, copied.Deadline = checker.Expectation{}, checker.Expectation{}
	}
	if h.Job.Spec.Completions != nil { // See joined and tooMany.
		copied.SucceededAt, copied.StoredAt = time.Time{}, time.Time{}
	}
	copied.Statuses, copied.Wrote, copied.Lives, copied.Order = nil, nil, nil, nil
	e.value(reflect.ValueOf(copied))
	lives := slices.SortedFunc(slices.Values(h.Order), func(a, b *checker.Life) int {
		return cmp.Compare(e.names.apply(a.Pod.Name), e.names.apply(b.Pod.Name))
	})
	for _, l := range lives {
		life(e, h, *l, over)
	}
}

// isOver reports whether every process knows that the Job is about to end: then each creation is wrong, and the rest of
// the state that the Checker compares with it does not matter. See knowsEnd.
func isOver(e *encoder, h *checker.History) bool {
	r := e.run
	alone := h.EndingBy != 0 && !h.Tampered() && r.acted == len(r.user) && e.writesAlone(h.EndingBy)
	return !h.EndingSince.IsZero() && (alone || e.isKnown(h.EndingSince))
}

// statuses encodes the statuses from which some process may plan. The newest is in the Job.
func statuses(e *encoder, all []checker.StatusVersion) {
	for len(all) > 1 && e.isKnown(all[1].At) {
		all = all[1:]
	}
	by := authors(e, all)
	if own := slices.Index(by, 1); own > 0 && e.writesAlone(e.run.writers()[0]) {
		all, by = all[own:], by[own:]
	}
	e.value(reflect.ValueOf(&all[0].NewJob.Status))
	for i := 1; i < len(all); i++ {
		last := i+1 == len(all)
		// A process that does not know a status does not know the next one either, unless it wrote that, or a moment is in
		// between.
		if by[i] == 0 && !last && e.place(all[i].At) == e.place(all[i+1].At) {
			continue
		}
		e.number(by[i])
		e.moment(all[i].At)
		if !last {
			e.value(reflect.ValueOf(&all[i].NewJob.Status))
		}
	}
	e.text("statuses")
}

// authors returns for each status the process that knows it because it wrote it, or 0. Of the statuses that a process
// wrote, only the last one matters. See knownStatus.
func authors(e *encoder, all []checker.StatusVersion) []int64 {
	by := make([]int64, len(all))
	for i, s := range slices.Backward(all) {
		if s.Late() || e.run.world.Journal().IsAnswerLost(s.Version) { // See sim.Process.Wrote.
			continue
		}
		if writer := e.writer(s.By); writer != nobody && !slices.Contains(by, writer) {
			by[i] = writer
		}
	}
	return by
}

// wrote encodes when each process last wrote to the Job or its pods, which matters only for the other processes.
func wrote(e *encoder, h *checker.History) {
	last := map[int64]time.Time{}
	for number, at := range h.Wrote {
		if by := e.writer(number); number > 0 && !e.isKnown(at) && !e.writesAlone(number) && at.After(last[by]) {
			last[by] = at
		}
	}
	for _, by := range slices.Sorted(maps.Keys(last)) {
		e.number(by)
		e.moment(last[by])
	}
}

// life encodes the Checker's record of a pod.
func life(e *encoder, h *checker.History, l checker.Life, over bool) {
	if over { // These fields matter for creations only.
		l.SeenAt, l.Known = time.Time{}, nil
	}
	e.flag(l.SeenAt.After(e.run.world.Checker.LostAt))
	if h.Job.Spec.Completions == nil {
		e.flag(l.JoinedAt.Before(h.SucceededAt))
	}
	// See accounted.
	l.Over = l.Over && l.Failed && !history.Is(h.Job, batchv1.JobFailureTarget) && !history.IsFinished(h.Job)
	if e.isKnown(l.JoinedAt) { // See unseen.
		l.JoinedAt, l.By, l.Late = time.Time{}, 0, false
	}
	for _, t := range []*time.Time{&l.WasActive, &l.WasReady} {
		if e.isKnown(*t) {
			*t = time.Time{}
		}
	}
	l.By = int(e.writer(l.By))
	l.Known = acted(e, l)
	e.value(reflect.ValueOf(l))
}

// acted returns the processes that know that a pod failed, while others may not. See mustKnow.
func acted(e *encoder, l checker.Life) map[int]bool {
	known := map[int]bool{}
	if !l.SeenAt.IsZero() && e.isKnown(l.SeenAt) {
		return known
	}
	for number := range l.Known {
		if by := e.writer(number); by != nobody {
			known[int(by)] = true
		}
	}
	return known
}

// nobody is the number of a process that ended and has no write in flight.
const nobody = -1

// writer returns the place of a process among the possible writers, nobody if it can no longer write, or 0 if number is
// 0, which is no controller.
func (e *encoder) writer(number int) int64 {
	if number == 0 {
		return 0
	}
	at := slices.Index(e.run.writers(), number)
	return cmp.Or(int64(at)+1, nobody)
}

// writers returns the numbers of the running processes, and of ended processes with a write in flight.
func (r *run) writers() (all []int) {
	for _, p := range r.world.Processes() {
		all = append(all, p.Number())
	}
	var late []int
	for _, e := range r.world.Pending() {
		if e.Kind() == sim.FromLateWrite && !slices.Contains(all, e.Process().Number()) {
			late = append(late, e.Process().Number())
		}
	}
	slices.Sort(late)
	return append(all, slices.Compact(late)...)
}

// writesAlone reports whether no other process may write from now on.
func (e *encoder) writesAlone(number int) bool {
	r := e.run
	return !r.mayFail() && !r.shared && slices.Equal(r.writers(), []int{number})
}
