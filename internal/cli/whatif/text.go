package whatif

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxIndexes is the maximum length in bytes of a printed list of indexes.
const maxIndexes = 40

// write writes a comparison as text.
func write(out io.Writer, c *whatif.Comparison) error {
	fmt.Fprintf(out, "%s\n\njob.batch/%s with %s\n\n", verdictText(c), cmdutil.OneLine(c.Name), changesText(c.Changes))
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\tACTUAL\tNEW")
	for _, row := range []struct {
		title string
		value func(*whatif.Result) any
	}{
		{"OUTCOME", outcomeText},
		{"DURATION", func(r *whatif.Result) any { return words.FineSeconds(r.Seconds) }},
		{"PODS STARTED", func(r *whatif.Result) any { return r.PodsStarted }},
		{"ESTIMATED PODS", func(r *whatif.Result) any { return r.PodsEstimated }},
		{"SUCCEEDED", func(r *whatif.Result) any { return r.Succeeded }},
		{"FAILED", func(r *whatif.Result) any { return r.Failed }},
		{"FAILED INDEXES", func(r *whatif.Result) any { return cmp.Or(wording.Crop(r.FailedIndexes, maxIndexes, "…"), "-") }},
		{"POD TIME", func(r *whatif.Result) any { return words.FineSeconds(r.PodSeconds) }},
		{"WASTED POD TIME", func(r *whatif.Result) any { return words.FineSeconds(r.PodSecondsWasted) }},
	} {
		fmt.Fprintf(table, "%s\t%v\t%v\n", row.title, row.value(&c.Actual), row.value(&c.New))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	writeNotes(out, c)
	return nil
}

// verdictText returns a sentence on whether the outcome changes, and on the pod time.
func verdictText(c *whatif.Comparison) string {
	was, is := &c.Actual, &c.New
	saved := was.PodSeconds - is.PodSeconds
	time, word := "the same pod time", "less"
	if saved < 0 {
		saved, word = -saved, "more"
	}
	if text := words.FineSeconds(saved); text != words.FineSeconds(0) {
		time = text + " " + word + " pod time"
	}
	switch {
	case is.GaveUp || !is.Finished:
		return fmt.Sprintf("Unknown outcome: the Job would not have finished after %s.", words.FineSeconds(is.Seconds))
	case is.Outcome == was.Outcome:
		return fmt.Sprintf("Same outcome (%s), %s.", outcomeText(is), time)
	}
	return fmt.Sprintf("Another outcome: %s instead of %s, %s.", outcomeText(is), outcomeText(was), time)
}

func outcomeText(r *whatif.Result) any {
	outcome := r.Outcome.Type + ", " + r.Outcome.Reason
	switch {
	case r.GaveUp:
		outcome = strings.TrimSpace("gave up " + r.Outcome.Type)
	case !r.Finished:
		outcome = strings.TrimSpace("not finished " + r.Outcome.Type)
	}
	return cmdutil.OneLine(outcome)
}

func writeNotes(out io.Writer, c *whatif.Comparison) {
	if d := c.FirstDifference; d == nil {
		fmt.Fprintln(out, "No decision differs.")
	} else {
		fmt.Fprintf(out, "First difference:\n  actual: %s\n  new:    %s\n", decisionText(d.Actual), decisionText(d.New))
	}
	if n := c.New.PodsEstimated; n > 0 {
		fmt.Fprintf(out, "What %d of the %s with the new policies did is an estimate.\n", n, wording.Plural(c.New.PodsStarted, "pod", "pods"))
	}
	for i, r := range []*whatif.Result{&c.Actual, &c.New} {
		if r.GaveUp {
			policies := [...]string{"actual", "new"}[i]
			fmt.Fprintf(out, "The replay with the %s policies gave up after %s, too many to go on: its column has the numbers of that moment.\n",
				policies, wording.Plural(r.PodsStarted, "pod", "pods"))
		}
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

// decisions are formats for each kind of decision, with the attempt and the index.
var decisions = map[whatif.DecisionKind]string{
	whatif.PodCreated:     "attempt %d%s starts",
	whatif.FailureCounted: "the failure of attempt %d%s is counted",
	whatif.FailureIgnored: "the failure of attempt %d%s is not counted",
}

func decisionText(d *whatif.Decision) string {
	if d == nil {
		return "nothing else"
	}
	about, text := "", ""
	if d.Index != nil {
		about = fmt.Sprintf(" of index %d", *d.Index)
	}
	switch d.Kind {
	case whatif.IndexFailed:
		text = fmt.Sprintf("index %d fails", *d.Index)
	case whatif.JobCondition:
		text = fmt.Sprintf("condition %s, %s", d.Condition, cmdutil.OneLine(d.Reason))
	default:
		text = fmt.Sprintf(decisions[d.Kind], d.Attempt, about)
	}
	return "after " + words.FineSeconds(d.AfterSeconds) + ", " + text
}
