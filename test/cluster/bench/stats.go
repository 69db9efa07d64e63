//go:build unix

package main

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// percentile returns the smallest value that is at least as large as percent % of all values (nearest rank), or nil if
// there are no values.
func percentile(values []float64, percent float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(percent / 100 * float64(len(sorted))))
	return &sorted[min(max(rank, 1), len(sorted))-1]
}

// alignTable renders cells as a Markdown table with the first row as header: the first column is aligned to the left,
// the others to the right.
func alignTable(cells [][]string) string {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 2)
		}
	}
	var out strings.Builder
	for n, line := range cells {
		for i, cell := range line {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				out.WriteString("| " + cell + gap)
			} else {
				out.WriteString(" | " + gap + cell)
			}
		}
		out.WriteString(" |\n")
		if n == 0 {
			writeRule(&out, widths)
		}
	}
	return out.String()
}

// writeRule writes the line below the header; a colon at the right aligns to the right.
func writeRule(out *strings.Builder, widths []int) {
	for i, width := range widths {
		if i == 0 {
			out.WriteString("|" + strings.Repeat("-", width+2))
		} else {
			out.WriteString("|" + strings.Repeat("-", width+1) + ":")
		}
	}
	out.WriteString("|\n")
}
