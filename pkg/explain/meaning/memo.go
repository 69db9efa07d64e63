package meaning

import "k8s.io/utils/lru"

// memo keeps the latest results of a function whose result depends on its key alone: an explanation looks at each line of a log many times, and
// hundreds of expressions do.
type memo struct{ results *lru.Cache }

// The sizes bound the memory: lines that are longer are read each time.
const (
	maxResults  = 4096
	maxMemoLine = 2048
)

func newMemo() memo { return memo{lru.New(maxResults)} }

// memoized returns the result of a function for a key, of which line is the part that may be long.
func memoized[V any](m memo, key any, line string, result func() V) V {
	if len(line) > maxMemoLine {
		return result()
	}
	if known, is := m.results.Get(key); is {
		return known.(V)
	}
	v := result()
	m.results.Add(key, v)
	return v
}
