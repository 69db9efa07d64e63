package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

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
