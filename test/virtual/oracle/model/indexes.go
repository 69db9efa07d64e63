package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// indexes is a set of completion indexes.
type indexes map[int]bool

// below returns the indexes below n.
func (s indexes) below(n int) indexes {
	out := indexes{}
	for i := range s {
		if i < n {
			out[i] = true
		}
	}
	return out
}

// String returns the format of completedIndexes: runs of three or more are written with a dash.
func (s indexes) String() string {
	var sorted []int
	for i := range s {
		sorted = append(sorted, i)
	}
	slices.Sort(sorted)
	var parts []string
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] == sorted[0]+n {
			n++
		}
		switch n {
		case 1, 2:
			n = 1
			parts = append(parts, strconv.Itoa(sorted[0]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[0], sorted[n-1]))
		}
		sorted = sorted[n:]
	}
	return strings.Join(parts, ",")
}

// parseIndexes returns the indexes below n in a list that the API server has accepted.
func parseIndexes(text string, n int) indexes {
	out := indexes{}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for i := first; i <= last && i < n; i++ {
			out[i] = true
		}
	}
	return out
}
