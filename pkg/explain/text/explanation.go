package text

import (
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
		spans = append(spans, plain(" of "+words.OwnerText(job)))
	}
	if job.Tool != nil {
		spans = append(spans, plain(", "+words.ToolText(job.Tool)))
	}
	switch held := v.heldFor(); {
	case job.Finished != nil && job.DurationSeconds != nil:
		spans = append(spans, plain(", after "+wording.Seconds(*job.DurationSeconds)))
	case held != "":
		spans = append(spans, plain(", for "+held))
	case job.DurationSeconds != nil:
		spans = append(spans, plain(", for "+wording.Seconds(*job.DurationSeconds)))
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

// indexes writes the lists by state, and the details of indexes with failures.
func (v *view) indexes() {
	x := v.report.Indexes
	if x == nil {
		return
	}
	v.page.Title("Indexes", wording.Count(x.Total, "total"))
	states := slices.DeleteFunc(section.IndexStates(x), func(s section.IndexState) bool { return s.Count == 0 })
	v.page.Table(indentSection, layout.TableOf([]layout.Column[section.IndexState]{
		{Cell: func(s *section.IndexState) layout.Line { return cell(s.Style, s.Word) }},
		{Right: true, Text: func(s *section.IndexState) string { return wording.Thousands(s.Count) }},
		{Wrap: true, Min: proseWidth, Text: func(s *section.IndexState) string { return v.frame.Crop(s.List, section.IndexesLimit) }},
	}, states))

	if len(x.Details) == 0 {
		return
	}
	styles := map[string]layout.Style{explain.IndexFailed: layout.Bad, explain.IndexBackingOff: layout.Warn}
	state := func(info *explain.IndexInfo) layout.Line {
		return cell(styles[info.State], wording.Sentence(section.IndexWord(x, info)))
	}
	v.page.Blank()
	v.page.Place(indentSection, section.FailedIndexes(v.frame, x.Details, state)...)
	v.page.omitted(int64(x.DetailsOmitted), "index with failures", "indexes with failures")
}

// podTable writes the most informative pods.
func (v *view) podTable() {
	if len(v.report.Pods) == 0 {
		return
	}
	v.page.Title("Pods", "")
	type pod = explain.PodInfo
	nameWidth := 36 // users copy names
	if v.page.opts.Width < 80 {
		nameWidth = 18
	}
	v.page.Table(indentSection, layout.TableOf([]layout.Column[pod]{
		{Header: "POD", Min: nameWidth, Middle: true, Text: func(p *pod) string { return p.Name }},
		{Header: "INDEX", Right: true, Text: section.PodIndex},
		{Header: "ATTEMPT", Right: true, Drop: 3, Text: func(p *pod) string { return section.Number(p.Attempt) }},
		{Header: "STATE", Cell: func(p *pod) layout.Line { return section.PodState(v.frame, p) }},
		{Header: "DURATION", Right: true, Drop: 4, Text: v.ran},
		{Header: "RESTARTS", Right: true, Drop: 2, Text: func(p *pod) string { return section.Number(p.Restarts) }},
		{Header: "NODE", Min: 12, Middle: true, Drop: 5, Text: func(p *pod) string { return p.Node }},
		{Header: "COUNTED", Drop: 6, Text: section.PodCounted},
		{Header: "CAUSE", Wrap: true, Min: 20, Drop: 1, Text: func(p *pod) string { return p.Cause }},
	}, v.report.Pods))
	v.page.omitted(int64(v.report.PodsOmitted), "pod", "pods")
	isFailed := func(p pod) bool { return p.Phase == string(corev1.PodFailed) }
	if job := &v.report.Job; job.TTLSecondsAfterFinished != nil && job.Finished == nil && slices.ContainsFunc(v.report.Pods, isFailed) {
		v.page.Para(indentSection, indentSection, layout.Text(layout.Muted, "Failed pods stay until "+wording.Seconds(int64(*job.TTLSecondsAfterFinished))+" after the end of the Job: its ttlSecondsAfterFinished counts from then"))
	}
}

// ran returns the run time of the pod since its first container started, or since its creation if that start is unknown.
func (v *view) ran(pod *explain.PodInfo) string {
	start := pod.Started
	if start.IsZero() {
		start = pod.Created
	}
	if start.IsZero() {
		return ""
	}
	end := v.report.ObservedAt
	if !pod.Ended.IsZero() {
		end = *pod.Ended
	}
	return wording.Age(end.Sub(start.Time))
}
