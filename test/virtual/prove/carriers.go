package prove

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// carrier is a sync in the middle of a call, or a write in flight whose caller is gone: it has read state, and acts on
// it later. Its state is on the stack of a coroutine. Its actions are a function of what it has read, so hashes of that
// represent it.
type carrier struct {
	begun *beginning
	// began is when the sync began, plannedAt when it planned its stage, asked when the call in flight was made.
	began, plannedAt, asked time.Time
	// hashes represent what it has read, for each way to name the pods.
	hashes []carrierHash
	// clean reports whether all calls of the sync were writes that succeeded.
	clean bool
	// stored reports whether the stage has written a status that was stored.
	stored bool
	verb   string
	// read holds the versions of objects that it may name in preconditions.
	read []objectVersion
	// work is the work that the stage is about to do, or nil while the sync reads.
	work any
	// planned is the last work of the sync, or nil.
	planned any
	// listing is the Job whose pods the sync lists, as the sync knows it.
	listing *batchv1.Job
	// result holds the versions in the response that is on its way, resultAt the version of the store.
	result   []objectVersion
	resultAt int64
}

// carrierHash represents the work of a sync's present stage, the response on its way, the previous calls, and what the
// sync remembers of them. The calls are a sum because their order makes no difference to the sync.
type carrierHash struct {
	plan, status, sync fingerprint
	calls, answer      uint64
	// done is what the call adds once it has a response.
	done uint64
}

// beginning is when a sync began: the depth, and the process. unknown is the time of the first event that it did not
// know when it last planned.
type beginning struct {
	depth   int
	process sim.Process
	unknown time.Time
}

// objectVersion is the resourceVersion of an object, with its UID.
type objectVersion struct{ uid, version string }

// beforeStep is the state before a step that the step may read.
type beforeStep struct {
	step    string
	engine  []fingerprint
	read    []objectVersion
	unknown time.Time
	carrier *carrier
	process sim.Process
	// arrival is set for a call that arrives at the API server.
	arrival *sim.Call
	number  uint64
	version int64
}

func (r *run) beforeStep(s step) beforeStep {
	b := beforeStep{number: r.world.Scheduled(), version: r.world.Store.State().Version}
	if r.work = nil; r.hashing {
		b.step = s.String()
	}
	if s.event == nil || !s.event.Process().Exists() {
		return b
	}
	b.process = s.event.Process()
	b.unknown = unknownTo(r, b.process)
	if s.event.Sync() != nil {
		b.carrier = r.carriers[s.event.Sync()]
	}
	switch {
	case s.event.Kind() == sim.FromCall && s.event.Asks():
		call := s.event.Call()
		b.arrival = &call
	case s.event.Kind() == sim.FromCall && !b.carrier.clean:
		b.engine, b.read = r.engineHashes(b.process), versionsIn(b.process)
	}
	return b
}

// knownHashes returns the hashes of all carriers, by the number of the event for which they wait.
func (r *run) knownHashes() map[uint64][]carrierHash {
	all := map[uint64][]carrierHash{}
	for number, c := range r.waiting() {
		all[number] = c.hashes
	}
	return all
}

// hashesAre sets the hashes of all carriers to the hashes from another run with the same choices.
func (r *run) hashesAre(known map[uint64][]carrierHash) {
	for number, c := range r.waiting() {
		c.hashes = known[number]
	}
}

// waiting returns all carriers, by the number of the event for which they wait.
func (r *run) waiting() map[uint64]*carrier {
	all := map[uint64]*carrier{}
	for _, e := range r.world.Pending() {
		switch e.Kind() {
		case sim.FromCall:
			all[e.Number()] = r.carriers[e.Sync()]
		case sim.FromLateWrite:
			all[e.Number()] = r.carriers[e.Number()]
		}
	}
	return all
}

// engineHashes returns the hashes of the state that a sync can read.
func (r *run) engineHashes(p sim.Process) (all []fingerprint) {
	if !r.hashing {
		return nil
	}
	for _, names := range r.renamings {
		e := newEncoder(r, names)
		e.engine(p)
		all = append(all, e.sum())
	}
	return all
}

// afterStep updates the carriers.
func (r *run) afterStep(b beforeStep) {
	alive := map[any]bool{}
	for _, e := range r.world.Pending() {
		var key any
		switch e.Kind() {
		case sim.FromCall:
			key = e.Sync()
		case sim.FromLateWrite:
			key = e.Number()
		default:
			continue
		}
		alive[key] = true
		if e.Number() > b.number {
			r.carriers[key] = r.carried(b, e.Call().Verb)
		}
	}
	for key := range r.carriers {
		if !alive[key] {
			delete(r.carriers, key)
		}
	}
}

// carried returns the carrier of a sync that makes a call or waits for its response after a step.
func (r *run) carried(b beforeStep, verb string) *carrier {
	switch {
	case b.arrival != nil:
		return r.arrived(b)
	case r.isSameStage(b, verb):
		// Nothing was read.
		c := *b.carrier
		c.verb, c.result, c.resultAt, c.asked = verb, nil, 0, r.world.Now()
		c.hashes = slices.Clone(c.hashes)
		for i := range c.hashes {
			h := &c.hashes[i]
			h.calls, h.answer, h.done = h.calls+h.done, 0, 0
			h.sync = syncHash(r, c.work, r.renamings[i])
		}
		return &c
	}
	return r.readOn(b, verb)
}

// isSameStage reports whether the next call of a sync carries out the same plan as the last one. A stage reads the Job
// again after a conflict, and some stages read it first.
func (r *run) isSameStage(b beforeStep, verb string) bool {
	c := b.carrier
	if c == nil || c.work == nil || r.work != nil || len(b.process.Cache().Jobs()) == 0 {
		return false
	}
	return isStageCall(verb) && (isStageCall(c.verb) || c.verb == verbGet) || verb == verbGet && c.verb == verbStatus
}

// isStageCall reports whether a call carries out a plan.
func isStageCall(verb string) bool {
	return slices.Contains([]string{verbStatus, verbCreate, "delete pod", "release pod"}, verb)
}

// readOn returns the carrier of a sync that has begun or continued to read.
func (r *run) readOn(b beforeStep, verb string) *carrier {
	now := r.world.Now()
	c := &carrier{
		begun: &beginning{depth: r.depth - 1, process: b.process, unknown: b.unknown}, began: now, asked: now,
		clean: true, work: r.work, planned: r.work, verb: verb,
	}
	if old := b.carrier; old != nil {
		c.began, c.clean = old.began, old.clean
		if r.work == nil {
			c.planned = old.planned
		}
		if c.begun.depth = old.begun.depth; r.work == nil {
			c.begun = old.begun
		}
	}
	if r.work != nil {
		c.plannedAt = now
		c.read, c.hashes = versionsOf(r.work), workHashes(r)
		return c
	}
	if verb == verbList {
		job, all := b.process.Listing()
		c.listing, c.hashes = job, r.listHashes(c, job, all)
		return c
	}
	if c.read = versionsIn(b.process); b.carrier != nil {
		for _, v := range slices.Concat(b.carrier.read, b.read) {
			if !slices.Contains(c.read, v) {
				c.read = append(c.read, v)
			}
		}
	}
	for i, engine := range r.engineHashes(b.process) {
		parts := []string{string(engine[:]), r.renamings[i].apply(b.step)}
		if b.engine != nil {
			parts = append(parts, string(b.engine[i][:]))
		}
		if b.carrier != nil && i < len(b.carrier.hashes) {
			parts = append(parts, fmt.Sprint(b.carrier.hashes[i]))
		}
		c.hashes = append(c.hashes, carrierHash{plan: hashOf([]byte(strings.Join(parts, "\x00")))})
	}
	return c
}

// listHashes returns the hashes of a sync's state while it lists the pods of a Job, for each way to name the pods.
func (r *run) listHashes(c *carrier, job *batchv1.Job, all bool) (hashes []carrierHash) {
	if !r.hashing {
		return nil
	}
	for _, names := range r.renamings {
		e := newEncoder(r, names)
		e.unversioned = true
		e.value(reflect.ValueOf(job))
		e.flag(all)
		h := carrierHash{plan: e.sum()}
		if c.planned != nil {
			h.sync = syncHash(r, c.planned, names)
		}
		hashes = append(hashes, h)
	}
	return hashes
}

// arrived returns the carrier with what the sync will read when the response comes.
func (r *run) arrived(b beforeStep) *carrier {
	c := *b.carrier
	c.asked, c.result, c.resultAt = r.world.Now(), resultOf(r.world.Store, *b.arrival), r.world.Store.State().Version
	fault := slices.ContainsFunc(r.taken[1:], func(choice uint8) bool { return choice > 0 })
	stored := r.world.Store.State().Version > b.version
	if b.arrival.Verb == verbStatus && c.work != nil && !stored && !r.isCurrent(versionsOf(c.work)[0]) {
		c.result = nil // A conflict shows nothing.
	}
	c.stored = c.stored || b.arrival.Verb == verbStatus && stored
	c.clean = c.clean && !fault && !b.arrival.Reads() && stored
	c.hashes = slices.Clone(c.hashes)
	if !r.hashing || len(c.hashes) == 0 {
		return &c
	}
	for i, names := range r.renamings {
		step, h := names.apply(b.step), &c.hashes[i]
		h.answer = hashOf([]byte(step + string(r.taken[1:]) + r.outcome(b, c.result, names))).number()
		switch {
		case c.work == nil || b.arrival.Verb == verbStatus:
			h.done = h.answer
		case b.arrival.Verb == verbGet: // The cache contains what was read.
			h.done = hashOf([]byte(fmt.Sprint(step, string(r.taken[1:]), len(c.result)))).number()
		default: // The sync remembers failed calls, the cache successful ones.
			h.done = hashOf([]byte(step)).number()
		}
	}
	return &c
}

// resultOf returns the objects that a response may contain.
func resultOf(s *sim.Store, c sim.Call) (all []objectVersion) {
	for _, name := range slices.Sorted(maps.Keys(s.Jobs())) {
		if c.Verb == verbStatus || c.Reads() {
			all = append(all, objectVersion{string(s.Jobs()[name].UID), s.Jobs()[name].ResourceVersion})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Pods())) {
		if name == c.Object || c.Verb == verbCreate && name == fmt.Sprintf("%sp%d", c.Object, s.State().Generated) || c.Verb == verbList {
			all = append(all, objectVersion{string(s.Pods()[name].UID), s.Pods()[name].ResourceVersion})
		}
	}
	return all
}

// outcome encodes everything that the response to a call depends on.
func (r *run) outcome(b beforeStep, result []objectVersion, names renaming) string {
	e := newEncoder(r, names)
	e.unversioned = true // See carrier.result.
	e.number(r.world.Store.State().Version - b.version)
	for _, v := range names.sorted(result) {
		e.text(v.uid)
		if pod := r.world.Store.PodByUID(types.UID(v.uid)); pod != nil {
			e.value(reflect.ValueOf(pod))
			continue
		}
		for _, job := range r.world.Store.Jobs() {
			e.value(reflect.ValueOf(job))
		}
	}
	sum := e.sum()
	return string(sum[:])
}

// The verbs of calls, as in scenarios.
const (
	verbStatus = "status"
	verbCreate = "create pod"
	verbGet    = "get job"
	verbList   = "list pods of"
)

// versionIn returns the version of an object in a process's cache, or "".
func versionIn(p sim.Process, kind resource, uid types.UID) string {
	row := rowsOf(p, kind).MapIndex(reflect.ValueOf(uid))
	if !row.IsValid() {
		return ""
	}
	return row.Elem().FieldByName("version").String()
}

// rowsOf returns the objects of one kind in a process's cache, by their UIDs.
func rowsOf(p sim.Process, kind resource) reflect.Value {
	table := "pods"
	if kind == jobsOnly {
		table = "jobs"
	}
	return reflect.ValueOf(p.Cache()).Elem().FieldByName(table).FieldByName("rows")
}

// versionsIn returns the versions of objects in a process's cache.
func versionsIn(p sim.Process) (all []objectVersion) {
	for _, kind := range []resource{jobsOnly, podsOnly} {
		rows := rowsOf(p, kind)
		for _, key := range rows.MapKeys() {
			all = append(all, objectVersion{key.String(), rows.MapIndex(key).Elem().FieldByName("version").String()})
		}
	}
	slices.SortFunc(all, func(a, b objectVersion) int { return strings.Compare(a.uid, b.uid) })
	return all
}
