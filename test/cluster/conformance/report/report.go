// Package report writes the results of the conformance suite.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

// Report is the result of a run.
type Report struct {
	// Kubernetes is the version of the API server.
	Kubernetes string
	// ManagedBy is the controller under test, or "" for the built-in one.
	ManagedBy string
	// Pods is the way pods ran.
	Pods    string
	Started time.Time
	Results []suite.Result
}

// Format is an output format, usable as a flag.
type Format string

// The formats.
const (
	Text  Format = "text"
	JSON  Format = "json"
	JUnit Format = "junit"
)

// String implements flag.Value.
func (f *Format) String() string { return string(*f) }

// Set implements flag.Value.
func (f *Format) Set(value string) error {
	switch format := Format(value); format {
	case Text, JSON, JUnit:
		*f = format
		return nil
	}
	return fmt.Errorf("must be text, json or junit, not %q", value)
}

// Write writes the report in a format.
func (r *Report) Write(out io.Writer, format Format) error {
	switch format {
	case JSON:
		return r.writeJSON(out)
	case JUnit:
		return r.writeJUnit(out)
	}
	return r.writeText(out)
}

// Count returns the number of cases with this outcome.
func (r *Report) Count(outcome suite.Outcome) (n int) {
	for _, result := range r.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// Controller returns a name for the controller under test.
func (r *Report) Controller() string {
	if r.ManagedBy == "" {
		return "the built-in controller"
	}
	return r.ManagedBy
}

// writeText writes a table as kubectl does, followed by the problems.
func (r *Report) writeText(out io.Writer) error {
	table := newTable(out)
	fmt.Fprintln(table, "CASE\tRESULT\tTIME\tTITLE")
	for _, result := range r.Results {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", result.Case.Name, result.Outcome, seconds(result.Duration), result.Case.Title)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, result := range r.Results {
		switch result.Outcome {
		case suite.Fail:
			writeFailure(out, result)
		case suite.NotApplicable:
			fmt.Fprintf(out, "\n%s is not applicable: %s\n", result.Case.Name, result.Why)
		}
	}
	_, err := fmt.Fprintf(out, "\n%s on Kubernetes %s, %s pods: %d passed, %d failed, %d not applicable\n", r.Controller(), r.Kubernetes, r.Pods,
		r.Count(suite.Pass), r.Count(suite.Fail), r.Count(suite.NotApplicable))
	return err
}

func writeFailure(out io.Writer, result suite.Result) {
	c := result.Case
	fmt.Fprintf(out, "\n%s failed: %s\n", c.Name, c.Title)
	fmt.Fprintf(out, "  Source:    %s (%s)\n", c.Source, strings.Join(c.Requirements, ", "))
	for _, fact := range result.Observed {
		fmt.Fprintf(out, "  Observed:  %s\n", fact)
	}
	for _, p := range result.Problems {
		fmt.Fprintf(out, "  Expected:  %s\n  Seen:      %s\n", p.Expected, p.Seen)
	}
}

// List writes a table of the cases.
func List(out io.Writer, cases []suite.Case) {
	table := newTable(out)
	fmt.Fprintln(table, "CASE\tTITLE\tSOURCE\tREQUIREMENTS")
	for _, c := range cases {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", c.Name, c.Title, c.Source, strings.Join(c.Requirements, ", "))
	}
	_ = table.Flush() // Like errors of other output.
}

func newTable(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 3, ' ', 0) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }

// document is the JSON form of a report.
type document struct {
	Kubernetes    string    `json:"kubernetes"`
	ManagedBy     string    `json:"managedBy,omitempty"`
	Pods          string    `json:"pods"`
	Started       time.Time `json:"started"`
	Passed        int       `json:"passed"`
	Failed        int       `json:"failed"`
	NotApplicable int       `json:"notApplicable"`
	Cases         []outcome `json:"cases"`
}

type outcome struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Source       string          `json:"source"`
	Requirements []string        `json:"requirements"`
	Result       suite.Outcome   `json:"result"`
	Why          string          `json:"why,omitempty"`
	Seconds      float64         `json:"seconds"`
	Observed     []string        `json:"observed,omitempty"`
	Problems     []suite.Problem `json:"problems,omitempty"`
}

func (r *Report) writeJSON(out io.Writer) error {
	d := document{
		Kubernetes: r.Kubernetes, ManagedBy: r.ManagedBy, Pods: r.Pods, Started: r.Started.UTC().Truncate(time.Second),
		Passed: r.Count(suite.Pass), Failed: r.Count(suite.Fail), NotApplicable: r.Count(suite.NotApplicable),
		Cases: make([]outcome, 0, len(r.Results)),
	}
	for _, result := range r.Results {
		c := result.Case
		d.Cases = append(d.Cases, outcome{
			Name: c.Name, Title: c.Title, Source: c.Source, Requirements: c.Requirements,
			Result: result.Outcome, Why: result.Why, Seconds: result.Duration.Round(time.Millisecond).Seconds(),
			Observed: result.Observed, Problems: result.Problems,
		})
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(d)
}

func (r *Report) writeJUnit(out io.Writer) error {
	s := junit.Suite{Name: "conformance of " + r.Controller(), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05")}
	for _, result := range r.Results {
		c := junitCase(result)
		s.Time += c.Time
		s.Cases = append(s.Cases, c)
	}
	return junit.Write(out, []junit.Suite{s})
}

func junitCase(result suite.Result) junit.Case {
	c := junit.Case{
		Name: result.Case.Name, Class: "conformance", Time: junit.Seconds(result.Duration), Output: strings.Join(result.Observed, "\n"),
	}
	switch result.Outcome {
	case suite.NotApplicable:
		c.Skipped = &junit.Skipped{Message: result.Why}
	case suite.Fail:
		var lines []string
		for _, p := range result.Problems {
			lines = append(lines, fmt.Sprintf("expected: %s\nseen:     %s", p.Expected, p.Seen))
		}
		c.Failure = &junit.Problem{Type: "NotConformant", Message: result.Case.Title, Text: strings.Join(lines, "\n")}
	}
	return c
}
