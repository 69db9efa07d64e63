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
	for at, p := range r.world.processes {
		e.owner = at
		e.process(p)
	}
	e.owner = inStore
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
	for _, v := range w.events {
		if (p == nil || v.process == p) && (v.void == nil || !v.void()) {
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
		e.owner = e.placeOf(v)
		e.number(int64(v.kind))
		e.number(int64(e.owner))
		e.text(v.text)
		switch v.kind {
		case fromTimer:
			e.time(v.at)
			e.number(e.timersBefore(v))
		case fromWatch:
			e.delivery(v)
		case fromCall:
			e.text(v.call.Verb + " " + v.call.Object)
			e.carrier(e.run.carriers[v.routine])
		case fromLateWrite:
			c := e.run.carriers[v.number]
			e.carrier(c)
			e.number(e.writer(c.begun.process.number))
			e.comparedWith(c.begun.unknown)
			e.comparedWith(c.asked)
		}
	}
	e.owner = inStore
}

// timersBefore returns how many timers come before one that time has to pass for.
func (e *encoder) timersBefore(timer *event) (n int64) {
	if e.isDue(timer) {
		return 0
	}
	for _, v := range e.pending(nil) {
		if v.kind == fromTimer && !e.isDue(v) && compareTimers(v, timer) < 0 {
			n++
		}
	}
	return n
}

// isDue reports whether no time has to pass for an event.
func (e *encoder) isDue(v *event) bool { return !v.at.After(e.now) }

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
	if c.work != nil && (c.stored || e.run.maxFaults > 0 || e.run.isCurrent(versionsOf(c.work)[0])) {
		e.data = append(e.data, h.status[:]...)
	}
	for _, n := range []uint64{h.calls, h.answer} {
		e.data = binary.LittleEndian.AppendUint64(e.data, n)
	}
	e.age(c.began)
	e.age(c.plannedAt)
	if c.begun.process.alive {
		e.comparedWith(c.begun.unknown)
	}
	for _, v := range e.names.sorted(c.read) {
		e.flag(e.run.isCurrent(v))
	}
	if c.listing != nil {
		e.flag(versionIn(c.begun.process, jobsOnly, c.listing.UID) == c.listing.ResourceVersion)
	}
	for _, v := range e.names.sorted(c.result) {
		e.class = classOf(resource(strings.HasPrefix(v.uid, "job-")))
		e.version(v.version)
		e.flag(slices.Contains(c.read, v))
	}
	e.class = podVersions
	if strings.HasPrefix(c.verb, verbList) && c.resultAt > 0 {
		e.position(podVersions, c.resultAt)
	}
}

// isCurrent reports whether a version of an object is the one that is stored.
func (r *run) isCurrent(v objectVersion) bool {
	s := r.world.Store
	if pod := s.byUID[types.UID(v.uid)]; pod != nil {
		return pod.ResourceVersion == v.version
	}
	for _, job := range s.jobs {
		if string(job.UID) == v.uid {
			return job.ResourceVersion == v.version
		}
	}
	return v.version == ""
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
		listed := versionOf(byJob.MapIndex(job).Elem().FieldByName("listed").String())
		if e.run.lastWrite(podVersions, listed) <= e.run.lastWrite(podVersions, p.pods.seen) {
			listed = 0 // All that the watch delivers from now on is newer.
		}
		e.position(podVersions, listed)
	}
	e.memories(p)
}

// memories writes what a process remembers of its Jobs. Once it knows how one ends, it plans no creations, and what they
// depend on does not matter.
func (e *encoder) memories(p *process) {
	jobs := reflect.ValueOf(p.engine).Elem().FieldByName("memory").FieldByName("jobs")
	uids := jobs.MapKeys()
	slices.SortFunc(uids, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, uid := range uids {
		e.text(uid.String())
		unread := map[string]bool{}
		if p.knowsEnd(types.UID(uid.String())) {
			unread["backoff"], unread["released"] = true, !e.run.mayCreate(p)
		}
		m := jobs.MapIndex(uid)
		for i := range m.NumField() {
			if name := m.Type().Field(i).Name; !ignoredFields[name] && !unread[name] {
				e.value(m.Field(i))
			}
		}
	}
}

// mayCreate reports whether a process has planned to create pods.
func (r *run) mayCreate(p *process) bool {
	for _, c := range r.carriers {
		if c.begun.process == p && c.work != nil {
			if _, plan := partsOf(c.work); plan.FieldByName("Create").Len() > 0 {
				return true
			}
		}
	}
	return false
}

// knowsEnd reports whether a process's cache has a Job whose outcome is decided.
func (p *process) knowsEnd(uid types.UID) bool {
	job := p.cache.Job(uid)
	return job != nil && isDecided(job)
}
