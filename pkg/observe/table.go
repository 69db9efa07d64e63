package observe

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// table holds the newest known version of each object of one resource. Streams
// are watches of single namespaces, or one of all; each delivers in the order of
// resourceVersions, and no object is in two of them.
type table[T any] struct {
	rows map[types.UID]*row[T]
	// gone are objects that the caller deleted and the stream has not yet.
	gone    map[types.UID]departed
	streams map[string]*stream
}

// row is what is known of one object. As long as the object is there it stays where it
// is, so that an index can point to it.
type row[T any] struct {
	version string
	stream  *stream
	value   T
}

type departed struct {
	version string
	stream  *stream
}

// stream is how far one watch has come.
type stream struct {
	// seen is the resourceVersion up to which it has delivered all.
	seen string
	// listing says that it delivers a complete list, which is in no order.
	listing bool
}

func newTable[T any]() table[T] {
	return table[T]{rows: map[types.UID]*row[T]{}, gone: map[types.UID]departed{}, streams: map[string]*stream{}}
}

func (t *table[T]) stream(name string) *stream {
	s := t.streams[name]
	if s == nil {
		s = &stream{}
		t.streams[name] = s
	}
	return s
}

// value is the zero value for an object that is not there.
func (t *table[T]) value(uid types.UID) (v T) {
	if r := t.rows[uid]; r != nil {
		v = r.value
	}
	return v
}

// newer says that version a is later than b; every version is later than none.
func newer(a, b string) bool {
	if b == "" || b == "0" {
		return true
	}
	if a == "" || a == "0" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		// Every supported API server has comparable versions: the cache has no
		// second way to know what is current.
		panic(fmt.Sprintf("comparing resourceVersions: %v", err))
	}
	return order > 0
}

func (s *stream) advance(version string) {
	if !s.listing {
		s.bookmark(version)
	}
}

// bookmark notes that everything up to a version has been delivered.
func (s *stream) bookmark(version string) {
	if newer(version, s.seen) {
		s.seen = version
	}
}

// delivered takes an object from a stream; it reports whether that was news.
func (t *table[T]) delivered(s *stream, uid types.UID, version string, value T) bool {
	s.advance(version)
	if _, gone := t.gone[uid]; gone {
		return false
	}
	return t.store(s, uid, version, value)
}

// store keeps a version that is newer than what is known.
func (t *table[T]) store(s *stream, uid types.UID, version string, value T) bool {
	r := t.rows[uid]
	switch {
	case r == nil:
		t.rows[uid] = &row[T]{version, s, value}
	case newer(version, r.version):
		r.version, r.value = version, value
	default:
		return false
	}
	return true
}

// deleted takes the end of an object from a stream.
func (t *table[T]) deleted(s *stream, uid types.UID, version string) {
	s.advance(version)
	delete(t.gone, uid)
	delete(t.rows, uid)
}

// written takes the object that the caller's own write returned; it reports
// whether it is now what the table shows.
func (t *table[T]) written(s *stream, uid types.UID, version string, value T) bool {
	if _, gone := t.gone[uid]; gone {
		return false
	}
	if t.rows[uid] == nil && !newer(version, s.seen) {
		// The stream has passed this version and knows no such object: it came
		// and went before the call returned.
		return false
	}
	return t.store(s, uid, version, value)
}

// removed takes the caller's own write after which the object is gone.
func (t *table[T]) removed(s *stream, uid types.UID, version string) {
	// As long as there is a row, the stream still has to tell of the end.
	if t.rows[uid] != nil || newer(version, s.seen) {
		t.gone[uid] = departed{version, s}
	}
	delete(t.rows, uid)
}

// stale returns the objects of a stream that a complete list of the given version
// does not hold, and that are not newer than it.
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

// list says that a stream begins to deliver a complete list of the given version.
// One that is older than what the stream has delivered means that the API server's
// store was put back (an etcd restore): then nothing that is known is newer.
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

// listed says that the list is complete.
func (t *table[T]) listed(s *stream, version string) {
	s.listing = false
	s.advance(version)
	for uid, e := range t.gone {
		if e.stream == s && !newer(e.version, version) {
			delete(t.gone, uid)
		}
	}
}
