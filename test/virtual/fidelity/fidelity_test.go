package fidelity

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// generate returns the sequence of calls for a seed.
func generate(seed uint64) []call {
	g := generator{Rand: rand.New(rand.NewPCG(seed, 0)), player: newPlayer(newVirtual(), "g-")}
	return g.sequence()
}

// workers is how many sequences are compared at once.
const workers = 8

// account summarizes the random sequences of a run.
type account struct {
	sync.Mutex
	begun                  time.Time
	next, sequences, calls int
	// known counts the sequences that ended at a known difference between releases, by name; reported has the kinds
	// of differences already reported.
	known    map[string]int
	reported map[string]bool
}

// seed returns the next seed, and false after the last one.
func (a *account) seed() (uint64, bool) {
	a.Lock()
	defer a.Unlock()
	if a.next == *sequences {
		return 0, false
	}
	a.next++
	return *firstSeed + uint64(a.next) - 1, true
}

// add counts a sequence and returns whether to report its difference: it must be new, and no known difference of a
// release.
func (a *account) add(calls []call, found difference) bool {
	a.Lock()
	defer a.Unlock()
	a.sequences++
	a.calls += min(found.at+1, len(calls))
	if len(found.lines) == 0 {
		return false
	}
	if d := knownDifference(calls, found); d != nil {
		a.known[d.name]++
		return false
	}
	kind := found.kind(calls)
	known := a.reported[kind]
	a.reported[kind] = true
	return !known
}

// The virtual API server and the real one give the same answers to random calls, and store the same objects.
// Requirements: FID-01, FID-02
func TestRandomSequences(t *testing.T) {
	a := &account{begun: time.Now(), known: map[string]int{}, reported: map[string]bool{}}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			l := realLane(t.Context())
			for seed, more := a.seed(); more; seed, more = a.seed() {
				if err := l.compareSeed(t, a, seed); err != nil {
					t.Errorf("seed %d: %v", seed, err)
					return
				}
			}
		})
	}
	running.Wait()
	took := time.Since(a.begun).Seconds()
	t.Logf("%s: %d sequences, %d calls, %.0f sequences per second; ended at differences between releases: %v",
		release, a.sequences, a.calls, float64(a.sequences)/took, a.known)
}

// compareSeed compares the sequence of a seed, and reports a difference.
func (l *lane) compareSeed(t *testing.T, a *account, seed uint64) error {
	calls := generate(seed)
	found, err := l.compare(calls)
	if err != nil || !a.add(calls, found) {
		return err
	}
	short, found, err := l.shrink(calls[:min(found.at+1, len(calls))], found)
	if err != nil {
		return err
	}
	t.Errorf("seed %d:\n%s%s", seed, format(short), strings.Join(found.lines, "\n"))
	return nil
}

// Past differences do not reappear. -replay names another file of sequences.
// Requirements: FID-04
func TestReplay(t *testing.T) {
	text, err := os.ReadFile(*replay)
	assert.NoError(t, err)
	l := realLane(t.Context())
	for paragraph := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		calls, err := parseCalls(paragraph)
		assert.NoError(t, err)
		found, err := l.compare(calls)
		assert.NoError(t, err)
		if len(found.lines) > 0 && knownDifference(calls, found) == nil {
			t.Errorf("%s\n%s", paragraph, strings.Join(found.lines, "\n"))
		}
	}
}

func TestCallsAreReadAsTheyAreWritten(t *testing.T) {
	for seed := range uint64(200) {
		text := format(generate(seed))
		calls, err := parseCalls("# a comment\n\n" + text)
		if err != nil || format(calls) != text {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
		}
	}
	for _, wrong := range []string{"create", "status job0 active"} {
		if _, err := parseCalls(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
