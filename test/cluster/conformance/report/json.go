package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

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
