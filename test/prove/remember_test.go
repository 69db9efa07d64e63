package sim

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// checker writes what the Checker remembers. Most of its times excuse a process that may not know what
// happened then: they matter as long as there is one, and then only by what they come before.
func (e *encoder) checker() {
	r := e.run
	c := r.world.checker()
	e.checking = true
	for _, t := range r.undeliveredAt(r.mayFail()) {
		e.comparedWith(t)
	}
	for _, h := range c.order {
		e.history(h)
	}
	e.value(reflect.ValueOf(c.owners))
	for _, uid := range slices.SortedFunc(maps.Keys(c.touched), func(a, b types.UID) int { return cmp.Compare(e.names.apply(string(a)), e.names.apply(string(b))) }) {
		if at := c.touched[uid]; !e.isKnown(at) {
			e.text(string(uid))
			e.moment(at)
		}
	}
	e.age(c.late)
	if c.lostAt.After(e.now) { // If it was before, each life says whether it came later.
		e.age(c.lostAt)
	}
	e.checking = false
}

// isKnown reports whether every process knows what happened at a time, now and later.
func (e *encoder) isKnown(t time.Time) bool { return t.Before(e.known) }

// moment writes a time of which only matters who may not know of it.
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

// momentFields are such times.
var momentFields = map[string]bool{
	"history.suspendedSince": true, "history.endingSince": true, "history.succeededAt": true, "history.storedAt": true,
	"specVersion.at": true, "podVersion.until": true,
	"life.seenAt": true, "life.wasActive": true, "life.wasReady": true, "life.joinedAt": true,
}

// history writes what the Checker remembers of a Job. After a fault, nothing is expected in time.
func (e *encoder) history(h *history) {
	copied := *h
	// Of the specs, those matter that some process may plan with. The newest is in the Job.
	for len(copied.specs) > 1 && e.isKnown(copied.specs[1].at) {
		copied.specs = copied.specs[1:]
	}
	if copied.specs = slices.Clone(copied.specs); len(copied.specs) == 1 {
		copied.specs = nil
	} else {
		copied.specs[0].at = time.Time{} // See possible.
	}
	over := e.isOver(h)
	if e.flag(over); over {
		copied.endingSince, copied.endingBy = time.Time{}, 0
	} else {
		e.statuses(h.statuses)
		e.wrote(h)
		copied.endingBy = int(e.writer(copied.endingBy))
	}
	if e.run.world.checker().late.Equal(anyTime()) {
		copied.creation, copied.deadline = expectation{}, expectation{}
	}
	if h.job.Spec.Completions != nil { // See joined and tooMany.
		copied.succeededAt, copied.storedAt = time.Time{}, time.Time{}
	}
	copied.statuses, copied.wrote, copied.lives, copied.order = nil, nil, nil, nil
	e.value(reflect.ValueOf(copied))
	lives := slices.SortedFunc(slices.Values(h.order), func(a, b *life) int {
		return cmp.Compare(e.names.apply(a.pod.Name), e.names.apply(b.pod.Name))
	})
	for _, l := range lives {
		e.life(h, *l, over)
	}
}

// isOver reports whether every process knows that the Job is about to end: then each creation is wrong, and what else the
// Checker would compare it with does not matter. See knowsEnd.
func (e *encoder) isOver(h *history) bool {
	r := e.run
	alone := h.endingBy != 0 && !h.tampered() && r.acted == len(r.user) && e.writesAlone(h.endingBy)
	return !h.endingSince.IsZero() && (alone || e.isKnown(h.endingSince))
}

// statuses writes those that some process may plan with. The newest is in the Job.
func (e *encoder) statuses(all []statusVersion) {
	for len(all) > 1 && e.isKnown(all[1].at) {
		all = all[1:]
	}
	by := e.authors(all)
	if own := slices.Index(by, 1); own > 0 && e.writesAlone(e.run.writers()[0]) {
		all, by = all[own:], by[own:]
	}
	e.value(reflect.ValueOf(&all[0].NewJob.Status))
	for i := 1; i < len(all); i++ {
		last := i+1 == len(all)
		// Who does not know of a status does not know of the next one either, unless it wrote that, or learns of it in between.
		if by[i] == 0 && !last && e.place(all[i].at) == e.place(all[i+1].at) {
			continue
		}
		e.number(by[i])
		e.moment(all[i].at)
		if !last {
			e.value(reflect.ValueOf(&all[i].NewJob.Status))
		}
	}
	e.text("statuses")
}

// authors returns for each status which process knows of it because it wrote it, or 0. Of those that
// a process wrote, only the last one matters. See knownStatus.
func (e *encoder) authors(all []statusVersion) []int64 {
	by := make([]int64, len(all))
	for i, s := range slices.Backward(all) {
		if s.Late() || e.run.world.journal.lost[s.Version] { // See knowsOfOwn.
			continue
		}
		if writer := e.writer(s.By); writer != nobody && !slices.Contains(by, writer) {
			by[i] = writer
		}
	}
	return by
}

// wrote writes when each process last wrote to the Job or one of its pods, which concerns only the others.
func (e *encoder) wrote(h *history) {
	last := map[int64]time.Time{}
	for number, at := range h.wrote {
		if by := e.writer(number); number > 0 && !e.isKnown(at) && !e.writesAlone(number) && at.After(last[by]) {
			last[by] = at
		}
	}
	for _, by := range slices.Sorted(maps.Keys(last)) {
		e.number(by)
		e.moment(last[by])
	}
}

// life writes what the Checker remembers of a pod.
func (e *encoder) life(h *history, l life, over bool) {
	if over { // These are for creations only.
		l.seenAt, l.known = time.Time{}, nil
	}
	e.flag(l.seenAt.After(e.run.world.checker().lostAt))
	if h.job.Spec.Completions == nil {
		e.flag(l.joinedAt.Before(h.succeededAt))
	}
	// See accounted.
	l.over = l.over && l.failed && !view(h.job).failureTarget && !view(h.job).finished()
	if e.isKnown(l.joinedAt) { // See unseen.
		l.joinedAt, l.by, l.late = time.Time{}, 0, false
	}
	for _, t := range []*time.Time{&l.wasActive, &l.wasReady} {
		if e.isKnown(*t) {
			*t = time.Time{}
		}
	}
	l.by = int(e.writer(l.by))
	l.known = e.acted(l)
	e.value(reflect.ValueOf(l))
}

// acted returns which processes are known to know that a pod failed, as long as others may not. See mustKnow.
func (e *encoder) acted(l life) map[int]bool {
	known := map[int]bool{}
	if !l.seenAt.IsZero() && e.isKnown(l.seenAt) {
		return known
	}
	for number := range l.known {
		if by := e.writer(number); by != nobody {
			known[int(by)] = true
		}
	}
	return known
}

// nobody is a process that ended, and of which no write is on its way.
const nobody = -1

// writer returns which of those that may still write has a number. It is 0 for those that are no
// controllers.
func (e *encoder) writer(number int) int64 {
	if number == 0 {
		return 0
	}
	at := slices.Index(e.run.writers(), number)
	return cmp.Or(int64(at)+1, nobody)
}

// writers returns the numbers of the processes that run, and of those that ended while a write was on
// its way.
func (r *run) writers() (all []int) {
	for _, p := range r.world.processes {
		all = append(all, p.number)
	}
	var late []int
	for _, e := range r.world.events {
		if e.kind == fromLateWrite && !slices.Contains(all, e.process.number) {
			late = append(late, e.process.number)
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
