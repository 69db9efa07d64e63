package shard

import (
	"cmp"
	"maps"
	"slices"
)

// Assign returns the replica that is to have each shard. holders are the current holders, by shard; "" means none. A
// holder that is not among the live replicas counts as none.
//
// Every replica gets the floor or the ceiling of the fair share, and as few shards move as possible: replicas keep
// their shards, up to their share, and the replicas with the most shards get the larger shares. All replicas that see
// the same state compute the same result. Without live replicas, no shard is assigned.
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

// shares returns the live replicas, sorted by the number of shards they hold, most first, and the number of shards that
// each is to have.
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
