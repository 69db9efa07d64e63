package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// groupFrom is the number of Jobs with one cause from which a short list of Jobs is grouped.
const groupFrom = 4

// isGrouped reports whether the advice is shown by cause: for many Jobs, or for some with the same cause.
func isGrouped(l *explain.ReportList) bool {
	alike := slices.ContainsFunc(l.Groups, func(g explain.JobGroup) bool { return g.Count >= groupFrom })
	return len(l.Groups) > 0 && (alike || len(l.Items) > jobsLimit)
}

// groups writes the problems and the advice, the most important first.
func (p *page) groups(l *explain.ReportList) {
	p.Title("What to do", "by cause, the most important first")
	for i := range l.Groups {
		g := &l.Groups[i]
		number := fmt.Sprintf("%d. ", i+1)
		hang := indentSection + layout.Width(number)
		p.Para(indentSection, hang, plain(number), layout.Text(layout.Bold, groupWords(g)), plain(wording.Join("", ": ", g.Text)))
		p.Para(hang, hang, layout.Text(layout.Muted, strings.Join(g.Jobs, ", ")))
		for _, a := range g.Advice {
			p.Para(hang, hang+2, plain("- "+wording.Sentence(a.Text)))
			if a.Command != "" {
				p.Command(hang+2, a.Command)
			}
		}
	}
	p.Blank()
	p.Para(0, 0, plain("For one Job in full:"))
	p.Command(0, "kubectl batchjob why NAME -n NAMESPACE")
}

// groupWords returns "14 Jobs failed".
func groupWords(g *explain.JobGroup) string {
	words := map[explain.GroupState][2]string{
		explain.GroupFailed: {"failed", "failed"}, explain.GroupStalled: {"is stalled", "are stalled"},
		explain.GroupSuspended: {"is suspended", "are suspended"}, explain.GroupRunning: {"is running with failures", "are running with failures"},
	}[g.State]
	return wording.Plural(g.Count, "Job "+words[0], "Jobs "+words[1])
}

// someNames returns at most the given number of names, and the number of the rest.
func someNames(names []string, most int) string {
	rest := len(names) - most
	if rest <= 1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), rest)
}
