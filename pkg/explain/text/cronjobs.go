package text

import (
	"fmt"
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
	for _, said := range quoted(r) {
		mark := p.Glyphs.Quote + " "
		p.Para(indentSection, indentSection+layout.Width(mark), layout.Text(layout.Muted, mark+said))
	}
	if len(r.Advice) > 0 {
		p.Title("What to do", "")
	}
	for i, a := range r.Advice {
		number := fmt.Sprintf("%d. ", i+1)
		p.sharedItem(number, layout.Plain, shared{text: a.Text, commands: commandsOf(a.Command)}, 1)
	}
	if len(r.Gaps) > 0 {
		p.Title("What could not be read", "")
	}
	for _, gap := range r.Gaps {
		p.sharedItem(p.Glyphs.Warn+" ", layout.Warn, shared{text: gap.Text, commands: commandsOf(gap.Command)}, 1)
	}
}

// quoted returns the messages of events that are more specific than the sentence.
func quoted(r *explain.CronJobReport) []string {
	if r.State != explain.CronJobCreationRefused {
		return nil
	}
	return r.Details
}

// commandsOf returns a list with the command, empty for "".
func commandsOf(command string) []string {
	if command == "" {
		return nil
	}
	return []string{command}
}
