package observe

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// key identifies one object in one of the streams (one watch) that fill a table.
type key struct {
	uid    types.UID
	stream string
}

// table holds the newest known version of each object of one resource. Streams
// are watches of single namespaces, or one of all; each delivers in the order of
// resourceVersions.
type table[T any] struct {
	rows map[key]row[T]
	// gone are objects that the caller deleted and the stream has not yet.
	gone map[key]string
	// seen is the resourceVersion up to which each stream has delivered all.
	seen map[string]string
	// listing are the streams that deliver a complete list, which is in no order.
	listing map[string]bool
}

type row[T any] struct {
	version string
	value   T
}

func newTable[T any]() table[T] {
	return table[T]{rows: map[key]row[T]{}, gone: map[key]string{}, seen: map[string]string{}, listing: map[string]bool{}}
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

func (t *table[T]) advance(stream, version string) {
	if !t.listing[stream] && newer(version, t.seen[stream]) {
		t.seen[stream] = version
	}
}

// delivered takes an object from a stream; it reports whether that was news.
func (t *table[T]) delivered(k key, version string, value T) bool {
	t.advance(k.stream, version)
	if _, gone := t.gone[k]; gone {
		return false
	}
	if old, ok := t.rows[k]; ok && !newer(version, old.version) {
		return false
	}
	t.rows[k] = row[T]{version, value}
	return true
}

// deleted takes the end of an object from a stream.
func (t *table[T]) deleted(k key, version string) {
	t.advance(k.stream, version)
	delete(t.gone, k)
	delete(t.rows, k)
}

// written takes the object that the caller's own write returned; it reports
// whether it is now what the table shows.
func (t *table[T]) written(k key, version string, value T) bool {
	if _, gone := t.gone[k]; gone {
		return false
	}
	old, ok := t.rows[k]
	if ok && !newer(version, old.version) {
		return false
	}
	if !ok && !newer(version, t.seen[k.stream]) {
		// The stream has passed this version and knows no such object: it came
		// and went before the call returned.
		return false
	}
	t.rows[k] = row[T]{version, value}
	return true
}

// removed takes the caller's own write after which the object is gone.
func (t *table[T]) removed(k key, version string) {
	// As long as there is a row, the stream still has to tell of the end.
	if _, ok := t.rows[k]; ok || newer(version, t.seen[k.stream]) {
		t.gone[k] = version
	}
	delete(t.rows, k)
}

// stale returns the keys of a stream that a complete list of the given version
// does not hold, and that are not newer than it.
func (t *table[T]) stale(stream, version string, listed map[types.UID]bool) []key {
	var out []key
	for k, r := range t.rows {
		if k.stream == stream && !listed[k.uid] && !newer(r.version, version) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b key) int { return cmp.Compare(a.uid, b.uid) })
	return out
}

// list says that a stream begins to deliver a complete list of the given version.
// One that is older than what the stream has delivered means that the API server's
// store was put back (an etcd restore): then nothing that is known is newer.
func (t *table[T]) list(stream, version string) {
	if newer(t.seen[stream], version) {
		for k, r := range t.rows {
			if k.stream == stream {
				t.rows[k] = row[T]{"", r.value}
			}
		}
		for k := range t.gone {
			if k.stream == stream {
				delete(t.gone, k)
			}
		}
		delete(t.seen, stream)
	}
	t.listing[stream] = true
}

// listed says that the list is complete.
func (t *table[T]) listed(stream, version string) {
	delete(t.listing, stream)
	t.advance(stream, version)
	for k, at := range t.gone {
		if k.stream == stream && !newer(at, version) {
			delete(t.gone, k)
		}
	}
}
