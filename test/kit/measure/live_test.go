//go:build measure

package measure

import (
	"runtime"
	"strconv"
	"testing"
)

// Counted sizes are not below those on the heap, and at most twice as large.
func TestSizeIsThatOnTheHeap(t *testing.T) {
	const n = 100_000
	for what, fill := range map[string]func() any{
		"list": func() any {
			var first *node
			for i := range n {
				first = &node{name: "a node with the number " + strconv.Itoa(i), next: first}
			}
			return []*node{first}
		},
		"slice": func() any {
			var all []node
			for i := range n {
				all = append(all, node{name: "a node with the number " + strconv.Itoa(i)})
			}
			return all
		},
		"map": func() any {
			all := map[string]*node{}
			for i := range n {
				all["a node with the number "+strconv.Itoa(i)] = &node{}
			}
			return all
		},
		"large values": func() any {
			all := map[int][200]byte{}
			for i := range n {
				all[i] = [200]byte{}
			}
			return all
		},
	} {
		before := Live()
		value := fill()
		live, counted := Live()-before, Size(value)
		runtime.KeepAlive(value)
		if t.Logf("%s: %d bytes, counted %d", what, live, counted); counted < live*99/100 || counted > 2*live {
			t.Errorf("%s: %d bytes, counted %d", what, live, counted)
		}
	}
}
