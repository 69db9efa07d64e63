package oracle

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	seeds   = flag.Uint64("seeds", 3000, "play that many cases")
	oneSeed = flag.Int64("seed", -1, "play only the case of that seed")
)

// maxFailures is after how many failures a run ends.
const maxFailures = 10

// tally counts what came of the cases.
type tally struct {
	sync.Mutex
	differences map[string]int
	// later are the cases that came out right under another than the first pace.
	later    int
	failures []string
	// ends are how the Jobs end.
	ends map[string]int
}

func TestOracle(t *testing.T) {
	first, n := uint64(0), *seeds
	if *oneSeed >= 0 {
		first, n = uint64(*oneSeed), 1
	}
	total := &tally{differences: map[string]int{}, ends: map[string]int{}}
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < n && total.goOn(); i = next.Add(1) - 1 {
				total.play(first + i)
			}
		})
	}
	workers.Wait()
	for _, f := range total.failures {
		t.Error(f)
	}
	t.Logf("%d cases, %d of them under another than the first pace", n, total.later)
	for _, name := range slices.Sorted(maps.Keys(total.differences)) {
		t.Logf("%6d × %s", total.differences[name], name)
	}
	for _, e := range slices.Sorted(maps.Keys(total.ends)) {
		t.Logf("%6d end %s", total.ends[e], e)
	}
	if *oneSeed >= 0 && !t.Failed() {
		t.Log(report(generate(first), first))
	}
}

func (t *tally) goOn() bool {
	t.Lock()
	defer t.Unlock()
	return len(t.failures) < maxFailures
}

func (t *tally) play(seed uint64) {
	c := generate(seed)
	f, err := judge(c, seed)
	problem := ""
	if err != nil {
		problem = fmt.Sprintf("seed %d: %v\n%s", seed, err, indent(report(shrink(c, seed), seed)))
	}
	t.Lock()
	defer t.Unlock()
	if err != nil {
		t.failures = append(t.failures, problem)
		return
	}
	if f.pace > 0 {
		t.later++
	}
	for _, e := range f.ends {
		t.ends[e]++
	}
	for _, d := range f.differences {
		t.differences[d]++
	}
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
