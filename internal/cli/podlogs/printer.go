package podlogs

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
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// palette is the foreground colors of prefixes: those that can be read on black and on white.
var palette = [...]string{"\x1b[36m", "\x1b[32m", "\x1b[35m", "\x1b[34m", "\x1b[33m", "\x1b[96m", "\x1b[92m", "\x1b[95m", "\x1b[94m"}

const colorOff = "\x1b[0m"

// Style is how lines are printed.
type Style struct {
	Prefix, Color, Timestamps bool
	// Jobs reports that there are several, and Containers that a pod has several: prefixes name them.
	Jobs, Containers bool
	// Follow has every line written at once.
	Follow bool
	// Concurrency is how many logs are followed at a time.
	Concurrency int
}

// printer writes lines, each with the prefix of its source; several goroutines may.
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

// arrange makes room for the prefixes of these logs, so that columns are aligned from the first line on. Prefixes name
// the container as soon as a pod has logs of several.
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

// label is the prefix without padding and color.
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
	// A tab is harmless and keeps a log readable; everything else that a terminal obeys is escaped.
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

// podColor is the same for a pod in every run.
func podColor(name string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return palette[int(hash.Sum32()%uint32(len(palette)))]
}

// Flush writes what is buffered.
func (p *printer) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Flush()
}
