package text

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// cronJobs writes the state of CronJobs, and the advice on them.
func (p *page) cronJobs(all []explain.CronJobReport) {
	for i := range all {
		if i > 0 {
			p.Blank()
		}
		p.cronJob(&all[i])
	}
}

func (p *page) cronJob(r *explain.CronJobReport) {
	p.Para(0, 0, layout.Text(layout.Bold, r.Sentence))
	if len(r.Notes) > 0 {
		p.Para(0, 0, plain(strings.Join(r.Notes, " ")))
	}
	if r.State == explain.CronJobCreationRefused { // The message of the event is more specific than the sentence.
		mark := p.Glyphs.Quote + " "
		for _, message := range r.Details {
			p.Para(indentSection, indentSection+layout.Width(mark), layout.Text(layout.Muted, mark+message))
		}
	}
	p.advice(sharedAdvice(r.Advice), 1)
	p.gaps(sharedGaps(r.Gaps), 1)
}
