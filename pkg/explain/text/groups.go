package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

const (
	// groupJobs is how many names of a group are shown, and groupsLimit how many groups.
	groupJobs   = 5
	groupsLimit = 10
	// groupFrom is how many Jobs of one cause are worth a group where there are few Jobs.
	groupFrom = 4
)

// isGrouped reports whether what to do is shown by cause: for many Jobs, or for some with the same cause.
func isGrouped(l *explain.ReportList) bool {
	alike := slices.ContainsFunc(l.Groups, func(g explain.JobGroup) bool { return g.Count >= groupFrom })
	return len(l.Groups) > 0 && (alike || len(l.Items) > jobsLimit)
}

// groups are what is wrong and what to do about it, the most important first.
func (p *page) groups(l *explain.ReportList) {
	p.Title("What to do", "by cause, the most important first")
	shown := l.Groups
	if !p.opts.Full {
		shown = first(shown, groupsLimit)
	}
	for i := range shown {
		g := &shown[i]
		number := fmt.Sprintf("%d. ", i+1)
		hang := indentSection + layout.Width(number)
		p.Para(indentSection, hang, plain(number), layout.Text(layout.Bold, groupWords(g)), plain(wording.Join("", ": ", g.Text)))
		p.Para(hang, hang, layout.Text(layout.Muted, p.groupNames(g.Jobs)))
		for _, a := range g.Advice {
			p.Para(hang, hang+2, plain("- "+wording.Sentence(a.Text)))
			if a.Command != "" {
				p.Command(hang+2, a.Command)
			}
		}
	}
	var jobs int32
	for i := range l.Groups[len(shown):] {
		jobs += l.Groups[len(shown)+i].Count
	}
	p.omitted(int64(len(l.Groups)-len(shown)), "cause, of "+wording.Plural(int64(jobs), "Job", "Jobs"), "causes, of "+wording.Plural(int64(jobs), "Job", "Jobs"))
	p.Blank()
	p.Para(0, 0, plain("For one Job in full:"))
	p.Command(0, "kubectl batchjob why NAME -n NAMESPACE")
}

// groupWords is "14 Jobs failed".
func groupWords(g *explain.JobGroup) string {
	words := map[explain.GroupState][2]string{
		explain.GroupFailed: {"failed", "failed"}, explain.GroupStalled: {"is stalled", "are stalled"},
		explain.GroupSuspended: {"is suspended", "are suspended"}, explain.GroupRunning: {"is running with failures", "are running with failures"},
	}[g.State]
	return wording.Plural(int64(g.Count), "Job "+words[0], "Jobs "+words[1])
}

// groupNames are some of the names, and how many more there are.
func (p *page) groupNames(jobs []string) string {
	rest := len(jobs) - groupJobs
	if p.opts.Full || rest <= 1 {
		return strings.Join(jobs, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(jobs[:groupJobs], ", "), rest)
}
