package text

import (
	"io"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Indents of text below a title, and of commands below an advice.
const (
	indentSection = 2
	indentCommand = 6
)

// view draws one Report on a page.
type view struct {
	page   *page
	frame  *section.Frame
	report *explain.Report
	pods   section.PodCounts
}

// Explanation writes all of the Report in reading order: what happened, why, what to do, and then the details, without
// truncation.
func Explanation(w io.Writer, r explain.Report, o Options) error {
	return explanation(&r, o).writeTo(w)
}

// ExplanationLines returns the lines of Explanation, for callers that draw them themselves.
func ExplanationLines(r explain.Report, o Options) []layout.Line { return explanation(&r, o).Lines() }

func explanation(r *explain.Report, o Options) *page {
	o.Full = true
	v := newView(r, o)
	f := v.frame
	v.head()
	v.page.Para(0, 0, layout.Text(layout.Muted, wording.Join("; ", v.mode(), v.times())))
	v.page.section(section.Why(f, r))
	v.page.advice(sharedAdvice(r.Advice), 1)
	v.page.section(section.Family(f, r, 0))
	v.page.section(section.Problems(f, r))
	v.page.section(section.Causes(f, r))
	v.page.section(section.Disruptions(f, r))
	v.page.section(section.FailurePolicy(f, r.FailurePolicy, false))
	if v.hasSuccess() {
		v.page.section(section.Success(f, r, v.pods))
	}
	v.indexes()
	v.counts()
	v.reconciler()
	v.timeline()
	v.page.section(section.Next(f, r))
	v.podTable()
	v.page.gaps(sharedGaps(r.Gaps), 1)
	return v.page
}

// hasSuccess reports whether the progress of a Job is of interest: not if it failed without a success.
func (v *view) hasSuccess() bool {
	done, _ := v.pods.Done(v.report)
	hopeless := done == 0 && v.report.Verdict.Outcome == reconcile.OutcomeFailed
	return v.report.SuccessPolicy != nil || !hopeless
}

func newView(r *explain.Report, o Options) *view {
	p := newPage(o)
	return &view{page: p, frame: p.frame(r.ObservedAt.Time), report: r, pods: section.CountPods(r)}
}

// head writes "✗ Failed job ml/train, after 3m4s", and the verdict.
func (v *view) head() {
	job := &v.report.Job
	spans := layout.Of(section.JobStatus(&v.page.Glyphs, v.report), plain("  job "+section.JobName(job)))
	if job.Owner != nil {
		spans = append(spans, plain(" of "+job.Owner.Kind+" "+job.Owner.Name))
	}
	if job.Tool != nil {
		spans = append(spans, plain(", "+words.ToolText(job.Tool)))
	}
	if job.DurationSeconds != nil {
		word := ", for "
		if job.Finished != nil {
			word = ", after "
		}
		spans = append(spans, plain(word+wording.Seconds(*job.DurationSeconds)))
	}
	v.page.Para(0, indentSection, spans...)
	v.page.Para(0, 0, layout.Text(layout.Bold, v.report.Verdict.Sentence))
}

// timeline writes the moments of the timeline, relative to the start of the Job.
func (v *view) timeline() {
	var moments []*explain.Moment
	for i := range v.report.Timeline {
		moments = append(moments, &v.report.Timeline[i])
	}
	all := section.Moments(v.frame, v.report, moments)
	since := "since " + v.frame.Clock(section.Start(v.report))
	v.page.section(section.Section{Title: "Timeline", Note: since, Lines: slices.Concat(all...)})
}
