package prove

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// fingerprint returns the fingerprint of the whole state.
func (r *run) fingerprint() fingerprint {
	e := newEncoder(r, canonical(r))
	e.state()
	return e.sum()
}

func (e *encoder) state() {
	r := e.run
	e.known, e.moments = knownUntil(r), moments(r)
	for _, n := range []int{r.usedFaults, r.usedSlow, r.failed, r.acted} {
		e.number(int64(n))
	}
	e.number(int64(slices.Index(r.world.Processes(), r.going)))
	e.store()
	e.events()
	for at, p := range r.world.Processes() {
		e.owner = at
		e.process(p)
	}
	e.owner = inStore
	e.checker()
}

func (e *encoder) store() {
	s := e.run.world.Store
	e.value(reflect.ValueOf(s.Jobs()))
	e.value(reflect.ValueOf(s.Pods()))
	e.number(int64(s.State().Quota))
	e.flag(s.State().Terminating)
}

// pending returns the events of a process, or all events if p is no process, in an order that does not depend on how
// they arose.
func (e *encoder) pending(p sim.Process) []*sim.Event {
	w := e.run.world
	pending := make([]*sim.Event, 0, len(w.Pending()))
	for _, v := range w.Pending() {
		if (!p.Exists() || v.Process() == p) && !v.IsVoid() {
			pending = append(pending, v)
		}
	}
	slices.SortFunc(pending, func(a, b *sim.Event) int {
		return cmp.Or(cmp.Compare(a.Kind(), b.Kind()), cmp.Compare(e.placeOf(a), e.placeOf(b)),
			cmp.Compare(e.names.apply(a.Text()), e.names.apply(b.Text())), cmp.Compare(a.Number(), b.Number()))
	})
	return pending
}

// placeOf returns the place of an event's process among the running processes.
func (e *encoder) placeOf(v *sim.Event) int {
	return slices.Index(e.run.world.Processes(), v.Process())
}

// events encodes the pending events.
func (e *encoder) events() {
	for _, v := range e.pending(sim.Process{}) {
		e.owner = e.placeOf(v)
		e.number(int64(v.Kind()))
		e.number(int64(e.owner))
		e.text(v.Text())
		switch v.Kind() {
		case sim.FromTimer:
			e.time(v.At())
			e.number(e.timersBefore(v))
		case sim.FromWatch:
			e.delivery(v)
		case sim.FromCall:
			e.text(v.Call().Verb + " " + v.Call().Object)
			e.carrier(e.run.carriers[v.Sync()])
		case sim.FromLateWrite:
			c := e.run.carriers[v.Number()]
			e.carrier(c)
			e.number(e.writer(c.begun.process.Number()))
			e.comparedWith(c.begun.unknown)
			e.comparedWith(c.asked)
		}
	}
	e.owner = inStore
}

// timersBefore returns the number of timers before a timer that is not due; 0 for a due one.
func (e *encoder) timersBefore(timer *sim.Event) (n int64) {
	if e.isDue(timer) {
		return 0
	}
	for _, v := range e.pending(sim.Process{}) {
		if v.Kind() == sim.FromTimer && !e.isDue(v) && compareTimers(v, timer) < 0 {
			n++
		}
	}
	return n
}

// isDue reports whether the event can happen without time passing.
func (e *encoder) isDue(v *sim.Event) bool { return !v.At().After(e.now) }

// delivery encodes what a watch is about to deliver.
func (e *encoder) delivery(v *sim.Event) {
	switch {
	case v.Commit() != nil:
		e.commit(v.Process(), *v.Commit())
	case isDelivery(v):
		w, kind := e.run.world, podsOnly
		if strings.HasSuffix(v.Text(), "Jobs") {
			kind = jobsOnly
		}
		e.position(classOf(kind), v.Version())
		list := sim.PodsAt(w.World, v.Version())
		if kind == jobsOnly {
			list = sim.JobsAt(w.World, v.Version())
		}
		e.value(reflect.ValueOf(list))
		for _, c := range w.Journal().Since(v.Version()) {
			if resourceOf(c) == kind {
				e.commit(v.Process(), c)
			}
		}
	}
}

// commit encodes what a watch delivers of a commit, and whether its process wrote it. The old object matters only
// without a new one.
func (e *encoder) commit(p sim.Process, c sim.Commit) {
	e.flag(p.Wrote(c))
	c.Verb, c.Asked, c.By = "", time.Time{}, 0
	if c.NewJob != nil || c.NewPod != nil {
		c.OldJob, c.OldPod = nil, nil
	}
	e.class = classOf(resourceOf(c))
	e.value(reflect.ValueOf(c))
	e.class = podVersions
}

// carrier encodes what a sync has read, and which of the versions are current.
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
	if c.begun.process.IsAlive() {
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

// isCurrent reports whether a version of an object is the stored one.
func (r *run) isCurrent(v objectVersion) bool {
	s := r.world.Store
	if pod := s.PodByUID(types.UID(v.uid)); pod != nil {
		return pod.ResourceVersion == v.version
	}
	for _, job := range s.Jobs() {
		if string(job.UID) == v.uid {
			return job.ResourceVersion == v.version
		}
	}
	return v.version == ""
}

// process encodes the knowledge of a controller process.
func (e *encoder) process(p sim.Process) {
	m := p.Memory()
	e.position(jobVersions, m.Jobs.Seen)
	e.flag(m.Jobs.Open)
	e.position(podVersions, m.Pods.Seen)
	e.flag(m.Pods.Open)
	for _, part := range []any{m.DueAt, m.Retries, m.Running, m.Again} {
		e.value(reflect.ValueOf(part))
	}
	e.engine(p)
	e.batches(p)
}

// batches encodes when each Job was last synced after waiting for more changes. After a whole period, this makes no
// difference.
func (e *encoder) batches(p sim.Process) {
	batcher := reflect.ValueOf(p.Memory().Dispatcher).Elem().FieldByName("batcher").Elem()
	period, next := time.Duration(batcher.FieldByName("period").Int()), batcher.FieldByName("next")
	for _, job := range next.MapKeys() {
		if at := timeOf(next.MapIndex(job)); e.now.Sub(at) < period {
			e.text(job.String())
			e.time(at)
		}
	}
}

// derivedFields are the fields of the cache that can be derived from its tables.
var derivedFields = map[string]bool{"byJob": true, "strays": true}

// engine encodes what a sync can read.
func (e *encoder) engine(p sim.Process) {
	cache := reflect.ValueOf(p.Cache()).Elem()
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
		if e.run.lastWrite(podVersions, listed) <= e.run.lastWrite(podVersions, p.Memory().Pods.Seen) {
			listed = 0 // Everything that the watch delivers from now on is newer.
		}
		e.position(podVersions, listed)
	}
	e.memories(p)
}

// memories encodes what a process remembers of its Jobs. Once it knows the outcome of a Job, it plans no creations, and
// state that matters only for creations is left out.
func (e *encoder) memories(p sim.Process) {
	jobs := reflect.ValueOf(p.Memory().Engine).Elem().FieldByName("memory").FieldByName("jobs")
	uids := jobs.MapKeys()
	slices.SortFunc(uids, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, uid := range uids {
		e.text(uid.String())
		unread := map[string]bool{}
		if knowsEnd(p, types.UID(uid.String())) {
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
func (r *run) mayCreate(p sim.Process) bool {
	for _, c := range r.carriers {
		if c.begun.process == p && c.work != nil {
			if _, plan := partsOf(c.work); plan.FieldByName("Create").Len() > 0 {
				return true
			}
		}
	}
	return false
}

// knowsEnd reports whether a process's cache has the Job with a decided outcome.
func knowsEnd(p sim.Process, uid types.UID) bool {
	job := p.Cache().Job(uid)
	return job != nil && history.IsDecided(job)
}
