//go:build unix

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row is one line of the comparison. Missing numbers are nil.
type row struct {
	What string
	// ID is the requirement.
	ID      string
	Ours    *float64
	BuiltIn *float64
	// Target is the limit for our controller: a maximum, or a minimum.
	Target *target

	digits int // after the decimal point
}

type target struct {
	Limit float64
	Below bool // the limit itself is too high
	Least bool // the limit is a minimum
	// BuiltIn reports whether the limit is the value of the built-in controller.
	BuiltIn bool
}

func (t target) metBy(v float64) bool {
	if t.Least {
		return v >= t.Limit
	}
	return v < t.Limit || v == t.Limit && !t.Below
}

// report is the comparison, with notes.
type report struct {
	Rows  []row
	Notes []string
}

func (r report) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s\n%s\n", renderTable(r.Rows), strings.Join(r.Notes, "\n"))
	return err
}

// renderTable returns a Markdown table that is also aligned in a terminal: the first column to the left, the others to
// the right.
func renderTable(rows []row) string {
	cells := [][]string{{"", "ours", "built-in", "ours/built-in", "target", "met", "id"}, make([]string, 7)}
	for _, r := range rows {
		cells = append(cells, []string{r.What, number(r.Ours, r.digits), number(r.BuiltIn, r.digits), r.ratio(), r.target(), r.verdict(), r.ID})
	}
	widths := make([]int, len(cells[0]))
	for i := range widths {
		for _, line := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(line[i]), 2)
		}
		cells[1][i] = strings.Repeat("-", widths[i]-1) + ":"
	}
	cells[1][0] = strings.Repeat("-", widths[0])
	var out strings.Builder
	for _, line := range cells {
		fmt.Fprintf(&out, "| %-*s |", widths[0], line[0])
		for i, cell := range line[1:] {
			fmt.Fprintf(&out, " %*s |", widths[i+1], cell)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func number(v *float64, digits int) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, *v)
}

func (r row) ratio() string {
	if r.Ours == nil || r.BuiltIn == nil || *r.BuiltIn == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", *r.Ours / *r.BuiltIn)
}

func (r row) target() string {
	switch {
	case r.Target == nil:
		return ""
	case r.Target.BuiltIn && r.Target.Least:
		return ">= built-in"
	case r.Target.BuiltIn:
		return "< built-in"
	case r.Target.Below:
		return "< " + plain(r.Target.Limit)
	case r.Target.Limit == 0:
		return "0"
	}
	return "<= " + plain(r.Target.Limit)
}

// plain formats a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// verdict is empty without a target, and without a value of ours.
func (r row) verdict() string {
	switch {
	case r.Target == nil || r.Ours == nil:
		return ""
	case r.Target.metBy(*r.Ours):
		return "yes"
	}
	return "missed"
}

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

// multiple returns a value as a multiple of another one; nil stays nil.
func multiple(v *float64, of float64) *float64 {
	if v == nil {
		return nil
	}
	m := *v / of
	return &m
}
