package observe

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// world is one object's true history, and its events and responses on the way to a table.
type world struct {
	version int
	// alive is the newest version of each object that exists.
	alive map[types.UID]int
	// log is everything that happened; its events are on their way in the stream, its responses on their way to the
	// writer.
	log, events, answers []delivery
}

type delivery struct {
	key     types.UID
	version int
	gone    bool
}

func (d delivery) text() string { return strconv.Itoa(d.version) }

func (w *world) commit(k types.UID, gone, ours bool) {
	w.version++
	d := delivery{k, w.version, gone}
	if ours {
		answer := d
		if gone {
			// The response to a deletion has the last version before it.
			answer.version = w.alive[k]
		}
		w.answers = append(w.answers, answer)
	}
	if gone {
		delete(w.alive, k)
	} else {
		w.alive[k] = w.version
	}
	w.log, w.events = append(w.log, d), append(w.events, d)
}

// aliveAt returns the objects that existed at a version.
func (w *world) aliveAt(version int) map[types.UID]int {
	alive := map[types.UID]int{}
	for _, d := range w.log[:version] {
		if alive[d.key] = d.version; d.gone {
			delete(alive, d.key)
		}
	}
	return alive
}

// TestTableShowsOwnWritesAndNeverGoesBack lets a writer and a stream race in every order that a network allows:
// responses arrive late and in any order, events late and in their order. The table never goes back in time, and ends
// with the true state (TRK-17, TRK-18).
func TestTableShowsOwnWritesAndNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{alive: map[types.UID]int{}}
		table := newTable[int]()
		shown, ended := map[types.UID]int{}, map[types.UID]bool{}
		objects := 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"create", "change", "end", "event", "event", "answer", "missing", "relist"}).Draw(t, "step") {
			case "create":
				objects++
				w.commit(types.UID(fmt.Sprintf("o%d", objects)), false, rapid.Bool().Draw(t, "ours"))
			case "change", "end":
				if k, ok := anyOf(t, w.alive); ok {
					w.commit(k, rapid.Bool().Draw(t, "gone"), rapid.Bool().Draw(t, "ours"))
				}
			case "event":
				w.deliverEvent(&table)
			case "answer":
				w.deliverAnswer(t, &table)
			case "missing":
				w.answerMissing(&table)
			case "relist":
				w.relist(t, &table)
			}
			neverBack(t, &table, shown, ended)
		}
		for len(w.events) > 0 {
			w.deliverEvent(&table)
		}
		for len(w.answers) > 0 {
			w.deliverAnswer(t, &table)
			neverBack(t, &table, shown, ended)
		}
		if len(table.rows) != len(w.alive) {
			t.Fatalf("table has %v, truth is %v", table.rows, w.alive)
		}
		for k, v := range w.alive {
			if table.value(k) != v {
				t.Fatalf("%v: table has %d, truth is %d", k, table.value(k), v)
			}
		}
	})
}

func anyOf(t *rapid.T, alive map[types.UID]int) (types.UID, bool) {
	var keys []types.UID
	for i := 1; i <= 60; i++ {
		if k := types.UID(fmt.Sprintf("o%d", i)); alive[k] > 0 {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return "", false
	}
	return rapid.SampledFrom(keys).Draw(t, "object"), true
}

func (w *world) deliverEvent(table *table[int]) {
	if len(w.events) == 0 {
		return
	}
	d := w.events[0]
	w.events = w.events[1:]
	if d.gone {
		table.deleted(table.stream(""), d.key, d.text())
	} else {
		table.delivered(table.stream(""), d.key, d.text(), d.version)
	}
}

func (w *world) deliverAnswer(t *rapid.T, table *table[int]) {
	if len(w.answers) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.answers)-1).Draw(t, "answer")
	d := w.answers[i]
	w.answers = append(w.answers[:i:i], w.answers[i+1:]...)
	if d.gone {
		table.removed(table.stream(""), d.key, d.text())
	} else {
		table.written(table.stream(""), d.key, d.text(), d.version)
	}
}

// answerMissing delivers a read that lacks the shown objects that no longer exist.
func (w *world) answerMissing(table *table[int]) {
	for k, r := range table.rows {
		if w.alive[k] == 0 {
			table.leaves(r.stream, k, strconv.Itoa(w.version))
		}
	}
}

// relist restarts the stream after a broken watch, from a complete list that is no older than the last delivered
// version; earlier events are lost.
func (w *world) relist(t *rapid.T, table *table[int]) {
	stream := table.stream("")
	seen, _ := strconv.Atoi(stream.seen) // 0 before the first event
	at := rapid.IntRange(seen, w.version).Draw(t, "listed at")
	if at == 0 {
		return
	}
	version := strconv.Itoa(at)
	table.list(stream, version)
	listed := map[types.UID]bool{}
	for k, v := range w.aliveAt(at) {
		listed[k] = true
		table.delivered(stream, k, strconv.Itoa(v), v)
	}
	for _, k := range table.stale(stream, version, listed) {
		table.deleted(stream, k, version)
	}
	table.listed(stream, version, listed)
	w.events = slices.Clone(w.log[at:])
}

// neverBack fails if an object is shown at an older version than before, or again after it was gone.
func neverBack(t *rapid.T, table *table[int], shown map[types.UID]int, ended map[types.UID]bool) {
	for k := range shown {
		if _, there := table.rows[k]; !there {
			ended[k] = true
		}
	}
	for k, r := range table.rows {
		if r.value < shown[k] || ended[k] {
			t.Fatalf("%v is shown at %d after %d (gone: %v)", k, r.value, shown[k], ended[k])
		}
		shown[k] = r.value
	}
}

// TRK-17: the response to a deletion has the last version before it, and so may a list that still contains the object:
// twice, as the watch may fail again.
func TestDeletedObjectIsStillListed(t *testing.T) {
	table := newTable[int]()
	s := table.stream("")
	table.delivered(s, "a", "5", 5)
	table.removed(s, "a", "5")
	for range 2 {
		table.list(s, "5")
		table.delivered(s, "a", "5", 5)
		table.listed(s, "5", map[types.UID]bool{"a": true})
	}
	expect(t, "shown", len(table.rows), 0)
	table.deleted(s, "a", "6")
	expect(t, "remembered", len(table.gone), 0)
}

// A list of version 0, as of an empty store, is not older than one before.
func TestNoVersionIsNotNewer(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"2", "1", true}, {"1", "1", false}, {"1", "2", false}, {"1", "", true}, {"1", "0", true}, {"", "1", false}, {"0", "1", false}, {"0", "0", false}, {"", "", false}} {
		assert.Equalf(t, newer(c.a, c.b), c.want, "newer(%q, %q)", c.a, c.b)
	}
}
