//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// row is one line of the comparison. Missing numbers are nil.
type row struct {
	What string `json:"what"`
	// ID is the requirement.
	ID      string   `json:"id,omitempty"`
	Ours    *float64 `json:"ours"`
	BuiltIn *float64 `json:"builtIn"`
	// Target is the limit for our controller: a maximum, or a minimum.
	Target *target `json:"target,omitempty"`
	Met    *bool   `json:"met,omitempty"`

	digits int // after the decimal point
}

type target struct {
	Limit float64 `json:"limit"`
	Below bool    `json:"below,omitempty"` // the limit itself is too high
	Least bool    `json:"least,omitempty"` // the limit is a minimum
	// BuiltIn reports whether the limit is the value of the built-in controller.
	BuiltIn bool `json:"builtIn,omitempty"`
}

func (t target) metBy(v float64) bool {
	if t.Least {
		return v >= t.Limit
	}
	return v < t.Limit || v == t.Limit && !t.Below
}

// report is the comparison, with notes.
type report struct {
	Rows    []row    `json:"rows"`
	Notes   []string `json:"notes"`
	Results results  `json:"results"`
}

func printReport(w io.Writer, o options, r report) error {
	if o.output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n", renderTable(r.Rows), strings.Join(r.Notes, "\n"))
	return err
}

// renderTable returns a Markdown table that is also aligned in a terminal.
func renderTable(rows []row) string {
	cells := [][]string{{"", "ours", "built-in", "ours/built-in", "target", "met", "id"}}
	for _, r := range rows {
		cells = append(cells, []string{r.What, number(r.Ours, r.digits), number(r.BuiltIn, r.digits), r.ratio(), r.target(), r.verdict(), r.ID})
	}
	return alignTable(cells)
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
	case r.Target.Least:
		return ">= " + plain(r.Target.Limit)
	case r.Target.Limit == 0:
		return "0"
	}
	return "<= " + plain(r.Target.Limit)
}

// plain formats a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (r row) verdict() string {
	switch {
	case r.Met == nil:
		return ""
	case *r.Met:
		return "yes"
	}
	return "missed"
}
