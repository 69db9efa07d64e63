package troubles

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func three() []Trouble { return []Trouble{{Name: "a"}, {Name: "b"}, {Name: "c"}} }

// SOAK_TROUBLES names the troubles to use; an unknown name is an error that lists the valid ones.
// Requirements: SOK-05
func TestTroublesAreChosenByName(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{"": "a, b, c", "all": "a, b, c", "none": "", "c,a": "c, a", "b": "b"} {
		if got, err := Choose(three(), list); err != nil || names(got) != want {
			t.Errorf("%q: %s, %v", list, names(got), err)
		}
	}
	if got, err := Choose(three(), "a,d"); err == nil || err.Error() != `there is no trouble "d", only a, b, c` {
		t.Errorf("%v, %v", got, err)
	}
}

// A round has each trouble once. The same seed gives the same order, pauses and durations.
// Requirements: SOK-05
func TestSeedRepeatsARound(t *testing.T) {
	t.Parallel()
	round := func(seed uint64) (text string) {
		seen := map[string]bool{}
		for _, e := range Round(three(), rand.New(rand.NewPCG(seed, 0)), 4*time.Second, 10*time.Second) {
			if e.Pause >= 4*time.Second || e.Lasts < 5*time.Second || e.Lasts >= 15*time.Second {
				t.Errorf("a pause of %v, and %v", e.Pause, e.Lasts)
			}
			seen[e.Name] = true
			text += fmt.Sprintln(e.Name, e.Pause, e.Lasts)
		}
		assert.Equalf(t, len(seen), 3, "a round with %v", seen)
		return text
	}
	if one := round(1); one != round(1) || one == round(2) {
		t.Error("the round does not follow from the seed")
	}
}
