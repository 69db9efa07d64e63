package prove

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// onePod is the smallest world.
func onePod() *smallWorld { return plainWorlds()[0] }

// neverRight returns the smallest world, with every outcome of the Job considered wrong.
func neverRight() *smallWorld {
	s := *onePod()
	s.wrong = func(*batchv1.Job) string { return "this is never right" }
	return &s
}

// TestChoicesDetermineTheState walks at random, with faults, and replays each walk: a state has the same
// fingerprint, even if only the end of the history is hashed.
// Requirements: PRV-04
func TestChoicesDetermineTheState(t *testing.T) {
	for seed := range scenario.FewerSeeds(100) {
		s := allWorlds()[int(seed)%len(allWorlds())]
		path, since, want := randomWalk(s, seed)
		again := s.replayed(path, 0)
		assert.Equal(t, again.fingerprint(), want, s.name, seed)
		again.abandon()
		later := s.replayed(path, since)
		assert.Equalf(t, later.fingerprint(), want, "%s, seed %d: hashed from depth %d of %d", s.name, seed, since, len(path))
		later.abandon()
	}
}

// randomWalk returns a random history, the depth at which the oldest carrier at its end began, and the fingerprint of
// the last state.
func randomWalk(s *smallWorld, seed uint64) (path [][]uint8, since int, end fingerprint) {
	rng := rand.New(rand.NewPCG(seed, 5))
	r := newRun(s, 0)
	defer r.abandon()
	for range 10 + rng.IntN(30) {
		steps := r.steps()
		if len(steps) == 0 {
			break
		}
		choices := []uint8{uint8(rng.IntN(len(steps)))}
		if r.take(steps, choices); len(r.taken) > 1 && rng.IntN(10) == 0 {
			// The last choice is made again, as in a search.
			choices = slices.Clone(r.taken)
			choices[len(choices)-1] = r.options[len(choices)-1] - 1
			r.abandon()
			r = s.replayed(path, 0)
			r.take(r.steps(), choices)
		}
		path = append(path, slices.Clone(r.taken))
	}
	since = r.depth
	for _, c := range r.carriers {
		since = min(since, c.begun.depth)
	}
	return path, since, r.fingerprint()
}

// TestReductionsKeepVerdicts explores the smallest worlds without reductions.
// Requirements: PRV-05
func TestReductionsKeepVerdicts(t *testing.T) {
	worlds := []*smallWorld{onePod(), neverRight()}
	if !testing.Short() && !scenario.UnderRace {
		worlds = append(worlds, policyWorlds()[0])
	}
	for _, s := range worlds {
		plain := *s
		plain.plain, plain.exact = true, true
		reduced, full := newSearch(s, limits{}), newSearch(&plain, limits{})
		reduced.explore(2)
		full.explore(2)
		assert.Equal(t, (reduced.violation == nil), (full.violation == nil), s.name, reduced.violation, full.violation)
		if reduced.violation == nil && (!reduced.complete() || !full.complete() || len(reduced.nodes) >= len(full.nodes)) {
			t.Errorf("nothing is reduced:\n%v\n%v", reduced, full)
		}
	}
}

// TestReductionsKeepEnds compares the final states with the final states of a search without reductions.
// Requirements: PRV-05
func TestReductionsKeepEnds(t *testing.T) {
	worlds := plainWorlds()[:1]
	if !testing.Short() && !scenario.UnderRace {
		worlds = append(worlds, worldNamed("a named rule fails the Job"), worldNamed("suspended, and nothing to do, one fault"))
	}
	if *proveAll { // With two processes, this takes minutes.
		worlds = append(worlds, worldNamed("two leaders, once a success is recorded"))
	}
	for _, s := range worlds {
		plain := *s
		plain.plain = true
		if reduced, full := ends(s), ends(&plain); len(full) == 0 || !maps.Equal(reduced, full) {
			t.Errorf("%s: %d ends with reductions, %d without: %v and %v", s.name, len(reduced), len(full), reduced, full)
		}
	}
}

func worldNamed(name string) *smallWorld {
	worlds := smallWorlds()
	return worlds[slices.IndexFunc(worlds, func(s *smallWorld) bool { return s.name == name })]
}

// ends returns the final states.
func ends(s *smallWorld) map[fingerprint]bool {
	x, all := newSearch(s, limits{}), map[fingerprint]bool{}
	x.explore(2)
	for _, n := range x.nodes {
		if n.Next == atRest {
			all[n.Print] = true
		}
	}
	return all
}

// TestEqualStatesContinueAlike finds histories that lead to the same fingerprint, and compares the states that
// follow.
// Requirements: PRV-04
func TestEqualStatesContinueAlike(t *testing.T) {
	compared := 0
	for i, s := range allWorlds() {
		known := map[fingerprint][][]uint8{}
		for walk := range min(scenario.FewerSeeds(20), 3) {
			for path := range prefixes(s, 100*uint64(i)+walk) {
				r := s.replayed(path, 0)
				hash := r.fingerprint()
				r.abandon()
				other := known[hash]
				if known[hash] = path; other == nil || slices.EqualFunc(other, path, slices.Equal) {
					continue
				}
				compared++
				if a, b := s.followers(other), s.followers(path); !maps.Equal(a, b) {
					t.Errorf("%s: after\n%v\nfollow %v, and after\n%v\n%v", s.name, other, a, path, b)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no histories were compared")
	}
}

// prefixes yields the beginnings of a random history.
func prefixes(s *smallWorld, seed uint64) iter.Seq[[][]uint8] {
	path, _, _ := randomWalk(s, seed)
	return func(yield func([][]uint8) bool) {
		for n := range path {
			if !yield(path[:n+1]) {
				return
			}
		}
	}
}

// followers returns the states that follow a history, and the number of violations in each.
func (s *smallWorld) followers(path [][]uint8) map[fingerprint]int {
	all := map[fingerprint]int{}
	r := s.replayed(path, 0)
	for i := range r.steps() {
		for choices := []uint8{uint8(i)}; choices != nil; {
			r.abandon()
			r = s.replayed(path, 0)
			c := r.world.Checker
			c.Violations, c.CoreEvery = nil, 1
			r.take(r.steps(), choices)
			all[r.fingerprint()] = len(c.Violations)
			choices = r.nextChoices()
		}
	}
	r.abandon()
	return all
}

// TestViolationIsReplayed stores a violation, and reads it again.
// Requirements: PRV-03
func TestViolationIsReplayed(t *testing.T) {
	s := neverRight()
	x := newSearch(s, limits{})
	x.explore(2)
	if x.violation == nil {
		t.Fatal("there is no violation")
	}
	for n := range len(x.violation.path) {
		if wrong := s.violations(x.violation.path[:n]); wrong != "" {
			t.Fatalf("%d of %d steps are enough for %s", n, len(x.violation.path), wrong)
		}
	}
	file, err := x.violation.write(t.TempDir(), s)
	assert.NoError(t, err)
	written, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(written), "\nhistory\none pod\nwatch: Jobs, create job a\n") {
		t.Errorf("%s, %v", written, err)
	}
	r := s.followed(s.lines(x.violation.path))
	defer r.abandon()
	assert.Contains(t, fmt.Sprint(r.world.Checker.Violations), "this is never right", "replayed")
	assert.Contains(t, s.narrate(x.violation.path), "create pod a-p1", "told as")
}

// TestHistoryLeadsToItsState writes random histories, most of them of two processes, and follows them.
// Requirements: PRV-03
func TestHistoryLeadsToItsState(t *testing.T) {
	worlds := append(sharedWorlds(), onePod().withFaults("one fault", 1))
	for seed := range scenario.FewerSeeds(200) {
		s := worlds[int(seed)%len(worlds)]
		path, _, want := randomWalk(s, seed)
		r := newRun(s, 0)
		for _, line := range s.lines(path) {
			r.follow(line)
		}
		assert.Equal(t, r.fingerprint(), want, s.name, seed, strings.Join(s.lines(path), "\n"))
		r.abandon()
	}
}

// TestHistoryThatIsNotPossibleAnymore: steps that do not occur, and faults of another kind, are skipped.
// Requirements: PRV-03
func TestHistoryThatIsNotPossibleAnymore(t *testing.T) {
	r := onePod().followed([]string{"watch: Jobs, create job a", "call: call delete pod a-p1", "timer: sync", "call: call create pod a- | 200"})
	defer r.abandon()
	if text := r.world.Trace(); !strings.Contains(text, "not possible: call: call delete pod a-p1") || !r.world.Finished("a") {
		t.Error(text)
	}
	if broken := r.world.Checker.Violations; len(broken) > 0 {
		t.Error(broken)
	}
}

// TestSearchContinues stops a search early, and continues it.
// Requirements: PRV-06, PRV-07
func TestSearchContinues(t *testing.T) {
	whole := newSearch(onePod(), limits{})
	whole.explore(2)
	file := filepath.Join(t.TempDir(), "states")
	first := newSearch(onePod(), limits{states: len(whole.nodes) / 2, file: file})
	first.explore(2)
	if text := first.String(); first.complete() || !strings.Contains(text, "states not expanded") {
		t.Fatalf("stopped early: %s", text)
	}
	second := newSearch(onePod(), limits{file: file})
	assert.Equal(t, len(second.nodes), len(first.nodes), "it begins with")
	second.explore(2)
	if !second.complete() || len(second.nodes) != len(whole.nodes) || second.transitions != whole.transitions {
		t.Errorf("continued:\n%v\nat once:\n%v", second, whole)
	}
	data, err := os.ReadFile(file)
	assert.NoError(t, err)
	data[0] ^= 1
	assert.NoError(t, os.WriteFile(file, data, 0o600))
	assert.Equal(t, len(newSearch(onePod(), limits{file: file}).nodes), 1, "the search of another program is continued with")
}
