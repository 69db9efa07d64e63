package sim

import (
	"cmp"
	"encoding/binary"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// fingerprint returns that of the whole state.
func (r *run) fingerprint() fingerprint {
	e := newEncoder(r, r.canonical())
	e.state()
	return e.sum()
}

func (e *encoder) state() {
	r := e.run
	e.known, e.moments = r.knownUntil(), r.moments()
	for _, n := range []int{r.usedFaults, r.usedSlow, r.failed, r.acted} {
		e.number(int64(n))
	}
	e.number(int64(slices.Index(r.world.processes, r.going)))
	e.store()
	e.events()
	for _, p := range r.world.processes {
		e.process(p)
	}
	e.checker()
}

func (e *encoder) store() {
	s := e.run.world.Store
	e.value(reflect.ValueOf(s.jobs))
	e.value(reflect.ValueOf(s.pods))
	e.number(int64(s.quota))
	e.flag(s.terminating)
}

// pending returns the events of a process, or of all if it is nil, in an order that does not depend
// on how they came to be.
func (e *encoder) pending(p *process) []*event {
	w := e.run.world
	pending := make([]*event, 0, len(w.events))
	for i := range w.events {
		if v := &w.events[i]; v.kind != fromSweep && (p == nil || v.process == p) && (v.void == nil || !v.void()) {
			pending = append(pending, v)
		}
	}
	slices.SortFunc(pending, func(a, b *event) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(e.placeOf(a), e.placeOf(b)),
			cmp.Compare(e.names.apply(a.text), e.names.apply(b.text)), cmp.Compare(a.number, b.number))
	})
	return pending
}

// placeOf returns the number of the process that an event is for, among those that live.
func (e *encoder) placeOf(v *event) int { return slices.Index(e.run.world.processes, v.process) }

// events writes what is pending.
func (e *encoder) events() {
	for _, v := range e.pending(nil) {
		e.number(int64(v.kind))
		e.number(int64(e.placeOf(v)))
		e.text(v.text)
		switch v.kind {
		case fromTimer:
			e.time(v.at)
		case fromWatch:
			e.delivery(v)
		case fromCall:
			e.text(v.call.Verb + " " + v.call.Object)
			e.carrier(e.run.carriers[v.routine])
		case fromLateWrite:
			c := e.run.carriers[v.number]
			e.carrier(c)
			e.number(e.writer(c.begun.process.number))
			e.number(e.place(c.begun.unknown))
			e.number(e.place(c.asked))
		}
	}
}

// delivery writes what a watch is about to deliver.
func (e *encoder) delivery(v *event) {
	switch {
	case v.commit != nil:
		e.commit(v.process, *v.commit)
	case isDelivery(v):
		w, kind := e.run.world, podsOnly
		if strings.HasSuffix(v.text, jobsOnly.String()) {
			kind = jobsOnly
		}
		e.position(classOf(kind), v.version)
		e.value(reflect.ValueOf(w.listAt(v.version, kind)))
		for _, c := range w.since(v.version) {
			if c.resource() == kind {
				e.commit(v.process, c)
			}
		}
	}
}

// commit writes what a watch delivers of a commit, and whether its process knows of it: the old object only if there is no new one.
func (e *encoder) commit(p *process, c Commit) {
	e.flag(p.knowsOfOwn(c))
	c.Verb, c.Asked, c.By = "", time.Time{}, 0
	if c.NewJob != nil || c.NewPod != nil {
		c.OldJob, c.OldPod = nil, nil
	}
	e.class = classOf(c.resource())
	e.value(reflect.ValueOf(c))
	e.class = podVersions
}

// carrier writes what a sync has read, and which of the versions are current.
func (e *encoder) carrier(c *carrier) {
	h := c.hashes[slices.Index(e.run.renamings, e.names)]
	e.data = append(append(e.data, h.plan[:]...), h.sync[:]...)
	for _, n := range []uint64{h.calls, h.answer} {
		e.data = binary.LittleEndian.AppendUint64(e.data, n)
	}
	e.age(c.began)
	e.age(c.plannedAt)
	if c.begun.process.alive {
		e.number(e.place(c.begun.unknown))
	}
	s := e.run.world.Store
	for _, v := range e.names.sorted(c.read) {
		current := ""
		if pod := s.byUID[types.UID(v.uid)]; pod != nil {
			current = pod.ResourceVersion
		}
		for _, job := range s.jobs {
			if string(job.UID) == v.uid {
				current = job.ResourceVersion
			}
		}
		e.flag(current == v.version)
	}
	for _, v := range e.names.sorted(c.result) {
		e.class = classOf(resource(strings.HasPrefix(v.uid, "job-")))
		e.version(v.version)
	}
	e.class = podVersions
	if strings.HasPrefix(c.verb, verbList) && c.resultAt > 0 {
		e.position(podVersions, c.resultAt)
	}
}

// process writes what a controller process knows.
func (e *encoder) process(p *process) {
	for _, s := range []*stream{p.jobs, p.pods} {
		e.position(classOf(s.resource), s.seen)
		e.flag(s.open)
	}
	dueAt := maps.Clone(p.dueAt)
	maps.DeleteFunc(dueAt, func(job types.UID, _ time.Time) bool { return p.due[job] == 0 })
	for _, part := range []any{dueAt, p.retries, p.running, p.again} {
		e.value(reflect.ValueOf(part))
	}
	e.engine(p)
	e.batches(p)
}

// batches writes when the last sync of each Job was that waited for more changes. After a whole period,
// that makes no difference.
func (e *encoder) batches(p *process) {
	batcher := reflect.ValueOf(p.dispatcher).Elem().FieldByName("batcher").Elem()
	period, next := time.Duration(batcher.FieldByName("period").Int()), batcher.FieldByName("next")
	for _, job := range next.MapKeys() {
		if at := timeOf(next.MapIndex(job)); e.now.Sub(at) < period {
			e.text(job.String())
			e.time(at)
		}
	}
}

// derivedFields are those of the cache that repeat what its tables have.
var derivedFields = map[string]bool{"byJob": true, "strays": true}

// engine writes what a sync can read.
func (e *encoder) engine(p *process) {
	cache := reflect.ValueOf(p.cache).Elem()
	for i := range cache.NumField() {
		name := cache.Type().Field(i).Name
		if ignoredFields[name] || derivedFields[name] {
			continue
		}
		e.class = classOf(resource(name == "jobs"))
		e.value(cache.Field(i))
	}
	e.class = podVersions
	byJob := cache.FieldByName("byJob")
	for _, job := range byJob.MapKeys() {
		e.text(job.String())
		e.value(byJob.MapIndex(job).Elem().FieldByName("leftOut"))
		e.position(podVersions, versionOf(byJob.MapIndex(job).Elem().FieldByName("listed").String()))
	}
	e.value(reflect.ValueOf(p.engine).Elem().FieldByName("memory").FieldByName("jobs"))
}
