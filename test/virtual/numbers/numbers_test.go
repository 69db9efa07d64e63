package numbers

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var (
	moments = flag.Int("moments", 700, "check that many moments")
	oneSeed = flag.Int64("seed", -1, "check only the moments of that seed")
	verbose = flag.Bool("outputs", false, "print all outputs")
)

const (
	// examples is the number of problems of one kind to print.
	examples = 2
	// longRun is a number of moments that is enough to meet every sentence.
	longRun = 20_000
	// progressEvery is the number of moments between progress messages.
	progressEvery = 5000
)

// Issue 17: in every state of a Job, and however far the status lags behind the pods, numbers and durations of one name
// are equal in text, JSON, rows and screens, and parts add up.
// Requirements: CLI-01, CLI-03, CLI-04
func TestNumbersOfOneNameAgree(t *testing.T) {
	w := newWaiter(t)
	kinds := map[string]int{}
	n, jobs, first := 0, 0, uint64(0)
	if *oneSeed >= 0 {
		first, *moments = uint64(*oneSeed), 1
	}
	for seed := first; n < *moments; seed++ {
		jobs++
		for _, m := range momentsOf(seed) {
			if n++; n%progressEvery == 0 {
				t.Logf("%d moments", n)
			}
			wait := w
			if n%waitEvery > 0 {
				wait = nil
			}
			for _, problem := range m.problems(t, wait) {
				kind, _, _ := strings.Cut(problem, "\n")
				if kinds[kind]++; kinds[kind] <= examples {
					t.Errorf("%v: %s", &m, problem)
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%6d × %s", kinds[kind], kind)
	}
	t.Logf("%d moments of %d Jobs", n, jobs)
	for _, pattern := range slices.Sorted(maps.Keys(met)) {
		if n >= longRun && !met[pattern] {
			t.Errorf("nothing says %s: what is the name of this number now?", pattern)
		}
	}
}

// problems returns names with several values, and totals that are not the sum of their parts.
func (m *moment) problems(t testing.TB, w *waiter) []string {
	report, outputs := m.outputs(t, w)
	f := facts{}
	for _, o := range outputs {
		if *verbose {
			fmt.Printf("--- %v: %s\n%s\n", m, o.name, o.text)
		}
		f.readOutput(o)
	}
	return append(f.contradictions(), wrongSums(report, f, outputs)...)
}
