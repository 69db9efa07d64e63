package follow

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
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

// The progress is one line on a terminal, which is rewritten in place, also as time passes; otherwise a line for each
// visible change.

func (s *Set) width() int { return s.TerminalWidth(s.ErrOut) }

// now returns the time up to which the Jobs are known, which ends all durations.
func (s *Set) now() time.Time { return s.Link.AsOf(s.Now()) }

// tick redraws the line on a terminal every second until stop is called.
func (s *Set) tick() (stop func()) {
	if s.Quiet || s.width() == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ticking sync.WaitGroup
	ticking.Go(func() {
		for s.Timing().Pause(ctx, period, nil) == nil {
			s.mu.Lock()
			if s.shown > 0 {
				s.draw()
			}
			s.mu.Unlock()
		}
	})
	return func() {
		cancel()
		ticking.Wait()
	}
}

// show shows open Jobs that have changed. The caller holds s.mu.
func (s *Set) show(changed []*Job) {
	switch {
	case s.Quiet || s.closed:
	case s.width() > 0:
		s.draw()
	default:
		for _, j := range changed {
			o := s.outline(j.Job)
			line := s.line(&o) + s.suffix(&o)
			o.Ready = nil // In a log, a line for each pod that becomes ready is too much.
			if key := s.line(&o); key != j.printed {
				j.printed = key
				fmt.Fprintln(s.ErrOut, line)
			}
		}
	}
}

// Write writes whole lines to stderr.
func (s *Set) Write(lines []byte) (n int, err error) { return s.WriteLines(s.ErrOut, lines) }

// WriteLines writes whole lines to out, which may be the terminal, too.
func (s *Set) WriteLines(out io.Writer, lines []byte) (n int, err error) {
	err = s.Around(func() error {
		n, err = out.Write(lines)
		return err
	})
	return n, err
}

// Around clears the line while write writes to the terminal, and redraws it.
func (s *Set) Around(write func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	drawn := s.shown > 0
	s.clear()
	err := write()
	if drawn {
		s.draw()
	}
	return err
}

// Close removes the line, and shows nothing anymore.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.closed = true
}

// clear overwrites the line with spaces, so that no escape sequence is needed.
func (s *Set) clear() {
	if s.shown > 0 {
		fmt.Fprintf(s.ErrOut, "\r%s\r", strings.Repeat(" ", s.shown))
	}
	s.shown = 0
}

// draw draws one line that counts all Jobs and shows the first open one.
func (s *Set) draw() {
	var first *Job
	ended, failed := 0, 0
	for _, j := range s.jobs {
		switch {
		case j.End != "":
			ended++
		case first == nil:
			first = j
		}
		if j.End == reconcile.OutcomeFailed {
			failed++
		}
	}
	if first == nil {
		s.clear()
		return
	}
	o := s.outline(first.Job)
	text := s.line(&o) + s.suffix(&o)
	if s.Bar {
		text = section.ProgressOf(&o).Bar(&section.Frame{ASCII: s.ASCII}, barWidth).String() + "  " + text
	}
	if len(s.jobs) > 1 {
		count := wording.Of(ended, len(s.jobs)) + " " + s.Past
		if failed > 0 {
			count += " (" + wording.Count(failed, "failed)")
		}
		text = count + "; " + text
	}
	// Some terminals wrap after the last column.
	line := layout.Plainly(text).Cut(s.width()-1, "")
	fmt.Fprintf(s.ErrOut, "\r%s%s", line, strings.Repeat(" ", max(0, s.shown-line.Width())))
	s.shown = line.Width()
}

// line returns the name and the state of a Job, without durations.
func (s *Set) line(o *explain.Outline) string {
	name := o.Name
	if s.Namespaces {
		name = o.Namespace + "/" + name
	}
	return sanitize.Line(name + "  " + section.JobLine(o))
}

// Describe returns the state of a Job, without its name and durations.
func (s *Set) Describe(job *batchv1.Job) string {
	o := s.outline(job)
	return section.JobLine(&o)
}

// suffix returns how long the Job has run, and the command that explains it if it is stalled.
func (s *Set) suffix(o *explain.Outline) (text string) {
	if ran := section.Ran(o, s.now()); ran >= 0 {
		text = ", " + wording.Duration(ran)
	}
	if o.Stalled != nil {
		text += "; see: " + sanitize.Line(cmdutil.WhyCommand(s.Kube, o.Namespace, o.Name))
	}
	return text
}

// outline returns the outline of a Job, with its stall as far as lists show it.
func (s *Set) outline(job *batchv1.Job) explain.Outline {
	for _, stalls := range s.stalls {
		if stalls.Namespace == "" || stalls.Namespace == job.Namespace {
			return stalls.Outline(job, nil, s.now())
		}
	}
	return analysis.OutlineOf(job, nil, s.now())
}

// Stall returns why the Job is stalled as far as lists show, nil if it is not.
func (s *Set) Stall(job *batchv1.Job) *explain.Stall { return s.outline(job).Stalled }
