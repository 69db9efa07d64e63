package section

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	shareWidth  = 10
	podExamples = 3
	// IndexesLimit is the length at which lists of indexes are cut, as in kubectl describe (CLI-02).
	IndexesLimit = 50
)

// Causes draws the failures by cause, the most frequent first, with their shares, and the failures with an unknown cause.
func Causes(f *Frame, r *explain.Report) Section {
	s, total := Section{Title: "Causes", Note: FailuresNote(r)}, FailureTotals(r).All
	type row struct {
		count int32
		style layout.Style
		text  []layout.Line
	}
	var rows []row
	for _, cause := range OwnCauses(r) {
		rows = append(rows, row{cause.Count, layout.Bad | layout.Bold, causeLines(f, &cause)})
	}
	if n := r.FailuresWithoutPod; n > 0 {
		rows = append(rows, row{n, layout.Muted, []layout.Line{cell(layout.Muted, wording.Sentence(WhyUnknown(r)))}})
	}
	s.Lines = f.table(layout.TableOf([]layout.Column[row]{
		{Header: "COUNT", Right: true, Cell: func(c *row) layout.Line { return cell(c.style, wording.Thousands(c.count)) }},
		// The share of a single cause is 100%.
		{Header: "SHARE", Drop: 1, Hidden: len(rows) == 1, Cell: func(c *row) layout.Line {
			share := f.Bar(int64(c.count), int64(total), shareWidth, layout.Plain)
			return append(share, layout.Textf(layout.Plain, " %4s", wording.Percent(int64(c.count), int64(total))))
		}},
		{
			Header: "CAUSE", Wrap: true, Min: 24,
			Cell: func(c *row) layout.Line { return c.text[0] }, Below: func(c *row) []layout.Line { return c.text[1:] },
		},
	}, rows))
	if stopped := StoppedNote(r); stopped != "" {
		s.Lines = append(s.Lines, f.Wrap(cell(layout.Muted, stopped), 2)...)
	}
	return s
}

func countOf(causes []explain.Cause) int32 {
	var n int32
	for i := range causes {
		n += causes[i].Count
	}
	return n
}

// WhyUnknown returns the reason why the cause of some failures is unknown.
func WhyUnknown(r *explain.Report) string {
	if PodsUnread(r) {
		return "unknown: pods could not be read"
	}
	return "unknown: the pods are gone, and nothing recorded why they ended"
}

// PodsUnread reports whether pods could not be read.
func PodsUnread(r *explain.Report) bool {
	return slices.ContainsFunc(r.Gaps, func(g input.Gap) bool { return g.What == "pods" })
}

// CauseLines draws a cause with its details.
func CauseLines(f *Frame, c *explain.Cause) []layout.Line {
	var out []layout.Line
	for i, l := range causeLines(f, c) {
		out = append(out, f.Wrap(l.Indent(min(i, 1)*2), 2)...)
	}
	return out
}

func causeLines(f *Frame, c *explain.Cause) []layout.Line {
	text := layout.Of(layout.Text(layout.Bold, wording.Sentence(c.Text)))
	if c.Meaning != "" {
		text = append(text, layout.Text(layout.Muted, ": "+c.Meaning))
	}
	lines := []layout.Line{text}
	for _, note := range causeNotes(f, c) {
		lines = append(lines, layout.Of(note))
	}
	return lines
}

// causeNotes returns the rule that matched, the places, and the message.
func causeNotes(f *Frame, c *explain.Cause) []layout.Span {
	var notes []layout.Span
	if rule := CauseRule(c); rule != "" {
		notes = append(notes, layout.Text(layout.Accent, rule))
	}
	if text := stoppedText(c); text != "" {
		notes = append(notes, layout.Text(layout.Muted, text))
	}
	if places := causePlaces(f, c); places != "" {
		notes = append(notes, layout.Text(layout.Plain, places))
	}
	if c.Message != "" {
		notes = append(notes, layout.Text(layout.Muted, "message: "+layout.Readable(c.Message)))
	}
	return notes
}

// stoppedText returns the reason why the pods were stopped, "" if they were not.
func stoppedText(c *explain.Cause) string {
	switch {
	case c.Stopped == explain.StoppedAtDeadline && c.NeverStarted:
		return "the pods never started, and the Job's controller deleted them when activeDeadlineSeconds was over"
	case c.Stopped == explain.StoppedAtDeadline:
		return "the Job's controller deleted the pods that ran when activeDeadlineSeconds was over"
	case c.Stopped == explain.StoppedSuspended:
		return "the Job's controller deleted the pods when the Job was suspended"
	case c.Stopped == explain.StoppedExcess:
		return "the Job's controller deleted the pods, because more ran than the Job wanted"
	case c.Consequence:
		return "stopped because the Job was ending"
	}
	return ""
}

// CauseRule returns `rule 0 "OutOfMemory": FailJob`, or "" if no rule matched.
func CauseRule(c *explain.Cause) string {
	label := RuleLabel(c.Rule, c.RuleName)
	if label == "" {
		return ""
	}
	return wording.Join(": ", label, c.Action)
}

// causePlaces returns the indexes, Jobs and pods of a cause, and its source if that is not pods.
func causePlaces(f *Frame, c *explain.Cause) string {
	source := ""
	switch c.Source {
	case explain.SourceEvents:
		source = "seen in events"
	case explain.SourceCondition:
		source = "seen in the Job's condition"
	}
	return wording.Join("; ", placesOf(f, "index", "indexes", c.Indexes), listOf(f, "job", "jobs", c.Jobs), listOf(f, "pod", "pods", c.Pods), source)
}

func either(single bool, one, many string) string {
	if single {
		return one
	}
	return many
}

// Totals counts the failures of a Job, without the pods that its controller stopped: all failures, and the ones that its
// status counts, that are counted with the next pod of their index (KEP-3850), or that its podFailurePolicy ignores. The
// parts need not add up to All, as a recent failure is in no part yet.
type Totals struct{ All, Counted, Awaiting, Ignored int32 }

// FailureTotals returns the Totals of a Report, from the failures by cause and the failures whose pods are gone.
func FailureTotals(r *explain.Report) Totals {
	c := &r.Counts
	own := OwnCauses(r)
	t := Totals{All: r.FailuresWithoutPod + countOf(own), Counted: c.Failed + c.UncountedFailed - c.StoppedFailures}
	for i := range own {
		if own[i].Action == string(batchv1.PodFailurePolicyActionIgnore) {
			t.Ignored += own[i].Count
		}
	}
	t.All, t.Ignored = max(t.All, t.Counted), max(t.Ignored, c.IgnoredFailures)
	// Ignored failures may also await the next pod; each failure is counted once.
	t.Awaiting = max(0, min(c.AwaitReplacement, t.All-t.Counted-t.Ignored))
	return t
}

// FailuresNote returns "14 failures (2 ignored), 4 causes". Nothing shows that failures have one cause if not all of their logs were read.
func FailuresNote(r *explain.Report) string {
	t := FailureTotals(r)
	if t.All == 0 {
		return ""
	}
	note := wording.Plural(t.All, "failure", "failures")
	if t.Ignored > 0 {
		note += " (" + wording.Count(t.Ignored, "ignored") + ")"
	}
	switch own := OwnCauses(r); {
	case len(own) == 1 && words.UnreadClause(&own[0]) != "":
		note += ", " + wording.Plural(own[0].Read, "log read", "logs read")
	case len(own) > 0:
		note += ", " + wording.Plural(len(own), "cause", "causes")
	}
	return note
}

// OwnCauses returns the causes of pods that failed on their own, as far as is known: without the pods that the Job's
// controller stopped. Causes with the same text and rule are merged.
func OwnCauses(r *explain.Report) []explain.Cause {
	var own []explain.Cause
	for i := range r.Causes {
		c := r.Causes[i]
		if c.IsStopped() {
			continue
		}
		same := func(other explain.Cause) bool {
			return other.Text != "" && other.Text == c.Text && other.Action == c.Action && other.RuleName == c.RuleName && ptr.Equal(other.Rule, c.Rule)
		}
		if at := slices.IndexFunc(own, same); at >= 0 {
			own[at].Count, own[at].Read = own[at].Count+c.Count, own[at].Read+c.Read
			continue
		}
		own = append(own, c)
	}
	return own
}

// StoppedNote returns "7 other pods were stopped when the Job failed", "" for none.
func StoppedNote(r *explain.Report) string {
	pods, reason := StoppedPods(r)
	if pods == 0 || r.Verdict.Looped != "" { // The sentence about a container that was restarted until the deadline says it.
		return ""
	}
	return words.StoppedText(pods, reason, r.Verdict.Outcome, len(OwnCauses(r)) > 0)
}

// StoppedPods returns the number of pods that the Job's controller stopped, and the most frequent reason. It is the same while
// stopped pods exist, and when only events show them.
func StoppedPods(r *explain.Report) (pods int32, reason explain.StopReason) {
	most := int32(0)
	for i := range r.Causes {
		c := &r.Causes[i]
		if !c.IsStopped() {
			continue
		}
		why := c.Stopped
		if why == "" && r.Verdict.EndedBy == explain.EndedByDeadline {
			why = explain.StoppedAtDeadline
		}
		if pods += c.Count; c.Count > most {
			most, reason = c.Count, why
		}
	}
	return pods, reason
}

// Disruptions draws who took pods from the Job, what that cost, and what the rules of the podFailurePolicy decided.
func Disruptions(f *Frame, r *explain.Report) Section {
	d := r.Disruptions
	if d == nil {
		return Section{}
	}
	type row = explain.Disruption
	s := Section{Title: "Disruptions", Note: words.DisruptionsNote(d)}
	s.Lines = f.table(layout.TableOf([]layout.Column[row]{
		{Header: "PODS", Right: true, Cell: func(d *row) layout.Line { return cell(layout.Bold, wording.Thousands(d.Pods)) }},
		{Header: "LOST", Right: true, Text: func(d *row) string {
			if d.TimedPods == 0 {
				return "-"
			}
			return wording.Seconds(d.LostSeconds)
		}},
		{
			Header: "BY", Wrap: true, Min: 24,
			Cell:  func(d *row) layout.Line { return layout.Plainly(wording.Sentence(words.DisruptionText(d))) },
			Below: func(d *row) []layout.Line { return disruptionNotes(f, d) },
		},
	}, d.By))
	if d.Index != nil {
		most := fmt.Sprintf("Index %d lost the most: %s.", *d.Index, wording.Plural(d.IndexPods, "pod", "pods"))
		s.Lines = append(s.Lines, f.Wrap(layout.Plainly(most), 2)...)
	}
	return s
}

// disruptionNotes draws what the rules decided, and where the pods were.
func disruptionNotes(f *Frame, d *explain.Disruption) (notes []layout.Line) {
	if text := rulings(d); text != "" {
		notes = append(notes, cell(layout.Accent, text))
	}
	places := wording.Join("; ", placesOf(f, "index", "indexes", d.Indexes), listOf(f, "for pod", "for pods", d.For), listOf(f, "node", "nodes", d.Nodes))
	if places != "" {
		notes = append(notes, cell(layout.Muted, places))
	}
	return notes
}

// rulings returns what the rules decided, "" if it is unknown: "3 ignored by rule 0, 1 counted".
func rulings(d *explain.Disruption) string {
	var all []string
	for i := range d.Rulings {
		r := &d.Rulings[i]
		text := words.RuledText(r.Action)
		if label := RuleLabel(r.Rule, r.RuleName); label != "" {
			text += " by " + label
		}
		all = append(all, wording.Count(r.Pods, text))
	}
	return strings.Join(all, ", ")
}

// placesOf returns a list of intervals after a word, "" for none.
func placesOf(f *Frame, one, many, intervals string) string {
	if intervals == "" {
		return ""
	}
	return either(!strings.ContainsAny(intervals, ",-"), one, many) + " " + f.Crop(intervals, IndexesLimit)
}

// listOf returns the first names of a list after a word, "" for none.
func listOf(f *Frame, one, many string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return either(len(names) == 1, one, many) + " " + f.examples(names, podExamples)
}
