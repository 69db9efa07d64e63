package wait

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/internal/wording"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// progressNews is what a progress line is made from.
type progressNews struct {
	changed, open        []*batchv1.Job // that have not ended
	ended, failed, total int
}

// waitProgress shows how far Jobs are: on a terminal one line that is rewritten in place, which also ticks, else a line
// for each visible change. Whatever else goes to that terminal meanwhile is written through Write or around.
type waitProgress struct {
	out        io.Writer
	width      func() int       // of the terminal, 0 without one
	now        func() time.Time // up to which the Jobs are known
	namespaces bool
	past       string // of the goal
	quiet      bool
	stalls     *feed.Stalls // nil for none

	mu    sync.Mutex
	news  progressNews
	shown int                        // columns that the line takes now
	last  map[snapshot.JobKey]string // by Job, the line that was written last
}

// show takes news.
func (p *waitProgress) show(news progressNews) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(news)
}

func (p *waitProgress) take(news progressNews) {
	if p.quiet {
		return
	}
	p.news = news
	if p.width() > 0 {
		p.draw()
		return
	}
	for _, job := range news.changed {
		key := snapshot.JobKey{Namespace: job.Namespace, Name: job.Name}
		line := p.state(job)
		if p.last[key] != line {
			p.last[key] = line
			fmt.Fprintln(p.out, line+p.elapsed(job))
		}
	}
}

// tick draws the line again, as time has passed.
func (p *waitProgress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.quiet && p.shown > 0 {
		p.draw()
	}
}

// Write writes whole lines to the same stream.
func (p *waitProgress) Write(lines []byte) (int, error) {
	n := 0
	err := p.around(func() error {
		var err error
		n, err = p.out.Write(lines)
		return err
	})
	return n, err
}

// around makes room for what write writes to the terminal.
func (p *waitProgress) around(write func() error) error {
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

// close removes the line.
func (p *waitProgress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.quiet = true
}

// clear needs no escape sequence: spaces do.
func (p *waitProgress) clear() {
	if p.shown > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.shown))
	}
	p.shown = 0
}

func (p *waitProgress) draw() {
	if len(p.news.open) == 0 {
		p.clear()
		return
	}
	// In the last column some terminals wrap.
	line := layout.Plainly(p.line()).Cut(p.width()-1, "")
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.shown-line.Width())))
	p.shown = line.Width()
}

// line is the one line of all Jobs.
func (p *waitProgress) line() string {
	news := p.news
	one := p.state(news.open[0]) + p.elapsed(news.open[0])
	if news.total == 1 {
		return one
	}
	finished := wording.Of(news.ended, news.total) + " " + p.past
	if news.failed > 0 {
		finished += " (" + wording.Count(news.failed, "failed)")
	}
	return finished + "; " + one
}

func (p *waitProgress) elapsed(job *batchv1.Job) string {
	if job.Status.StartTime.IsZero() {
		return ""
	}
	return ", " + jobprinter.Row{Job: job, Now: p.now()}.Duration()
}

// state is the name and the state, without what passes with time.
func (p *waitProgress) state(job *batchv1.Job) string {
	name := job.Name
	if p.namespaces {
		name = job.Namespace + "/" + name
	}
	row := p.row(job)
	return sanitize.Line(name) + "  " + row.Status() + "  " + sanitize.Line(progressCell(row))
}

// progressCell describes the progress of an unfinished Job from the counts of its status.
func progressCell(v jobprinter.Row) string {
	status := v.Job.Status
	parts := []string{v.Completions() + " done"}
	if status.Active > 0 {
		parts = append(parts, wording.Count(status.Active, "active"))
	}
	if status.Failed > 0 {
		parts = append(parts, wording.Count(status.Failed, "failed"))
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
		parts = append(parts, "managed by "+v.ManagedBy())
	case v.Stalled != nil:
		parts = append(parts, v.Stalled.Reason)
	}
	return strings.Join(parts, ", ")
}

func awaitedPods(terminating *int32) string {
	switch {
	case terminating == nil:
		return "waiting for terminating pods"
	case *terminating == 0:
		return "about to finish"
	case *terminating == 1:
		return "waiting for 1 terminating pod"
	}
	return "waiting for " + wording.Count(*terminating, "terminating pods")
}
