package text

import (
	"fmt"
	"io"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// Indents of what stands below a title, and of commands below an advice.
const (
	indentSection = 2
	indentCommand = 6
)

// view draws one Report on a page.
type view struct {
	page   *page
	report *explain.Report
	// brief leaves out what nobody asks about a Job that is complete.
	brief bool
}

// Explanation writes all of the Report in reading order: what happened, why, what to do,
// and then the details.
func Explanation(w io.Writer, r explain.Report, o Options) error {
	v := newView(&r, o)
	v.explanation()
	return v.page.writeTo(w)
}

func (v *view) explanation() {
	v.head()
	v.about()
	v.evidence()
	v.advice(v.report.Advice)
	for _, section := range []func(){
		v.problems, v.causesSection, v.failurePolicy, v.successPolicy, v.indexesSection, v.waits, v.counts,
		v.reconciler, v.timeline, v.next, v.pods,
	} {
		section()
	}
	v.gaps()
}

// ExplanationLines are those of Explanation, for whoever draws them himself.
func ExplanationLines(r explain.Report, o Options) []layout.Line {
	v := newView(&r, o)
	v.explanation()
	return v.page.Lines()
}

func newView(r *explain.Report, o Options) *view {
	return &view{
		page: newPage(o), report: r,
		brief: r.Verdict.Fate == explain.FateComplete && len(r.Problems) == 0 && !o.Full,
	}
}

// head says what became of which Job.
func (v *view) head() {
	v.headline()
	v.page.Para(0, 0, layout.Text(layout.Bold, v.report.Verdict.Sentence))
}

// about says what kind of Job it is, and when it ran.
func (v *view) about() {
	if v.brief {
		return
	}
	v.page.Para(0, 0, layout.Text(layout.Muted, wording.Join("; ", v.mode(), v.times())))
}

// headline is "✗ Failed  job ml/train, after 3m4s".
func (v *view) headline() {
	glyph, style := v.page.mark(v.report.Verdict)
	job := &v.report.Job
	spans := layout.Of(layout.Text(style, glyph+" "+statusWord(v.report.Verdict)), plain("  job "+jobName(job)))
	if job.Owner != nil {
		spans = append(spans, plain(" of "+job.Owner.Kind+" "+job.Owner.Name))
	}
	if job.DurationSeconds != nil {
		word := ", for "
		if job.Finished != nil {
			word = ", after "
		}
		spans = append(spans, plain(word+wording.Seconds(*job.DurationSeconds)))
	}
	v.page.Para(0, indentSection, spans...)
}

func jobName(job *explain.Job) string {
	if job.Namespace == "" {
		return job.Name
	}
	return job.Namespace + "/" + job.Name
}

func statusWord(verdict explain.Verdict) string {
	if verdict.Stalled && verdict.Status == "Running" {
		return verdict.Status + " (stalled)"
	}
	return verdict.Status
}

// mark is the glyph and the style of a status.
func (p *page) mark(verdict explain.Verdict) (glyph string, style layout.Style) {
	switch {
	case verdict.Fate == explain.FateFailed, verdict.Fate == explain.FateFailing:
		return p.Glyphs.Bad, layout.Bad | layout.Bold
	case verdict.Fate == explain.FateComplete, verdict.Fate == explain.FateSucceeding:
		return p.Glyphs.Good, layout.Good | layout.Bold
	case verdict.Status == "Suspended":
		return p.Glyphs.Paused, layout.Warn | layout.Bold
	case verdict.Stalled:
		return p.Glyphs.Warn, layout.Warn | layout.Bold
	case verdict.Status == "Terminating":
		return p.Glyphs.Ending, layout.Warn | layout.Bold
	}
	return p.Glyphs.Running, layout.Good | layout.Bold
}

// evidence is the chain, each link below and right of the one that it explains.
func (v *view) evidence() {
	if len(v.report.Evidence) == 0 || v.brief {
		return
	}
	v.page.Title("Why", "")
	for i, link := range v.report.Evidence {
		v.link(min(i, maxDepth), link)
	}
}

// maxDepth keeps the end of a long chain readable on a narrow terminal.
const maxDepth = 6

func (v *view) link(depth int, link explain.Evidence) {
	branch, indent := "", indentSection
	if depth > 0 {
		branch = v.page.Glyphs.Branch
		indent += layout.Width(branch) * (depth - 1)
	}
	at := indent + layout.Width(branch)
	spans := layout.Of(layout.Text(layout.Muted, branch), layout.Text(evidenceStyle(link.Kind), wording.Sentence(link.Text)))
	if offset := v.offset(link.Time); offset != "" {
		spans = append(spans, layout.Text(layout.Muted, " ("+offset+")"))
	}
	v.page.Para(indent, at, spans...)
	v.page.Quote(at, link.Lines...)
}

func evidenceStyle(kind explain.EvidenceKind) layout.Style {
	switch kind {
	case explain.EvidenceContainer:
		return layout.Bad
	case explain.EvidenceNote:
		return layout.Warn
	case explain.EvidenceLogs:
		return layout.Muted
	}
	return layout.Plain
}

// advice is what can be done, with its commands.
func (v *view) advice(all []explain.Advice) {
	if len(all) == 0 {
		return
	}
	v.page.Title("What to do", "")
	for i, a := range all {
		number := fmt.Sprintf("%d. ", i+1)
		v.page.Para(indentSection, indentSection+len(number), plain(number+wording.Sentence(a.Text)))
		v.page.Command(indentCommand, a.Command)
	}
}

// gaps are what could not be read.
func (v *view) gaps() {
	if len(v.report.Gaps) == 0 {
		return
	}
	v.page.Title("What could not be read", "")
	for _, g := range v.report.Gaps {
		v.page.Para(indentSection, indentSection+2, layout.Text(layout.Warn, v.page.Glyphs.Warn+" "), plain(wording.Sentence(g.Text)))
		v.page.Command(indentCommand, g.Command)
	}
}
