//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
)

// perPackage is the fixed cost of compiling any package, in bytes of source: it imports others.
const perPackage = 30_000

// meter parses the output of `go build -v`, a line for each compiled package, and updates a progress.
type meter struct {
	weights   map[string]int64 // by import path: the size of its source
	all, done int64
	progress  *progress
	partial   []byte // a line that has not ended
	other     bytes.Buffer
}

// meter lists the packages that the build will compile because Go's build cache lacks them.
func (b *builder) meter(ctx context.Context, packages []string) (*meter, error) {
	const format = `{{if .Stale}}{{.ImportPath}} {{.Dir}} {{join .GoFiles " "}}{{end}}`
	args := append(compilerFlags(b.purpose), "-deps", "-f", format)
	output, err := b.command(ctx, append(append([]string{"list"}, args...), packages...)...).Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m := &meter{weights: map[string]int64{}}
	if err != nil {
		return m, nil //nolint:nilerr // the build explains what is wrong
	}
	for line := range strings.Lines(string(output)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		size := int64(perPackage)
		for _, file := range fields[2:] {
			if info, err := os.Stat(filepath.Join(fields[1], file)); err == nil {
				size += info.Size()
			}
		}
		m.weights[fields[0]] = size
		m.all += size
	}
	return m, nil
}

// Write implements io.Writer.
func (m *meter) Write(data []byte) (int, error) {
	m.partial = append(m.partial, data...)
	for {
		line, rest, ended := bytes.Cut(m.partial, []byte("\n"))
		if !ended {
			return len(data), nil
		}
		m.partial = rest
		if weight, known := m.weights[string(line)]; known {
			m.done += weight
			m.progress.at(m.done, m.all)
			continue
		}
		m.other.Write(append(line, '\n'))
	}
}

// rest returns the output that is not about progress.
func (m *meter) rest() []byte { return append(m.other.Bytes(), m.partial...) }
