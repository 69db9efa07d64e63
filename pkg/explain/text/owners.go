package text

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// owners writes the state of CronJobs and JobSets, and the advice on them.
func (p *page) owners(l *explain.ReportList) {
	for i := range l.CronJobs {
		r := &l.CronJobs[i]
		var quoted []string
		if r.State == explain.CronJobCreationRefused {
			quoted = r.Details
		}
		p.owner(r.Sentence, r.Notes, quoted, r.Advice, r.Gaps)
	}
	for i := range l.JobSets {
		r := &l.JobSets[i]
		p.owner(r.Sentence, r.Notes, r.Details, r.Advice, r.Gaps)
	}
}

// owner writes the state of one owner; quoted are messages that are more specific than the sentence.
func (p *page) owner(sentence string, notes, quoted []string, advice []explain.Advice, gaps []input.Gap) {
	if len(p.Lines()) > 0 {
		p.Blank()
	}
	p.Para(0, 0, layout.Text(layout.Bold, sentence))
	for _, note := range notes {
		p.Para(0, 0, plain(note))
	}
	mark := p.Glyphs.Quote + " "
	for _, message := range quoted {
		p.Para(indentSection, indentSection+layout.Width(mark), layout.Text(layout.Muted, mark+message))
	}
	p.advice(sharedAdvice(advice), 1)
	p.gaps(sharedGaps(gaps), 1)
}
