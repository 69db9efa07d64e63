package observe

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// table holds the newest known version of each object of one resource. Streams are watches, of single namespaces or of
// all; each delivers in the order of resourceVersions, and each object belongs to one stream.
type table[T any] struct {
	rows map[types.UID]*row[T]
	// gone holds objects that the caller deleted, or that a read did not contain, but whose deletion the stream has not
	// delivered yet.
	gone    map[types.UID]goneObject
	streams map[string]*stream
}

// row is the cached state of one object. It does not move while the object exists, so that an index can point to it.
type row[T any] struct {
	version string
	stream  *stream
	value   T
}

type goneObject struct {
	// version is a version at which the object was gone, or the last known version before.
	version string
	stream  *stream
	// left reports whether the object may exist but does not matter to the caller: a newer event, or a newer list that
	// contains it, shows it again.
	left bool
}

// stream is the progress of one watch.
type stream struct {
	// seen is the resourceVersion up to which the watch has delivered everything.
	seen string
	// listing reports whether the watch is delivering a complete list, which is in no order.
	listing bool
}

func newTable[T any]() table[T] {
	return table[T]{rows: map[types.UID]*row[T]{}, gone: map[types.UID]goneObject{}, streams: map[string]*stream{}}
}

func (t *table[T]) stream(name string) *stream {
	s := t.streams[name]
	if s == nil {
		s = &stream{}
		t.streams[name] = s
	}
	return s
}

// value returns the value of an object, or the zero value if there is none.
func (t *table[T]) value(uid types.UID) (v T) {
	if r := t.rows[uid]; r != nil {
		v = r.value
	}
	return v
}

// newer reports whether version a is later than b. "" and "0" are no versions: every version is later.
func newer(a, b string) bool {
	if a == "" || a == "0" {
		return false
	}
	if b == "" || b == "0" {
		return true
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		// All supported API servers have comparable versions, and the cache has no other way to find the current one.
		panic(fmt.Sprintf("comparing resourceVersions: %v", err))
	}
	return order > 0
}

func (s *stream) advance(version string) {
	if !s.listing {
		s.bookmark(version)
	}
}

// bookmark records that everything up to a version has been delivered.
func (s *stream) bookmark(version string) {
	if newer(version, s.seen) {
		s.seen = version
	}
}

// delivered stores an object from a stream, and reports whether it was newer.
func (t *table[T]) delivered(s *stream, uid types.UID, version string, value T) bool {
	s.advance(version)
	return !t.isGone(uid, version) && t.store(s, uid, version, value)
}

// isGone reports whether an object is gone, so that a version of it is outdated.
func (t *table[T]) isGone(uid types.UID, version string) bool {
	e, gone := t.gone[uid]
	return gone && (!e.left || !newer(version, e.version))
}

// isOutdated reports whether a version of an object is old: the object is gone, or the table has the same or a newer
// version.
func (t *table[T]) isOutdated(uid types.UID, version string) bool {
	r := t.rows[uid]
	return t.isGone(uid, version) || r != nil && !newer(version, r.version)
}

// store stores a version if it is newer than the known one.
func (t *table[T]) store(s *stream, uid types.UID, version string, value T) bool {
	r := t.rows[uid]
	switch {
	case r == nil:
		t.rows[uid] = &row[T]{version, s, value}
		delete(t.gone, uid)
	case newer(version, r.version):
		r.version, r.value = version, value
	default:
		return false
	}
	return true
}

// deleted handles the deletion of an object by a stream.
func (t *table[T]) deleted(s *stream, uid types.UID, version string) {
	s.advance(version)
	delete(t.gone, uid)
	delete(t.rows, uid)
}

// written stores the object that a write of the caller returned, and reports whether the table changed.
func (t *table[T]) written(s *stream, uid types.UID, version string, value T) bool {
	if t.isGone(uid, version) {
		return false
	}
	if t.rows[uid] == nil && !newer(version, s.seen) {
		// The stream has passed this version without the object: it was created and
		// deleted before the call returned.
		return false
	}
	return t.store(s, uid, version, value)
}

// missing handles a call that did not find the object. The object is gone as of some version after the last one in the
// table; if the table never had it, there is nothing to do.
func (t *table[T]) missing(uid types.UID) {
	e := t.gone[uid]
	if r := t.rows[uid]; r != nil {
		e = goneObject{version: r.version, stream: r.stream}
		delete(t.rows, uid)
	}
	if e.stream != nil {
		e.left = false
		t.gone[uid] = e
	}
}

// isOf reports whether the object belongs to the stream, or is unknown.
func (t *table[T]) isOf(s *stream, uid types.UID) bool {
	if r := t.rows[uid]; r != nil {
		return r.stream == s
	}
	return true
}

// removed handles the end of an object by a write of the caller, as of the version in the response.
func (t *table[T]) removed(s *stream, uid types.UID, version string) {
	t.forget(s, uid, goneObject{version: version, stream: s})
}

// leaves handles an object that no longer matters, or that a read did not contain, as of a version. The object may
// exist.
func (t *table[T]) leaves(s *stream, uid types.UID, version string) {
	t.forget(s, uid, goneObject{version: version, stream: s, left: true})
}

func (t *table[T]) forget(s *stream, uid types.UID, as goneObject) {
	// While there is a row, the stream has not delivered the deletion yet.
	if t.rows[uid] != nil || newer(as.version, s.seen) {
		t.gone[uid] = as
	}
	delete(t.rows, uid)
}

// stale returns the objects of a stream that are not in a complete list of the given
// version, and not newer than it.
func (t *table[T]) stale(s *stream, version string, listed map[types.UID]bool) []types.UID {
	var out []types.UID
	for uid, r := range t.rows {
		if r.stream == s && !listed[uid] && !newer(r.version, version) {
			out = append(out, uid)
		}
	}
	slices.Sort(out)
	return out
}

// list starts a complete list of the given version. A list older than the last delivered version means that the API
// server's store was restored from a backup: then no known version counts as newer.
func (t *table[T]) list(s *stream, version string) {
	if newer(s.seen, version) {
		for _, r := range t.rows {
			if r.stream == s {
				r.version = ""
			}
		}
		for uid, e := range t.gone {
			if e.stream == s {
				delete(t.gone, uid)
			}
		}
		s.seen = ""
	}
	s.listing = true
}

// listed ends the list, which contained these objects. If a gone object was in the list, the stream has not delivered
// its deletion yet.
func (t *table[T]) listed(s *stream, version string, listed map[types.UID]bool) {
	s.listing = false
	s.advance(version)
	for uid, e := range t.gone {
		if e.stream == s && !listed[uid] && !newer(e.version, version) {
			delete(t.gone, uid)
		}
	}
}
