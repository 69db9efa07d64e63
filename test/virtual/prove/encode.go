package prove

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// resource is the kind of an object: Job or pod.
type resource bool

const (
	jobsOnly resource = true
	podsOnly resource = false
)

// resourceOf returns the resource that a commit wrote.
func resourceOf(c sim.Commit) resource { return resource(c.IsJob()) }

// fingerprint represents a state.
type fingerprint [8]byte

func hashOf(data []byte) (f fingerprint) {
	sum := sha256.Sum256(data)
	copy(f[:], sum[:])
	return f
}

// timeGrain is the resolution of times. It is longer than the duration of everything that happens at one moment.
const timeGrain = 10 * time.Millisecond

// encoder encodes states so that equal encodings have equal futures.
type encoder struct {
	run  *run
	data []byte
	now  time.Time
	// old is the age from which times are equally old.
	old time.Duration
	// names are the numbers that pods get.
	names renaming
	// versions holds the encoded versions, class is the class of the version being encoded, and owner is the number of
	// the process that has it, or inStore.
	versions []writtenVersion
	class    tokenClass
	owner    int
	// key is the UID of the value being encoded, if it is in a map by UID.
	key types.UID
	// moments holds the times with which the Checker's times may be compared. known is the first of them: every process
	// knows everything before it. compared holds the encoded moments and times of the Checker.
	moments  []time.Time
	known    time.Time
	compared []comparedTime
	// checking is set while the Checker's history is encoded, where versions do not matter.
	checking bool
	// unversioned leaves out versions.
	unversioned bool
	// part, if set, is the object that is being encoded on its own.
	part *encodedObject
}

// encodedObject caches the encoding of a stored object, without the parts that depend on the present moment: a stored
// object never changes, and occurs in many places.
type encodedObject struct {
	hash     fingerprint
	class    tokenClass
	versions []string
	times    []time.Time
}

// objectKey identifies an object by its address, which the run keeps alive, and the names of the pods.
type objectKey struct {
	at    unsafe.Pointer
	names renaming
}

type tokenClass int

const (
	podVersions tokenClass = iota
	jobVersions
)

func newEncoder(r *run, names renaming) *encoder {
	e := &encoder{run: r, now: r.world.Now(), old: oldTime(r), names: names, owner: inStore}
	e.data, r.buffer = r.buffer[:0], nil
	return e
}

func (e *encoder) sum() fingerprint {
	for _, v := range e.versions {
		for _, n := range v.among(e.versions) {
			e.number(n)
		}
	}
	for _, rank := range ranksOf(e.compared) {
		e.number(rank)
	}
	e.run.buffer = e.data
	return hashOf(e.data)
}

func (e *encoder) number(n int64) {
	e.data = binary.AppendVarint(e.data, n)
}

func (e *encoder) flag(set bool) {
	if set {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) text(s string) {
	s = e.names.apply(s)
	e.number(int64(len(s)))
	e.data = append(e.data, s...)
}

func (e *encoder) version(text string) {
	if e.part != nil {
		e.part.versions = append(e.part.versions, text)
		return
	}
	e.token(e.class, versionOf(text))
}

// versionOf parses a resourceVersion; "" is 0.
func versionOf(text string) int64 {
	v, _ := strconv.ParseInt(text, 10, 64)
	return v
}

// uidOf returns the UID of the object that a commit wrote.
func uidOf(c *sim.Commit) types.UID {
	switch {
	case c.NewJob != nil:
		return c.NewJob.UID
	case c.OldJob != nil:
		return c.OldJob.UID
	case c.NewPod != nil:
		return c.NewPod.UID
	}
	return c.OldPod.UID
}

// lastWrite returns the index of the last commit to a resource up to a version, or -1: a list of the resource is not
// affected by writes to the other one.
func (r *run) lastWrite(class tokenClass, version int64) int {
	commits := r.world.Journal().Commits()
	for n := len(commits) - len(r.world.Journal().Since(version)); n > 0; n-- {
		if classOf(resourceOf(commits[n-1])) == class {
			return n - 1
		}
	}
	return -1
}

// classOf returns the class of the versions of a resource.
func classOf(r resource) tokenClass {
	if r == jobsOnly {
		return jobVersions
	}
	return podVersions
}

// time encodes a time.
func (e *encoder) time(t time.Time) {
	switch {
	case e.part != nil && !t.IsZero():
		e.part.times = append(e.part.times, t)
	default:
		e.age(t)
		if e.checking && !t.IsZero() && !t.Before(e.known) {
			e.compare(t)
		}
	}
}

// age encodes the difference between a time and now.
func (e *encoder) age(t time.Time) {
	since := e.now.Sub(t)
	switch {
	case t.IsZero():
		e.text("never")
	case since > e.old:
		e.text("long ago")
	case since < -time.Hour:
		e.text("far")
	default:
		e.number(int64((since + timeGrain/2) / timeGrain))
	}
}

// place returns how many of the moments are not after a time.
func (e *encoder) place(t time.Time) int64 {
	n, _ := slices.BinarySearchFunc(e.moments, t, func(moment, t time.Time) int {
		if moment.After(t) {
			return 1
		}
		return -1
	})
	return int64(n)
}

// versionFields are the fields that hold the resourceVersion of an object, positionFields the fields that hold the
// version up to which a watch or a list is complete.
var (
	versionFields  = map[string]bool{"ResourceVersion": true, "version": true, "Version": true}
	positionFields = map[string]bool{"seen": true, "listed": true}
)

// ignoredTypes and ignoredFields do not matter: they are derived, or only used in reports.
var (
	ignoredTypes  = map[reflect.Type]bool{reflect.TypeFor[sync.RWMutex](): true, reflect.TypeFor[sync.Mutex](): true}
	ignoredFields = map[string]bool{
		"namespaces": true, "listener": true, "onHeld": true, "ManagedFields": true, "number": true, "emitted": true, "lastEnd": true,
		// These are positions in an order that Compute does not depend on (S10).
		"podRow.at": true, "strayAt": true,
	}
)

// neverChange holds the types whose pointers always point to the same value.
var neverChange = map[reflect.Type]bool{
	reflect.TypeFor[*batchv1.Job](): true, reflect.TypeFor[*batchv1.JobStatus](): true,
	reflect.TypeFor[*corev1.Pod](): true, reflect.TypeFor[*reconcile.Pod](): true,
}

// value encodes any value.
func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		e.flag(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.number(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.number(int64(v.Uint()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.data = append(e.data, 0)
			return
		}
		if neverChange[v.Type()] {
			e.object(v)
			return
		}
		e.value(v.Elem())
	case reflect.Slice, reflect.Array:
		e.list(v)
	case reflect.Map:
		e.mapping(v)
	case reflect.Struct:
		e.structure(v)
	case reflect.Func, reflect.Chan:
	default:
		panic("cannot encode " + v.Type().String())
	}
}

// object encodes a stored object.
func (e *encoder) object(v reflect.Value) {
	key := objectKey{v.UnsafePointer(), e.names}
	known := e.run.encoded[key]
	if known == nil {
		known = &encodedObject{class: classOf(resource(v.Type() == reflect.TypeFor[*batchv1.Job]()))}
		sub := &encoder{run: e.run, names: e.names, part: known}
		sub.value(v.Elem())
		known.hash = hashOf(sub.data)
		e.run.encoded[key] = known
	}
	e.data = append(e.data, known.hash[:]...)
	before := e.class
	e.class = known.class
	for _, text := range known.versions {
		e.version(text)
	}
	e.class = before
	for _, t := range known.times {
		e.age(t)
	}
}

func (e *encoder) mapping(v reflect.Value) {
	keys := v.MapKeys()
	e.number(int64(len(keys)))
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.Kind() == reflect.String {
			return cmp.Compare(e.names.apply(a.String()), e.names.apply(b.String()))
		}
		return cmp.Compare(a.Int(), b.Int())
	})
	for _, key := range keys {
		e.value(key)
		if e.key = ""; key.Type() == reflect.TypeFor[types.UID]() {
			e.key = types.UID(key.String())
		}
		e.value(v.MapIndex(key))
	}
}

// list encodes a slice. The order of UIDs does not matter: they are used as a set.
func (e *encoder) list(v reflect.Value) {
	e.number(int64(v.Len()))
	if v.Type() != reflect.TypeFor[[]types.UID]() {
		for i := range v.Len() {
			e.value(v.Index(i))
		}
		return
	}
	var all []string
	for i := range v.Len() {
		all = append(all, e.names.apply(v.Index(i).String()))
	}
	slices.Sort(all)
	for _, uid := range all {
		e.number(int64(len(uid)))
		e.data = append(e.data, uid...)
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
	isGone := t.Name() == "goneObject"
	for _, f := range fieldsOf(t) {
		field := v.Field(f.at)
		switch {
		case f.moment:
			e.moment(timeOf(field))
		case f.position:
			e.position(e.class, versionOf(field.String()))
		case !f.version:
			e.value(field)
		case isGone: // This may be the version of a list.
			e.written(e.class, e.run.lastWrite(e.class, versionOf(field.String())), e.key)
		case field.Kind() == reflect.String:
			e.version(field.String())
		default:
			e.token(e.class, field.Int())
		}
	}
}

// fieldAt is a field of a struct: a version, a position, a time that is a moment of the Checker, or any other field.
type fieldAt struct {
	at                        int
	version, position, moment bool
}

var fieldCache sync.Map

func fieldsOf(t reflect.Type) []fieldAt {
	if known, ok := fieldCache.Load(t); ok {
		return known.([]fieldAt)
	}
	var fields []fieldAt
	for i := range t.NumField() {
		name := t.Field(i).Name
		if !ignoredFields[name] && !ignoredFields[t.Name()+"."+name] {
			fields = append(fields, fieldAt{i, versionFields[name], positionFields[name], momentFields[t.Name()+"."+name]})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}

// timeOf returns a time that may be in an unexported field.
func timeOf(v reflect.Value) time.Time {
	const nanoseconds = 1<<30 - 1
	seconds := v.Field(1).Int()
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds+time.Time{}.Unix(), int64(v.Field(0).Uint())&nanoseconds)
}
