package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

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
