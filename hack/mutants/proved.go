package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// proved returns the table of the worlds in which make prove finds bugs, and of the bugs outside of all worlds, by
// reason.
func proved(mutants []mutant) string {
	in, outside, found := map[string]int{}, map[string][]string{}, 0
	for _, m := range mutants {
		if m.world == "" {
			outside[m.outside] = append(outside[m.outside], m.title)
			continue
		}
		in[m.world]++
		found++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d bugs, it finds %d alone:\n\n| world | bugs |\n|---|---:|\n", len(mutants), found)
	for _, world := range slices.SortedFunc(maps.Keys(in), func(a, b string) int { return cmp.Or(in[b]-in[a], strings.Compare(a, b)) }) {
		fmt.Fprintf(&b, "| %s | %d |\n", world, in[world])
	}
	fmt.Fprintf(&b, "\nThe other %d are outside of its worlds:\n\n| what it would take | bugs |\n|---|---|\n", len(mutants)-found)
	for _, why := range slices.SortedFunc(maps.Keys(outside), func(a, b string) int {
		return cmp.Or(len(outside[b])-len(outside[a]), strings.Compare(a, b))
	}) {
		fmt.Fprintf(&b, "| %s | %s |\n", why, strings.Join(outside[why], "<br>"))
	}
	return b.String()
}
