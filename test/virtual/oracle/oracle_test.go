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

	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/differences"
)

var (
	seeds   = flag.Uint64("seeds", 20_000, "play that many cases, or a tenth with -short")
	oneSeed = flag.Int64("seed", -1, "play only the case of that seed")
)

const (
	// maxFailures is the number of failures that ends a run.
	maxFailures = 10
	// longRun is a number of cases in which every difference occurs.
	longRun = 60_000
)

// tally counts the results of the cases.
type tally struct {
	sync.Mutex
	differences map[string]int
	// example is the lowest seed that shows a difference.
	example map[string]uint64
	// later is the number of cases that agree under a pace other than the first.
	later    int
	failures []string
	// ends counts how the Jobs end.
	ends map[string]int
}

// The whole sync is compared with the model: the order of the reasons to end (JOB-01), which pods run (JOB-02..12),
// which count (TRK-04, BLI-02..29, PRP-02..16, PFP-01..10), when (JOB-18, BLI-22), and the resulting status (JOB-22..28,
// PFN-02, SUC-03..17, MGB-10).
func TestEndStatesAgreeWithTheModel(t *testing.T) {
	first, n := uint64(0), *seeds
	if testing.Short() {
		n /= 10
	}
	if *oneSeed >= 0 {
		first, n = uint64(*oneSeed), 1
	}
	total := &tally{differences: map[string]int{}, example: map[string]uint64{}, ends: map[string]int{}}
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
	total.report(t, n)
	if *oneSeed >= 0 && !t.Failed() {
		t.Log(report(cases.Generate(first), first))
	}
}

// report logs how often each difference occurred, and fails for an undocumented difference, or, in a long run, for a
// documented difference that did not occur.
func (t *tally) report(test *testing.T, cases uint64) {
	for _, f := range t.failures {
		test.Error(f)
	}
	test.Logf("%d cases, %d of them not under the first pace", cases, t.later)
	for _, end := range slices.Sorted(maps.Keys(t.ends)) {
		test.Logf("%6d × %s", t.ends[end], end)
	}
	for _, d := range differences.All() {
		if d.Rule == nil {
			continue
		}
		test.Logf("%6d × difference: %s (seed %d)", t.differences[d.Name], d.Name, t.example[d.Name])
		if cases >= longRun && t.differences[d.Name] == 0 {
			test.Errorf("no case meets the difference %q: it goes from the list", d.Name)
		}
	}
}

func (t *tally) goOn() bool {
	t.Lock()
	defer t.Unlock()
	return len(t.failures) < maxFailures
}

func (t *tally) play(seed uint64) {
	c := cases.Generate(seed)
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
		if t.differences[d]++; t.differences[d] == 1 || seed < t.example[d] {
			t.example[d] = seed
		}
	}
}

func indent(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
