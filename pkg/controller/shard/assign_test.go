package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever replicas join and leave, every replica has a fair share, and as few shards move as possible.
// Requirements: SHD-02
func TestSharesAreFairAndFewShardsMove(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 0))
		holders := make([]string, 1+rng.IntN(Max))
		var live []string
		for step := range 20 {
			if n := rng.IntN(3); n > 0 || len(live) == 0 {
				live = append(live, fmt.Sprintf("r%d-%d", rng.IntN(100), step))
			} else {
				live = slices.Delete(live, 0, 1+rng.IntN(len(live)))
			}
			rng.Shuffle(len(live), func(i, k int) { live[i], live[k] = live[k], live[i] })
			next := Assign(holders, live)
			checkShares(t, next, live)
			if moved, least := moves(holders, next, live), leastMoves(holders, live); moved != least {
				t.Fatalf("seed %d: %d shards move, and %d have to\n%q of %q\n%q", seed, moved, least, holders, live, next)
			}
			if !slices.Equal(Assign(next, live), next) {
				t.Fatalf("seed %d: the assignment is not stable", seed)
			}
			holders = next
		}
	}
}

func checkShares(t *testing.T, holders, live []string) {
	t.Helper()
	for _, replica := range live {
		n, floor := countOf(holders, replica), len(holders)/len(live)
		if ceil := (len(holders) + len(live) - 1) / len(live); n < floor || n > ceil {
			t.Fatalf("%s holds %d of %d shards, of %d replicas", replica, n, len(holders), len(live))
		}
	}
	if n := countOf(holders, ""); n > 0 && len(live) > 0 {
		t.Fatalf("nobody holds %d shards", n)
	}
}

func countOf(holders []string, replica string) (n int) {
	for _, holder := range holders {
		if holder == replica {
			n++
		}
	}
	return n
}

// moves returns the number of shards that live replicas give up.
func moves(before, after, live []string) (n int) {
	for i := range before {
		if before[i] != after[i] && slices.Contains(live, before[i]) {
			n++
		}
	}
	return n
}

// leastMoves returns the number of shards beyond the shares of their holders, if the replicas with the most shards have
// the larger shares.
func leastMoves(holders, live []string) (n int) {
	var held []int
	for _, replica := range live {
		held = append(held, countOf(holders, replica))
	}
	slices.Sort(held)
	slices.Reverse(held)
	for i, h := range held {
		share := len(holders) / len(live)
		if i < len(holders)%len(live) {
			share++
		}
		n += max(0, h-share)
	}
	return n
}

// Whatever replicas see at the moment, and in whatever order they act, they end with fair shares: each releases shards
// that are not assigned to it, and takes free ones that are.
// Requirements: SHD-02
func TestReplicasConverge(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		shards, live := 1+rng.IntN(Max), []string{"a", "b", "c", "d", "e"}[:1+rng.IntN(5)]
		holders := make([]string, shards)
		for i := range holders {
			holders[i] = []string{"", "gone", live[rng.IntN(len(live))]}[rng.IntN(3)]
		}
		views := map[string][]string{}
		for range 8 {
			for _, i := range rng.Perm(len(live)) {
				me := live[i]
				// Every other read of the Leases is outdated.
				if views[me] == nil || rng.IntN(2) == 0 {
					views[me] = slices.Clone(holders)
				}
				act(holders, Assign(views[me], live), me)
			}
		}
		for _, me := range live {
			act(holders, Assign(holders, live), me)
		}
		for _, me := range live {
			act(holders, Assign(holders, live), me)
		}
		checkShares(t, holders, live)
	}
}

// act applies an assignment for one replica, which cannot change the Leases of others.
func act(holders, assigned []string, me string) {
	for i, holder := range holders {
		switch {
		case holder == me && assigned[i] != me:
			holders[i] = ""
		case (holder == "" || holder == "gone") && assigned[i] == me:
			holders[i] = me
		}
	}
}
