// Package report writes the results of the conformance suite.
package report

import (
	"fmt"
	"io"
	"time"

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
