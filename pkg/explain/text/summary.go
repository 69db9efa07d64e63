package text

import (
	"fmt"
	"io"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Numbers of list elements that a summary shows, so that it fits on one screen.
const (
	summaryProblems  = 2
	summarySteps     = 3
	summaryBars      = 2
	summaryHistories = 2
	successWidth     = 20
)

// Summary writes the state of the Job, its limits, and its problems on one screen (CLI-01 to 03).
func Summary(w io.Writer, r explain.Report, o Options) error {
	v := newView(&r, o)
	v.head()
	v.page.Blank()
	pods, ran := v.countsLine(), ""
	if u := uncounted(&r.Counts); u != "" && o.Full {
		pods = wording.Join(", ", pods, "not in the status yet: "+u)
	}
	v.page.Field("Pods", plain(pods))
	if n := r.Job.DurationSeconds; n != nil {
		ran = "took " + wording.Seconds(*n)
		if r.Job.Finished == nil {
			ran = wording.Seconds(*n) + " so far"
		}
	}
	v.page.Field("Time", plain(wording.Join(", ", v.times(), ran)))
	v.page.Field("Mode", plain(v.mode()))
	v.summaryLimits()
	v.page.Field("Run by", v.runBy()...)
	v.summaryIndexes()
	if v.hasSuccess() {
		for _, m := range first(section.SuccessMeters(v.frame, v.report, v.pods), summaryBars) {
			l := append(v.frame.Bar(m.Have, m.Total, successWidth, m.Style), plain(" "+m.Name+": "))
			v.page.Field("Success", append(l, m.Text...)...)
		}
	}
	v.summaryRule()
	if d := r.Disruptions; d != nil {
		v.page.Field("Disrupted", plain(words.DisruptionsText(d)))
	}
	v.summaryProblems()
	for _, step := range first(v.steps(), summarySteps) {
		v.page.Field("Next", step...)
	}
	for _, gap := range first(r.Gaps, summaryProblems) {
		v.page.Field("Not read", layout.Text(layout.Warn, wording.Sentence(gap.Text)))
	}
	v.page.section(section.Family(v.frame, v.report, summaryHistories))

	// The command for the whole explanation of a problem, unless a name needs quotes in a shell.
	verdict, job := &r.Verdict, &r.Job
	isPlain := explain.ShellWord(job.Name) == job.Name && explain.ShellWord(job.Namespace) == job.Namespace
	if (verdict.Outcome.Fails() || verdict.Stalled) && isPlain {
		v.page.Blank()
		v.page.Para(0, 0, plain("For details and what to do:"))
		v.page.Command(0, fmt.Sprintf("kubectl batchjob why %s -n %s", job.Name, job.Namespace))
	}
	return v.page.writeTo(w)
}

// times returns when the Job started and finished.
func (v *view) times() string {
	job := &v.report.Job
	started, finished := section.NotStarted(v.report), ""
	if !job.Started.IsZero() {
		started = "started " + v.frame.Clock(job.Started.Time)
	}
	if !job.Finished.IsZero() {
		finished = "finished " + v.frame.Clock(job.Finished.Time)
	}
	return wording.Join(", ", started, finished)
}

func (v *view) mode() string {
	job := &v.report.Job
	completions, parallelism, replacement := "", "", ""
	if job.Completions != nil {
		completions = wording.Plural(*job.Completions, "completion", "completions")
	}
	if job.Parallelism != nil {
		parallelism = "parallelism " + wording.Thousands(*job.Parallelism)
	}
	if job.PodReplacementPolicy == "Failed" {
		replacement = "podReplacementPolicy Failed"
	}
	return wording.Join(", ", job.CompletionMode, completions, parallelism, replacement)
}

// summaryLimits writes the limits without their bars.
func (v *view) summaryLimits() {
	var spans layout.Line
	// The next steps may show the end of the deadline.
	isDeadline := func(w explain.Wait) bool { return w.Kind == explain.WaitDeadline }
	countsDown := slices.ContainsFunc(first(v.report.Waits, summarySteps), isDeadline)
	for _, m := range section.LimitMeters(v.frame, v.report) {
		if m.Name == section.DeadlineMeter && countsDown {
			continue
		}
		if len(spans) > 0 {
			spans = append(spans, plain("; "))
		}
		spans = append(append(spans, plain(m.Name+" ")), m.Text...)
	}
	v.page.Field("Limits", spans...)
}

func (v *view) runBy() layout.Line {
	r := &v.report.Reconciler
	spans := layout.Of(plain(controllerName(r)))
	if r.Text == "" {
		return spans
	}
	style := layout.Plain
	switch r.Alive {
	case explain.NotAlive:
		style = layout.Bad
		spans = append(spans, layout.Text(layout.Bad|layout.Bold, " "+v.page.Glyphs.Bad+" not running"))
	case explain.Alive:
		spans = append(spans, layout.Text(layout.Good|layout.Bold, " "+v.page.Glyphs.Good+" running"))
	}
	return append(spans, plain(" ("), layout.Text(style, r.Text), plain(")"))
}

func (v *view) summaryIndexes() {
	x := v.report.Indexes
	if x == nil {
		return
	}
	rest := ""
	for _, s := range section.IndexStates(x) {
		switch {
		case s.Count == 0:
		case s.Word == section.IndexCompleted || s.Word == section.IndexFailed:
			v.page.Field(wording.Sentence(s.Word), layout.Text(s.Style, wording.Thousands(s.Count)), plain(": "+v.frame.Crop(s.List, section.IndexesLimit)))
		default:
			rest = wording.Join(", ", rest, wording.Count(s.Count, s.Word))
		}
	}
	v.page.Field("Indexes", plain(rest))
}

// summaryRule writes the rule of the podFailurePolicy that decided.
func (v *view) summaryRule() {
	verdict := &v.report.Verdict
	if verdict.Rule == nil && verdict.RuleName == "" {
		return
	}
	spans := layout.Of(layout.Text(layout.Accent, section.RuleLabel(verdict.Rule, verdict.RuleName)))
	if policy := v.report.FailurePolicy; policy != nil && verdict.Rule != nil {
		if rule := lists.First(policy.Rules, func(r *explain.FailureRule) bool { return r.Index == *verdict.Rule }); rule != nil {
			spans = append(spans, plain(fmt.Sprintf(": %s if %s", rule.Action, rule.Requirement)))
		}
	}
	v.page.Field("Rule", spans...)
}

func (v *view) summaryProblems() {
	var all []explain.Problem
	for i := range v.report.Problems {
		if p := &v.report.Problems[i]; p != v.report.Named() { // The problem in the verdict is not repeated.
			all = append(all, *p)
		}
	}
	for _, problem := range first(all, summaryProblems) {
		v.page.Field("Problem", section.ProblemLine(v.frame, &problem)...)
	}
	if n := len(all) - summaryProblems; n > 0 {
		v.page.Field("", layout.Text(layout.Muted, fmt.Sprintf("and %s more", wording.Plural(n, "problem", "problems"))))
	}
}

// first returns at most the first n elements of a list.
func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }
