package troubles

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Trouble is a kind of failure in a cluster.
type Trouble struct {
	Name string
	// Outage means that calls of a controller or of a user may fail.
	Outage bool
	// Run causes the trouble for a while, and returns when the cause is gone. dice decides on the details. felt is
	// the number of times it had an effect: a refused call, a wrong time.
	Run func(ctx context.Context, lasts time.Duration, dice *rand.Rand) (felt int, err error)
}

// Choose returns the troubles named in a comma-separated list. "all" and "" select all troubles, "none" selects none.
func Choose(all []Trouble, list string) (chosen []Trouble, err error) {
	switch list {
	case "", "all":
		return all, nil
	case "none":
		return nil, nil
	}
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(all, func(t Trouble) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no trouble %q, only %s", name, names(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func names(all []Trouble) string {
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// Event is an upcoming trouble.
type Event struct {
	Trouble
	// Pause is the time before the trouble.
	Pause, Lasts time.Duration
}

// Round returns each trouble once, in random order, with a random pause below pause before each, and a random duration
// between half of lasts and one and a half times lasts.
func Round(all []Trouble, dice *rand.Rand, pause, lasts time.Duration) (events []Event) {
	for _, i := range dice.Perm(len(all)) {
		events = append(events, Event{
			all[i], time.Duration(dice.Int64N(int64(pause))), lasts/2 + time.Duration(dice.Int64N(int64(lasts))),
		})
	}
	return events
}
