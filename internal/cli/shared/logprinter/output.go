// Package logprinter prints the logs of the pods of Jobs, for the verbs that follow them.
package logprinter

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// DefaultRequests is the default number of logs read concurrently.
const DefaultRequests = 10

// palette holds the foreground colors of prefixes: colors that are legible on black and on white.
var palette = [...]string{"\x1b[36m", "\x1b[32m", "\x1b[35m", "\x1b[34m", "\x1b[33m", "\x1b[96m", "\x1b[92m", "\x1b[95m", "\x1b[94m"}

const colorOff = "\x1b[0m"

// Style configures how lines are printed.
type Style struct {
	Prefix, Color, Timestamps bool
	// Jobs and Containers are set if there are several Jobs, or several containers in a pod: prefixes name them.
	Jobs, Containers bool
	// Follow flushes the output after every line.
	Follow bool
	// Concurrency is the number of logs that are followed concurrently.
	Concurrency int
}

// Output prints log lines to stdout, and notices about unread logs to stderr. It is safe for concurrent use.
type Output struct {
	Style
	errOut io.Writer
	// OnFirstListing is called with the first pods found, to print notices about what they lack; nil for none.
	OnFirstListing func(logs.Listing)

	// IsSimulated reports whether a node runs no containers, so that its pods have no logs; nil for never.
	IsSimulated func(node string) bool

	listed  bool
	sources int // number listing at first
	unread  unread

	mu     sync.Mutex
	out    *bufio.Writer
	single map[types.UID]string // by pod, its first container with a log
	width  int                  // of the widest prefix so far
}

// NewOutput returns an Output for any number of logs. Several goroutines write to errOut.
func NewOutput(out, errOut io.Writer, style Style) *Output {
	return &Output{Style: style, errOut: errOut, out: bufio.NewWriterSize(out, 64<<10), single: map[types.UID]string{}}
}

// OnListing reserves columns for prefixes, and prints which logs are not read yet.
func (p *Output) OnListing(listing logs.Listing) error {
	p.printUnstarted(listing.Unstarted)
	if !p.listed {
		if p.OnFirstListing != nil {
			p.OnFirstListing(listing)
		}
		p.listed, p.sources = true, len(listing.Sources)
	}
	if listing.Waiting > 0 {
		fmt.Fprintf(p.errOut, "Following %d logs at a time (--max-log-requests); %s more waiting for one to end.\n", p.Concurrency, wording.Thousands(listing.Waiting))
	}
	p.reserveColumns(listing.Sources)
	return nil
}

// printUnstarted prints to stderr one line for each reason, with the first container that it applies to.
func (p *Output) printUnstarted(all []logs.Unstarted) {
	groups := map[string][]logs.Unstarted{}
	var reasons []string
	for _, u := range all {
		// Messages name the pod or the image, so containers are grouped by reason.
		reason := whyUnstarted(u).Reason
		if groups[reason] == nil {
			reasons = append(reasons, reason)
		}
		groups[reason] = append(groups[reason], u)
	}
	for _, reason := range reasons {
		first, others := groups[reason][0], ""
		if more := len(groups[reason]) - 1; more > 0 {
			others = fmt.Sprintf(" (and %d more: %s)", more, cmdutil.OneLine(reason))
		}
		why := cmdutil.OneLine(whyUnstarted(first).String())
		fmt.Fprintf(p.errOut, "No log from %s, which has not started: %s%s\n", cmdutil.OneLine(first.Source.String()), why, others)
	}
}

func whyUnstarted(u logs.Unstarted) logs.Reason {
	switch {
	case u.Why != logs.Reason{}:
		return u.Why
	case u.Source.Pod.IsTerminal():
		return logs.Reason{Reason: "its pod ended first"}
	}
	return logs.Reason{Reason: "its pod is " + jobprinter.OrNone(string(u.Source.Pod.Phase))}
}

// reserveColumns reserves columns for the prefixes of these logs, so that lines are aligned from the first one on. Prefixes
// name the container once a pod has logs of several.
func (p *Output) reserveColumns(sources []logs.Source) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range sources {
		first, known := p.single[s.Pod.UID]
		if !known {
			p.single[s.Pod.UID] = s.Container
		}
		p.Containers = p.Containers || (known && first != s.Container)
	}
	for _, s := range sources {
		p.width = max(p.width, utf8.RuneCountInString(p.Label(s)))
	}
}

// Label returns the prefix without padding and color.
func (p *Output) Label(s logs.Source) string {
	var b strings.Builder
	b.WriteByte('[')
	if p.Jobs {
		b.WriteString(s.Pod.JobName + " ")
	}
	if s.Pod.IsIndexed() {
		fmt.Fprintf(&b, "index %d attempt %d", s.Pod.Index, s.Pod.Attempt)
	} else {
		b.WriteString(strings.TrimPrefix(s.Pod.Name, s.Pod.JobName+"-"))
	}
	if p.Containers {
		b.WriteString(" " + s.Container)
	}
	if s.Previous {
		b.WriteString(" previous")
	}
	b.WriteByte(']')
	return sanitize.Line(b.String())
}

// OnLine writes one line, with the prefix of its source.
func (p *Output) OnLine(s logs.Source, line logs.Line) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Prefix {
		label := p.Label(s)
		columns := utf8.RuneCountInString(label)
		p.width = max(p.width, columns)
		padding := strings.Repeat(" ", p.width-columns+1)
		if p.Color {
			hash := fnv.New32a() // A pod has the same color in every run.
			_, _ = hash.Write([]byte(s.Pod.Name))
			label = palette[int(hash.Sum32()%uint32(len(palette)))] + label + colorOff
		}
		_, _ = p.out.WriteString(label + padding)
	}
	if p.Timestamps && line.First && line.Timestamp != "" {
		_, _ = p.out.WriteString(line.Timestamp + " ")
	}
	// A tab is harmless and keeps a log readable, color codes do not; all other control characters are escaped.
	_, _ = p.out.WriteString(sanitize.Text(sanitize.Uncolored(string(line.Text))))
	err := p.out.WriteByte('\n')
	if p.Follow && err == nil {
		err = p.out.Flush()
	}
	return err
}

// Flush writes the buffered lines.
func (p *Output) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Flush()
}
