package measure

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

type node struct {
	name string
	next *node
	any  any
}

// Each allocation counts once, as the allocator rounds it up.
func TestSizeOfValues(t *testing.T) {
	text := strings.Repeat("x", 20) // 24 bytes
	ring := &node{name: text}
	ring.next = ring
	for what, c := range map[string]struct {
		values []any
		want   int64
	}{
		"nothing":       {[]any{nil, 7, t, (*node)(nil), []int(nil), map[int]int(nil), ""}, 0},
		"text":          {[]any{text}, 24},
		"text twice":    {[]any{text, &node{name: text}}, 24 + 48},
		"ring":          {[]any{ring, ring}, 24 + 48},
		"capacity":      {[]any{make([]int64, 1, 4)}, 32},
		"slice of text": {[]any{[]string{text, text}}, 32 + 24},
		"large":         {[]any{make([]int64, 128)}, 1152},
		"boxed":         {[]any{&node{any: [3]int64{}}}, 48 + 24},
		"boxed pointer": {[]any{&node{any: ring}}, 48 + 48 + 24},
		"empty map":     {[]any{map[int64]int64{}}, 48},
		"map":           {[]any{map[int64]int64{1: 2}}, 48 + 144},
		"large values":  {[]any{map[int64][200]byte{1: {}}}, 48 + 144 + 208},
	} {
		assert.Equal(t, Size(c.values...), c.want, what)
	}
}
