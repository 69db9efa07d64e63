package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// fingerprint stands for a state.
type fingerprint [8]byte

func hashOf(data []byte) (f fingerprint) {
	sum := sha256.Sum256(data)
	copy(f[:], sum[:])
	return f
}

// timeGrain is how exactly times are compared, oldTime from when on only their order matters.
// Both are longer than all that happens at one moment takes, or than any wait in a small world.
const (
	timeGrain = 10 * time.Millisecond
	oldTime   = 3 * time.Minute
)

// encoder writes a state so that two states have the same text if the same can follow.
type encoder struct {
	run  *run
	data []byte
	now  time.Time
	// tokens are the resourceVersions of Jobs and of pods, and the times of the Checker, in the
	// order in which they were written; only their order by size matters. class is what is
	// written now.
	tokens [classes][]int64
	class  tokenClass
	// known is the time up to which every process knows everything.
	known time.Time
	// checking is set while the Checker's history is written, where versions do not matter.
	checking bool
	// part, if set, is an object that is being written on its own.
	part *encodedObject
}

// encodedObject is a stored object without what depends on the moment: a stored object never
// changes, and is in many places.
type encodedObject struct {
	hash     fingerprint
	class    tokenClass
	versions []string
	times    []time.Time
}

type tokenClass int

const (
	podVersions tokenClass = iota
	jobVersions
	checkerTimes
	classes
)

func newEncoder(r *run) *encoder {
	return &encoder{run: r, now: r.world.Now(), data: make([]byte, 0, 16<<10)}
}

func (e *encoder) sum() fingerprint {
	for _, tokens := range e.tokens {
		sorted := slices.Clone(tokens)
		slices.Sort(sorted)
		sorted = slices.Compact(sorted)
		for _, v := range tokens {
			at, _ := slices.BinarySearch(sorted, v)
			e.number(int64(at))
		}
	}
	return hashOf(e.data)
}

func (e *encoder) number(n int64) {
	e.data = binary.AppendVarint(e.data, n)
}

func (e *encoder) text(s string) {
	e.number(int64(len(s)))
	e.data = append(e.data, s...)
}

func (e *encoder) version(text string) {
	if e.part != nil {
		e.part.versions = append(e.part.versions, text)
		return
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		v = 0
	}
	e.token(e.class, v)
}

func (e *encoder) token(class tokenClass, v int64) {
	if !e.checking || class == checkerTimes {
		e.tokens[class] = append(e.tokens[class], v)
	}
}

// classOf is the class of the versions of a resource.
func classOf(r resource) tokenClass {
	if r == jobsOnly {
		return jobVersions
	}
	return podVersions
}

// time writes how far a time is from now.
func (e *encoder) time(t time.Time) {
	if t.IsZero() {
		e.text("never")
		return
	}
	if e.part != nil {
		e.part.times = append(e.part.times, t)
		return
	}
	since := e.now.Sub(t)
	if since > oldTime {
		e.text("long ago")
	} else {
		e.number(int64((since + timeGrain/2) / timeGrain))
	}
	if e.checking && !t.Before(e.known) {
		e.text("unknown")
		e.token(checkerTimes, t.UnixNano())
	}
}

// fingerprint returns that of the whole state.
func (r *run) fingerprint() fingerprint {
	e := newEncoder(r)
	e.state()
	return e.sum()
}

func (e *encoder) state() {
	r := e.run
	for _, n := range []int{r.usedFaults, r.usedSlow, r.failed, r.acted} {
		e.number(int64(n))
	}
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
	e.text(fmt.Sprint(s.terminating))
}

// events writes what is pending, in an order that does not depend on how it came to be.
func (e *encoder) events() {
	w := e.run.world
	pending := make([]*event, 0, len(w.events))
	for i := range w.events {
		if v := &w.events[i]; v.kind != fromSweep && (v.void == nil || !v.void()) {
			pending = append(pending, v)
		}
	}
	place := func(v *event) int { return slices.Index(w.processes, v.process) }
	slices.SortFunc(pending, func(a, b *event) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(place(a), place(b)), cmp.Compare(a.text, b.text), cmp.Compare(a.number, b.number))
	})
	for _, v := range pending {
		e.number(int64(v.kind))
		e.number(int64(place(v)))
		e.text(v.text)
		switch v.kind {
		case fromTimer:
			e.time(v.at)
		case fromWatch:
			if v.commit != nil {
				e.class = classOf(v.commit.resource())
				e.value(reflect.ValueOf(v.commit))
			} else {
				e.token(classOf(resource(v.text == "list of "+jobsOnly.String())), v.version)
			}
			e.class = podVersions
		case fromCall:
			e.text(v.call.Verb + " " + v.call.Object)
			e.carrier(e.run.carriers[v.routine])
		case fromLateWrite:
			e.carrier(e.run.carriers[v.number])
		}
	}
}

// carrier writes what a sync has read, and which of the versions are current.
func (e *encoder) carrier(c *carrier) {
	e.data = append(e.data, c.hash[:]...)
	s := e.run.world.Store
	for _, v := range c.read {
		current := ""
		if pod := s.byUID[types.UID(v.uid)]; pod != nil {
			current = pod.ResourceVersion
		}
		for _, job := range s.jobs {
			if string(job.UID) == v.uid {
				current = job.ResourceVersion
			}
		}
		e.text(map[bool]string{true: "current", false: "old"}[current == v.version])
	}
	for _, v := range c.result {
		e.class = classOf(resource(strings.HasPrefix(v.uid, "job-")))
		e.version(v.version)
	}
	e.class = podVersions
}

// process writes what a controller process knows.
func (e *encoder) process(p *process) {
	for _, s := range []*stream{p.jobs, p.pods} {
		e.token(classOf(s.resource), s.seen)
		e.text(fmt.Sprint(s.open))
	}
	dueAt := maps.Clone(p.dueAt)
	maps.DeleteFunc(dueAt, func(job types.UID, _ time.Time) bool { return p.due[job] == 0 })
	for _, part := range []any{dueAt, p.retries, p.running, p.again} {
		e.value(reflect.ValueOf(part))
	}
	e.engine(p)
	e.value(reflect.ValueOf(p.dispatcher).Elem().FieldByName("batcher").Elem().FieldByName("next"))
}

// engine writes what a sync can read.
func (e *encoder) engine(p *process) {
	cache := reflect.ValueOf(p.cache).Elem()
	for i := range cache.NumField() {
		name := cache.Type().Field(i).Name
		if ignoredFields[name] {
			continue
		}
		e.class = classOf(resource(name == "jobs"))
		e.value(cache.Field(i))
	}
	e.class = podVersions
	e.value(reflect.ValueOf(p.engine).Elem().FieldByName("memory").FieldByName("jobs"))
}

// checker writes what the Checker remembers. Only the order of those times matters of which
// some process may not know.
func (e *encoder) checker() {
	r := e.run
	c := r.world.checker()
	e.checking, e.known = true, r.unknownSince()
	for _, t := range slices.Concat(r.horizons(), r.pendingSince()) {
		e.token(checkerTimes, t.UnixNano())
	}
	for _, h := range c.order {
		e.history(h)
	}
	e.value(reflect.ValueOf(c.owners))
	e.value(reflect.ValueOf(c.touched))
	e.time(c.late)
	for _, h := range c.order {
		for _, l := range h.order {
			e.text(fmt.Sprint(l.seenAt.After(c.lostAt)))
		}
	}
	e.checking = false
}

// history writes what the Checker remembers of a Job. Of one process alone, it does not matter
// when that wrote.
func (e *encoder) history(h *history) {
	copied := *h
	// Of the specs, those matter that some process may plan with. The newest is in the Job.
	for len(copied.specs) > 1 && copied.specs[1].at.Before(e.known) {
		copied.specs = copied.specs[1:]
	}
	if len(copied.specs) == 1 {
		copied.specs = nil
	}
	if len(e.run.world.started) == 1 {
		copied.wrote = nil
	}
	e.value(reflect.ValueOf(copied))
}

// versionFields are the fields that hold a resourceVersion.
var versionFields = map[string]bool{"ResourceVersion": true, "version": true, "Version": true, "seen": true, "listed": true}

// ignored are types of which nothing matters, and fields that are derived, or that only
// reports depend on.
var ignoredTypes = map[reflect.Type]bool{reflect.TypeFor[sync.RWMutex](): true, reflect.TypeFor[sync.Mutex](): true}
var ignoredFields = map[string]bool{"namespaces": true, "listener": true, "onHeld": true, "ManagedFields": true, "number": true}

// value writes any value.
func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		e.number(map[bool]int64{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.number(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.number(int64(v.Uint()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.data = append(e.data, 0)
			return
		}
		if t := v.Type(); t == reflect.TypeFor[*batchv1.Job]() || t == reflect.TypeFor[*corev1.Pod]() {
			e.object(v)
			return
		}
		e.value(v.Elem())
	case reflect.Slice, reflect.Array:
		e.number(int64(v.Len()))
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.Map:
		e.mapping(v)
	case reflect.Struct:
		e.structure(v)
	case reflect.Func, reflect.Chan:
	default:
		panic("cannot encode " + v.Type().String())
	}
}

// object writes a stored object.
func (e *encoder) object(v reflect.Value) {
	known := e.run.encoded[v.UnsafePointer()]
	if known == nil {
		known = &encodedObject{class: classOf(resource(v.Type() == reflect.TypeFor[*batchv1.Job]()))}
		sub := &encoder{run: e.run, part: known}
		sub.value(v.Elem())
		known.hash = hashOf(sub.data)
		e.run.encoded[v.UnsafePointer()] = known
	}
	e.data = append(e.data, known.hash[:]...)
	before := e.class
	e.class = known.class
	for _, text := range known.versions {
		e.version(text)
	}
	e.class = before
	for _, t := range known.times {
		e.time(t)
	}
}

func (e *encoder) mapping(v reflect.Value) {
	keys := v.MapKeys()
	e.number(int64(len(keys)))
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.Kind() == reflect.String {
			return cmp.Compare(a.String(), b.String())
		}
		return cmp.Compare(a.Int(), b.Int())
	})
	for _, key := range keys {
		e.value(key)
		e.value(v.MapIndex(key))
	}
}

func (e *encoder) structure(v reflect.Value) {
	t := v.Type()
	if t == reflect.TypeFor[time.Time]() {
		e.time(timeOf(v))
		return
	}
	if ignoredTypes[t] {
		return
	}
	for _, f := range fieldsOf(t) {
		field := v.Field(f.at)
		switch {
		case !f.version:
			e.value(field)
		case field.Kind() == reflect.String:
			e.version(field.String())
		default:
			e.token(e.class, field.Int())
		}
	}
}

type fieldAt struct {
	at      int
	version bool
}

var fieldCache sync.Map

func fieldsOf(t reflect.Type) []fieldAt {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]fieldAt)
	}
	var fields []fieldAt
	for i := range t.NumField() {
		name := t.Field(i).Name
		if !ignoredFields[name] {
			fields = append(fields, fieldAt{i, versionFields[name]})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

// timeOf reads a time that may be in an unexported field.
func timeOf(v reflect.Value) time.Time {
	const nanoseconds = 1<<30 - 1
	seconds := v.Field(1).Int()
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds+time.Time{}.Unix(), int64(v.Field(0).Uint())&nanoseconds)
}
