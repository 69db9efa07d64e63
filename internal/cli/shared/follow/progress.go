// Package follow shows the progress of Jobs on stderr, for the verbs that wait for them.
package follow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// period is how often the line on a terminal is redrawn.
	period = time.Second
	// barWidth is the width of the bar in columns.
	barWidth = 20
)

// News is the input of a progress line.
type News struct {
	Changed, Open        []*batchv1.Job // unfinished Jobs; Changed has the ones with updates
	Ended, Failed, Total int
}

// Progress shows the progress of Jobs: on a terminal one line that is rewritten in place, also as time passes;
// otherwise a line for each visible change. Other output to that terminal must go through Write or Around.
type Progress struct {
	Options
	env    cmdutil.Env
	now    func() time.Time // the time up to which the Jobs are known
	stalls []*feed.Stalls   // by namespace; empty if they are not read

	mu    sync.Mutex
	news  News
	shown int                             // columns that the line takes now
	last  map[types.NamespacedName]string // the last line written, by Job
}

// Options choose what a Progress shows.
type Options struct {
	Past       string // past participle for ended Jobs, such as "finished"
	Namespaces bool   // show namespaces with names
	Quiet      bool   // show nothing
	// Why returns the command that explains a stalled Job; nil for none.
	Why func(*batchv1.Job) string
	// Bar draws a bar on a terminal, in ASCII only if ASCII is set.
	Bar, ASCII bool
}

// New returns a Progress that writes to env.ErrOut.
func New(env cmdutil.Env, o Options) *Progress {
	return &Progress{Options: o, env: env, now: env.Now, last: map[types.NamespacedName]string{}}
}

func (p *Progress) width() int { return p.env.TerminalWidth(p.env.ErrOut) }

// Start ends all durations at the last time that the link was known to be alive, and redraws the line on a terminal
// every second until stop is called.
func (p *Progress) Start(link *feed.Link) (stop func()) {
	p.now = func() time.Time { return link.AsOf(p.env.Now()) }
	if p.Quiet || p.width() == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for p.env.Timing().Pause(ctx, period, nil) == nil {
			p.tick()
		}
	})
	return func() {
		cancel()
		ticking.Wait()
	}
}

// Show updates the display with news.
func (p *Progress) Show(news News) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(news)
}

func (p *Progress) take(news News) {
	p.news = news
	if p.Quiet {
		return
	}
	if p.width() > 0 {
		p.draw()
		return
	}
	for _, job := range news.Changed {
		key := types.NamespacedName{Namespace: job.Namespace, Name: job.Name}
		line := p.state(job)
		if p.last[key] != line {
			p.last[key] = line
			fmt.Fprintln(p.env.ErrOut, line+p.elapsed(job)+p.hint(job))
		}
	}
}

// tick redraws the line, as time has passed.
func (p *Progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.Quiet && p.shown > 0 {
		p.draw()
	}
}

// Write writes whole lines to the same stream.
func (p *Progress) Write(lines []byte) (int, error) {
	n := 0
	err := p.Around(func() error {
		var err error
		n, err = p.env.ErrOut.Write(lines)
		return err
	})
	return n, err
}

// Around clears the line while write writes to the terminal, and redraws it.
func (p *Progress) Around(write func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	drawn := p.shown > 0
	p.clear()
	err := write()
	if drawn {
		p.draw()
	}
	return err
}

// Close removes the line, and shows nothing anymore.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.Quiet = true
}

// clear overwrites the line with spaces, so that no escape sequence is needed.
func (p *Progress) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.env.ErrOut, "\r%s\r", strings.Repeat(" ", p.shown))
	}
	p.shown = 0
}

func (p *Progress) draw() {
	if len(p.news.Open) == 0 {
		p.clear()
		return
	}
	// Some terminals wrap after the last column.
	line := layout.Plainly(p.line()).Cut(p.width()-1, "")
	fmt.Fprintf(p.env.ErrOut, "\r%s%s", line, strings.Repeat(" ", max(0, p.shown-line.Width())))
	p.shown = line.Width()
}

// line returns the one line that summarizes all Jobs and shows the first open one.
func (p *Progress) line() string {
	news := p.news
	one := p.state(news.Open[0]) + p.elapsed(news.Open[0])
	if p.Bar {
		one = p.row(news.Open[0]).Bar(p.ASCII, barWidth) + "  " + one
	}
	one += p.hint(news.Open[0])
	if news.Total == 1 {
		return one
	}
	finished := wording.Of(news.Ended, news.Total) + " " + p.Past
	if news.Failed > 0 {
		finished += " (" + wording.Count(news.Failed, "failed)")
	}
	return finished + "; " + one
}

func (p *Progress) elapsed(job *batchv1.Job) string {
	if job.Status.StartTime.IsZero() {
		return ""
	}
	return ", " + jobprinter.Row{Job: job, Now: p.now()}.Duration()
}

// hint returns the command that explains the Job if it is stalled, "" otherwise.
func (p *Progress) hint(job *batchv1.Job) string {
	if p.Why == nil || p.Stall(job) == nil {
		return ""
	}
	return "; see: " + sanitize.Line(p.Why(job))
}

// state returns the name and the state, without durations.
func (p *Progress) state(job *batchv1.Job) string {
	name := job.Name
	if p.Namespaces {
		name = job.Namespace + "/" + name
	}
	row := p.row(job)
	return sanitize.Line(name) + "  " + row.Status() + "  " + sanitize.Line(cell(row))
}

// Describe returns the state and the progress of a Job.
func (p *Progress) Describe(job *batchv1.Job) string {
	row := p.row(job)
	return row.Status() + ", " + cell(row)
}

// cell describes the progress of an unfinished Job from the counts of its status.
func cell(v jobprinter.Row) string {
	status := v.Job.Status
	parts := []string{v.Completions() + " done"}
	if status.Active > 0 {
		parts = append(parts, wording.Count(status.Active, "active"))
	}
	if status.Failed > 0 {
		parts = append(parts, wording.Plural(int64(status.Failed), "pod failed", "pods failed"))
	}
	failing, succeeding := reconcile.TrueCondition(v.Job, batchv1.JobFailureTarget), reconcile.TrueCondition(v.Job, batchv1.JobSuccessCriteriaMet)
	switch {
	case failing != nil:
		parts = append(parts, "failing: "+jobprinter.OrNone(failing.Reason), awaitedPods(status.Terminating))
	case succeeding != nil:
		parts = append(parts, "succeeding", awaitedPods(status.Terminating))
	case status.Terminating != nil && *status.Terminating > 0:
		parts = append(parts, wording.Count(*status.Terminating, "terminating"))
	case analysis.IsNeglected(v.Job, v.Now):
		parts = append(parts, "run by "+v.ManagedBy())
	case v.Stalled != nil:
		parts = append(parts, v.Stalled.Reason)
	}
	return strings.Join(parts, ", ")
}

func awaitedPods(terminating *int32) string {
	switch {
	case terminating == nil:
		return "stopping the rest"
	case *terminating == 0:
		return "about to finish"
	case *terminating == 1:
		return "stopping 1 pod"
	}
	return "stopping " + wording.Count(*terminating, "pods")
}
