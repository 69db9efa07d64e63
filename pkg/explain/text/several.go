package text

import (
	"fmt"
	"io"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// adviceCommands is how many commands are shown for what is to be done to several Jobs.
const adviceCommands = 3

// jobsLimit is how many Jobs have room for their whole verdicts.
const jobsLimit = 10

// Explanations writes one line per Job, the causes of all their failures together, and what
// to do.
func Explanations(w io.Writer, l explain.ReportList, o Options) error {
	p := newPage(o)
	p.para(0, 0, styled(Strong, wording.Plural(int64(len(l.Items)), "Job", "Jobs")), plain(tally(l.Items)))
	p.blank()
	p.jobTable(l.Items)
	var unknown int64
	var gaps []explain.Gap
	for i := range l.Items {
		unknown += int64(l.Items[i].FailuresWithoutPod)
		gaps = append(gaps, l.Items[i].Gaps...)
	}
	p.causes(l.Causes, int32(min(unknown, 1<<31-1)), whyUnknown(gaps))
	p.sharedAdvice(l.Items)
	p.sharedGaps(l.Items)
	return p.writeTo(w)
}

// tally is ": 2 Failed, 1 Complete", in the order of appearance.
func tally(items []explain.Report) string {
	var order []string
	counts := map[string]int{}
	for i := range items {
		word := statusWord(items[i].Verdict)
		if counts[word] == 0 {
			order = append(order, word)
		}
		counts[word]++
	}
	text := ""
	for _, word := range order {
		text = list(", ", text, fmt.Sprintf("%d %s", counts[word], word))
	}
	if text == "" {
		return ""
	}
	return ": " + text
}

func (p *page) jobTable(items []explain.Report) {
	t := table{columns: []tableColumn{{header: "STATUS"}, {header: "JOB", least: 18}, {header: "DURATION", right: true, drop: 1}, {header: "VERDICT"}}}
	for i := range items {
		r := &items[i]
		glyph, style := p.mark(r.Verdict)
		took := ""
		if r.Job.DurationSeconds != nil {
			took = wording.Duration(seconds(*r.Job.DurationSeconds))
		}
		t.add(styledCell(style, glyph+" "+statusWord(r.Verdict)), textCell(jobName(&r.Job)), textCell(took), textCell(r.Verdict.Sentence))
	}
	// Many Jobs are a list to look over: one line each.
	t.oneLine = len(items) > jobsLimit && !p.opts.Full
	p.table(0, t)
}

// shared is an advice with the commands that it has for several Jobs.
type shared struct {
	text     string
	commands []string
	jobs     int
	job      string // the first of them
}

// share groups by text, in the order of appearance.
func share[T any](items []explain.Report, of func(*explain.Report) []T, parts func(T) (text, command string)) []shared {
	var all []shared
	place := map[string]int{}
	for i := range items {
		seen := map[string]bool{}
		for _, one := range of(&items[i]) {
			text, command := parts(one)
			at, known := place[text]
			if !known {
				at = len(all)
				place[text] = at
				all = append(all, shared{text: text, job: jobName(&items[i].Job)})
			}
			if !seen[text] {
				seen[text] = true
				all[at].jobs++
			}
			if command != "" && !slices.Contains(first(all[at].commands, adviceCommands), command) {
				all[at].commands = append(all[at].commands, command)
			}
		}
	}
	return all
}

func (p *page) sharedAdvice(items []explain.Report) {
	all := share(items, func(r *explain.Report) []explain.Advice { return r.Advice },
		func(a explain.Advice) (string, string) { return a.Text, a.Command })
	if len(all) == 0 {
		return
	}
	p.title("What to do", "")
	for i, advice := range all {
		number := fmt.Sprintf("%d. ", i+1)
		p.sharedItem(number, Plain, advice, len(items))
	}
}

func (p *page) sharedGaps(items []explain.Report) {
	all := share(items, func(r *explain.Report) []explain.Gap { return r.Gaps },
		func(g explain.Gap) (string, string) { return g.Text, g.Command })
	if len(all) == 0 {
		return
	}
	p.title("What could not be read", "")
	for _, gap := range all {
		p.sharedItem(p.glyphs.Warn+" ", Warn, gap, len(items))
	}
}

func (p *page) sharedItem(mark string, style Style, s shared, jobs int) {
	spans := line{styled(style, mark), plain(wording.Sentence(s.text))}
	if jobs > 1 {
		spans = append(spans, styled(Faint, " ("+either(s.jobs == 1, s.job, fmt.Sprintf("%d Jobs", s.jobs))+")"))
	}
	p.para(indentSection, indentSection+columns(mark), spans...)
	shown := s.commands
	if !p.opts.Full {
		shown = first(shown, adviceCommands)
	}
	for _, command := range shown {
		p.command(indentCommand, command)
	}
	if rest := len(s.commands) - len(shown); rest > 0 {
		p.para(indentCommand, indentCommand, styled(Faint, fmt.Sprintf("%s %d more, see --full", p.glyphs.Ellipsis, rest)))
	}
}
