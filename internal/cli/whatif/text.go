package whatif

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
)

// maxIndexes is how much of a list of indexes is shown, in bytes.
const maxIndexes = 40

// write writes a comparison as text.
func write(out io.Writer, c *whatif.Comparison) error {
	fmt.Fprintf(out, "job.batch/%s with %s\n\n", cmdutil.OneLine(c.Name), changesText(c.Changes))
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\tACTUAL\tNEW")
	for _, row := range []struct {
		title string
		value func(*whatif.Result) string
	}{
		{"OUTCOME", outcomeText},
		{"DURATION", func(r *whatif.Result) string { return words.FineSeconds(r.Seconds) }},
		{"PODS STARTED", func(r *whatif.Result) string { return fmt.Sprint(r.PodsStarted) }},
		{"ESTIMATED PODS", func(r *whatif.Result) string { return fmt.Sprint(r.PodsEstimated) }},
		{"SUCCEEDED", func(r *whatif.Result) string { return fmt.Sprint(r.Succeeded) }},
		{"FAILED", func(r *whatif.Result) string { return fmt.Sprint(r.Failed) }},
		{"FAILED INDEXES", func(r *whatif.Result) string { return indexesText(r.FailedIndexes) }},
		{"POD TIME", func(r *whatif.Result) string { return words.FineSeconds(r.PodSeconds) }},
		{"WASTED POD TIME", func(r *whatif.Result) string { return words.FineSeconds(r.PodSecondsWasted) }},
	} {
		fmt.Fprintf(table, "%s\t%s\t%s\n", row.title, row.value(&c.Actual), row.value(&c.New))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	writeNotes(out, c)
	return nil
}

func writeNotes(out io.Writer, c *whatif.Comparison) {
	if d := c.FirstDifference; d == nil {
		fmt.Fprintln(out, "No decision differs.")
	} else {
		fmt.Fprintf(out, "First difference:\n  actual: %s\n  new:    %s\n", decisionText(d.Actual), decisionText(d.New))
	}
	if n := c.New.PodsEstimated; n > 0 {
		fmt.Fprintf(out, "What %d of the %s with the new policies did is an estimate.\n", n, wording.Plural(int64(c.New.PodsStarted), "pod", "pods"))
	}
	for _, d := range c.NotReproduced {
		happened, replayed := cmdutil.OneLine(cmp.Or(d.Happened, "empty")), cmdutil.OneLine(cmp.Or(d.Replayed, "empty"))
		fmt.Fprintf(out, "The replay with the actual policies differs from what happened: %s was %s, not %s.\n", d.Field, happened, replayed)
	}
}

func changesText(changes []whatif.Change) string {
	if len(changes) == 0 {
		return "the policies that it has"
	}
	var texts []string
	for _, c := range changes {
		switch c.New.(type) {
		case nil:
			texts = append(texts, "no "+c.Field)
		case map[string]any:
			texts = append(texts, "another "+c.Field)
		default:
			texts = append(texts, fmt.Sprintf("%s %v", c.Field, c.New))
		}
	}
	return cmdutil.OneLine(strings.Join(texts, ", "))
}

func outcomeText(r *whatif.Result) string {
	if !r.Finished {
		return strings.TrimSpace("not finished " + r.Outcome.Type)
	}
	return cmdutil.OneLine(r.Outcome.Type + ", " + r.Outcome.Reason)
}

func indexesText(list string) string {
	if list == "" {
		return "-"
	}
	return explain.CropWith(list, maxIndexes, "...")
}

func decisionText(d *whatif.Decision) string {
	if d == nil {
		return "nothing else"
	}
	about := ""
	if d.Index != nil {
		about = fmt.Sprintf(" of index %d", *d.Index)
	}
	after := "after " + words.FineSeconds(d.AfterSeconds) + ", "
	switch d.Kind {
	case whatif.PodCreated:
		return fmt.Sprintf("%sattempt %d%s starts", after, d.Attempt, about)
	case whatif.FailureCounted:
		return fmt.Sprintf("%sthe failure of attempt %d%s is counted", after, d.Attempt, about)
	case whatif.FailureIgnored:
		return fmt.Sprintf("%sthe failure of attempt %d%s is not counted", after, d.Attempt, about)
	case whatif.IndexFailed:
		return fmt.Sprintf("%sindex %d fails", after, *d.Index)
	}
	return fmt.Sprintf("%scondition %s, %s", after, d.Condition, cmdutil.OneLine(d.Reason))
}
