package shard

import (
	"cmp"
	"maps"
	"slices"
)

// Assign returns which replica is to have each shard. holders are the present ones, by
// shard: "" if nobody holds it. A holder that is not among the live replicas counts as none.
//
// Everybody gets floor or ceil of the fair share, and no more shards move than that takes:
// replicas keep what they hold, up to their share, and those that hold most get the larger
// shares. All replicas that see the same state come to the same result. Without live
// replicas, no shard is assigned.
func Assign(holders, live []string) []string {
	replicas, left := shares(holders, live)
	assigned := make([]string, len(holders))
	for i, holder := range holders {
		if left[holder] > 0 {
			assigned[i] = holder
			left[holder]--
		}
	}
	for i := range assigned {
		for len(replicas) > 0 && left[replicas[0]] == 0 {
			replicas = replicas[1:]
		}
		if assigned[i] == "" && len(replicas) > 0 {
			assigned[i] = replicas[0]
			left[replicas[0]]--
		}
	}
	return assigned
}

// shares returns the live replicas, those that hold most first, and how many shards each is
// to have.
func shares(holders, live []string) (replicas []string, share map[string]int) {
	held := make(map[string]int, len(live))
	for _, replica := range live {
		held[replica] = 0
	}
	for _, holder := range holders {
		if _, alive := held[holder]; alive {
			held[holder]++
		}
	}
	replicas = slices.SortedFunc(maps.Keys(held), func(a, b string) int {
		return cmp.Or(cmp.Compare(held[b], held[a]), cmp.Compare(a, b))
	})
	share = make(map[string]int, len(replicas))
	for i, replica := range replicas {
		share[replica] = len(holders) / len(replicas)
		if i < len(holders)%len(replicas) {
			share[replica]++
		}
	}
	return replicas, share
}
