package laws_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/laws"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

var (
	worlds = flag.Uint64("worlds", 2000, "the `number` of random worlds")
	world  = flag.Uint64("world", 0, "the `seed` of one world whose answer is printed")
)

func ask(t *testing.T, w *laws.World) laws.Answer {
	t.Helper()
	a, err := laws.Ask(w.Input(), &w.Truth)
	assert.NoError(t, err)
	return a
}

// tally reports one example for each law and cause, and the number of the others.
type tally struct {
	example map[string]string
	count   map[string]int
}

func newTally() *tally { return &tally{map[string]string{}, map[string]int{}} }

func (s *tally) add(law, cause, example string) {
	key := law + " (" + cause + ")"
	if s.count[key]++; s.count[key] == 1 {
		s.example[key] = example
	}
}

func (s *tally) report(t *testing.T) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(s.count)) {
		t.Errorf("%d × %s, such as %s", s.count[key], key, s.example[key])
	}
}

// Requirements: CLI-01
func TestLawsHoldOfPossibleJobs(t *testing.T) {
	t.Parallel()
	if *world != 0 {
		a := ask(t, laws.NewWorld(*world))
		t.Logf("%s\n%s", a.Report.Verdict.Sentence, a.Short)
		t.Log(a.Full)
	}
	broken := newTally()
	for seed := range *worlds {
		w := laws.NewWorld(seed)
		a := ask(t, w)
		for _, l := range laws.All {
			if why := l.Broken(&a); why != "" {
				broken.add(l.Name, w.Cause, fmt.Sprintf("world %d: %s\n%s\n%s", seed, why, a.Report.Verdict.Sentence, a.Short))
			}
		}
		for look := 0; w.Later != nil && look < 3; look++ {
			w.Later(w, time.Second)
			later := ask(t, w)
			if why := laws.Steady(&a, &later); why != "" {
				broken.add("two looks have the same answer", w.Cause, fmt.Sprintf("world %d:\n%s", seed, why))
			}
		}
	}
	broken.report(t)
}

// Requirements: CLI-01
func TestLawsHoldOfRecordings(t *testing.T) {
	t.Parallel()
	broken := newTally()
	for _, folder := range []string{"../field/recordings", "../../../pkg/explain/analysis/testdata/recorded"} {
		files, err := recorded.Files(filepath.FromSlash(folder))
		if err != nil || len(files) < 50 {
			t.Fatalf("%d recordings, %v", len(files), err)
		}
		for _, file := range files {
			c, err := recorded.Load(file)
			if errors.Is(err, recorded.ErrNoJob) {
				continue
			}
			assert.NoError(t, err)
			for i := range c.Inputs {
				a, err := laws.Ask(c.Inputs[i], nil)
				assert.NoError(t, err)
				for _, l := range laws.All {
					if why := l.Broken(&a); why != "" {
						broken.add(l.Name, "recording", fmt.Sprintf("%s: %s\n%s", c.Name, why, a.Short))
					}
				}
			}
		}
	}
	broken.report(t)
}
