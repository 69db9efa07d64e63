package text

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// owner is the state of a CronJob or JobSet.
type owner struct {
	sentence string
	notes    []string
	// quoted are messages that are more specific than the sentence.
	quoted []string
	advice []explain.Advice
	gaps   []input.Gap
}

// owners writes the state of CronJobs and JobSets, and the advice on them.
func (p *page) owners(l *explain.ReportList) {
	for i := range l.CronJobs {
		r := &l.CronJobs[i]
		o := owner{sentence: r.Sentence, notes: r.Notes, advice: r.Advice, gaps: r.Gaps}
		if r.State == explain.CronJobCreationRefused {
			o.quoted = r.Details
		}
		p.owner(&o)
	}
	for i := range l.JobSets {
		r := &l.JobSets[i]
		p.owner(&owner{r.Sentence, r.Notes, r.Details, r.Advice, r.Gaps})
	}
}

func (p *page) owner(o *owner) {
	if len(p.Lines()) > 0 {
		p.Blank()
	}
	p.Para(0, 0, layout.Text(layout.Bold, o.sentence))
	for _, note := range o.notes {
		p.Para(0, 0, plain(note))
	}
	mark := p.Glyphs.Quote + " "
	for _, message := range o.quoted {
		p.Para(indentSection, indentSection+layout.Width(mark), layout.Text(layout.Muted, mark+message))
	}
	p.advice(sharedAdvice(o.advice), 1)
	p.gaps(sharedGaps(o.gaps), 1)
}
