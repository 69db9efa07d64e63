package troubles

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Trouble is something that goes wrong in a cluster.
type Trouble struct {
	Name string
	// Outage means that calls of a controller or of a user may fail.
	Outage bool
	// Run has it last for a while, and returns when the cause is gone. dice decides on the
	// details. felt is how often it made a difference: a refused call, a wrong time.
	Run func(ctx context.Context, lasts time.Duration, dice *rand.Rand) (felt int, err error)
}

// Choose returns the troubles with the names in a list with commas. "all", like "", and "none"
// are such lists, too.
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

// Event is a trouble that is to come.
type Event struct {
	Trouble
	// Pause comes first.
	Pause, Lasts time.Duration
}

// Round returns each trouble once, at random. It pauses for less than pause before each, which
// lasts from half of lasts to one and a half times as long.
func Round(all []Trouble, dice *rand.Rand, pause, lasts time.Duration) (events []Event) {
	for _, i := range dice.Perm(len(all)) {
		events = append(events, Event{
			all[i], time.Duration(dice.Int64N(int64(pause))), lasts/2 + time.Duration(dice.Int64N(int64(lasts))),
		})
	}
	return events
}
