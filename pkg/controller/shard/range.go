package shard

import (
	"fmt"
	"hash/fnv"
	"math/bits"
)

// Max is the largest number of shards. Each has a Lease that is renewed every few seconds.
const Max = 64

// Range is one of several equal ranges of the hash. The zero Range is the whole.
type Range struct{ index, count uint64 }

// Of returns the shard with an index, from 0, of count shards.
func Of(index, count int) Range { return Range{uint64(index), uint64(count)} }

// IsWhole reports whether the range contains every namespace.
func (r Range) IsWhole() bool { return r.count <= 1 }

// Contains reports whether a namespace belongs to the shard.
func (r Range) Contains(namespace string) bool {
	if r.IsWhole() {
		return true
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(namespace))
	sum := hash.Sum64()
	return sum >= bound(r.index, r.count) && (r.index == r.count-1 || sum < bound(r.index+1, r.count))
}

// Selector returns the range as a ListOptions.ShardSelector, "" for the whole.
func (r Range) Selector() string {
	if r.IsWhole() {
		return ""
	}
	end := "0x10000000000000000"
	if r.index < r.count-1 {
		end = fmt.Sprintf("0x%016x", bound(r.index+1, r.count))
	}
	return fmt.Sprintf("shardRange(object.metadata.namespace, '0x%016x', '%s')", bound(r.index, r.count), end)
}

// bound returns the start of range i of n: i/n of 2^64, rounded down.
func bound(i, n uint64) uint64 {
	quotient, _ := bits.Div64(i, 0, n)
	return quotient
}
