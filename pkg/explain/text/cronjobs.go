package text

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// cronJobs writes the state of CronJobs, and the advice on CronJobs that do not start Jobs. A CronJob that starts Jobs is
// left out if it has any, as its Jobs are informative enough.
func (p *page) cronJobs(all []explain.CronJobReport) {
	shown := slices.DeleteFunc(slices.Clone(all), func(r explain.CronJobReport) bool { return r.StartsJobs() && r.Jobs > 0 && len(r.Gaps) == 0 })
	for i := range shown {
		if i > 0 {
			p.Blank()
		}
		p.cronJob(&shown[i])
	}
}

func (p *page) cronJob(r *explain.CronJobReport) {
	p.Para(0, 0, layout.Text(layout.Bold, r.Sentence))
	if r.State == explain.CronJobCreationRefused { // The message of the event is more specific than the sentence.
		mark := p.Glyphs.Quote + " "
		for _, message := range r.Details {
			p.Para(indentSection, indentSection+layout.Width(mark), layout.Text(layout.Muted, mark+message))
		}
	}
	p.advice(sharedAdvice(r.Advice), 1)
	p.gaps(sharedGaps(r.Gaps), 1)
}
