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

	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

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

// printer writes lines, each with the prefix of its source. It is safe for concurrent use.
type printer struct {
	Style

	mu     sync.Mutex
	out    *bufio.Writer
	single map[types.UID]string // by pod, its first container with a log
	width  int                  // of the widest prefix so far
}

func newPrinter(out io.Writer, style Style) *printer {
	return &printer{Style: style, out: bufio.NewWriterSize(out, 64<<10), single: map[types.UID]string{}}
}

// arrange reserves columns for the prefixes of these logs, so that lines are aligned from the first one on. Prefixes
// name the container once a pod has logs of several.
func (p *printer) arrange(sources []logs.Source) {
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
		p.width = max(p.width, utf8.RuneCountInString(p.label(s)))
	}
}

// label returns the prefix without padding and color.
func (p *printer) label(s logs.Source) string {
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

// Line writes one line.
func (p *printer) Line(s logs.Source, line logs.Line) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Prefix {
		p.writePrefix(s)
	}
	if p.Timestamps && line.First && line.Timestamp != "" {
		_, _ = p.out.WriteString(line.Timestamp + " ")
	}
	// A tab is harmless and keeps a log readable; all other control characters are escaped.
	_, _ = p.out.WriteString(sanitize.Text(string(line.Text)))
	err := p.out.WriteByte('\n')
	if p.Follow && err == nil {
		err = p.out.Flush()
	}
	return err
}

func (p *printer) writePrefix(s logs.Source) {
	label := p.label(s)
	columns := utf8.RuneCountInString(label)
	p.width = max(p.width, columns)
	padding := strings.Repeat(" ", p.width-columns+1)
	if p.Color {
		label = podColor(s.Pod.Name) + label + colorOff
	}
	_, _ = p.out.WriteString(label + padding)
}

// podColor returns the color of a pod, the same in every run.
func podColor(name string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return palette[int(hash.Sum32()%uint32(len(palette)))]
}

// Flush writes the buffered lines.
func (p *printer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Flush()
}
