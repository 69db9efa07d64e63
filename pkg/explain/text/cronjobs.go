package text

import (
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// cronJobs writes what CronJobs do, and what to do about those that do not start Jobs. The Jobs of a CronJob that starts them
// say enough.
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
	if len(r.Advice) > 0 {
		p.Title("What to do", "")
	}
	for i, a := range r.Advice {
		number := fmt.Sprintf("%d. ", i+1)
		p.sharedItem(number, layout.Plain, shared{text: a.Text, commands: commandsOf(a)}, 1)
	}
	for _, gap := range r.Gaps {
		mark := p.Glyphs.Warn + " "
		p.Para(0, layout.Width(mark), layout.Text(layout.Warn, mark), plain(wording.Sentence(gap.Text)))
		if gap.Command != "" {
			p.Command(indentCommand, gap.Command)
		}
	}
}

// commandsOf is the command of the advice, if it has one.
func commandsOf(a explain.Advice) []string {
	if a.Command == "" {
		return nil
	}
	return []string{a.Command}
}
