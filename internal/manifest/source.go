package manifest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// Stdin is the name of standard input in positions.
	Stdin = "<stdin>"
	// MaxSize is the maximum size of a file. The API server accepts objects of about a tenth of that size.
	MaxSize = 16 << 20
	// maxValues is the maximum number of lines and separators of a file, as many as 10,000 Jobs have. Each value takes up to
	// 1.5 kB until it is checked.
	maxValues = 400_000
)

// Options configure Read.
type Options struct {
	// Files are paths of files and directories, globs, or "-" for Stdin, in the order in which they are read.
	Files []string
	// Recursive reads subdirectories, too.
	Recursive bool
	Stdin     io.Reader
	// Verb is the command, such as lint, for hints in errors.
	Verb string
}

// Read returns the objects of all files, in order, and an error for each file or document that could not be read. If ctx
// ends, its error is the last one.
func Read(ctx context.Context, o Options) ([]*Object, []error) {
	var objects []*Object
	var problems []error
	for _, name := range o.Files {
		paths, err := o.expand(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		for _, path := range paths {
			data, err := o.load(ctx, path)
			if ctx.Err() != nil {
				return objects, append(problems, ctx.Err())
			}
			if err != nil {
				problems = append(problems, err)
				continue
			}
			found, bad := parseFor(o.Verb, path, data)
			objects, problems = append(objects, found...), append(problems, bad...)
		}
	}
	return objects, problems
}

// expand returns the files that an argument matches, in a fixed order.
func (o Options) expand(name string) ([]string, error) {
	switch {
	case name == "-":
		return []string{Stdin}, nil
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("%s: URLs are not supported; fetch it first: curl -fsSL '%s' | kubectl batchjob %s -f -",
			name, strings.ReplaceAll(name, "'", "%27"), o.Verb)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		matches, err := filepath.Glob(name)
		if err != nil {
			return nil, fmt.Errorf("the pattern %q cannot be read: %w", name, err)
		}
		if len(matches) == 0 {
			return nil, fmt.Errorf("the path %q does not exist", name)
		}
		return matches, nil
	case err != nil:
		return nil, readError(name, err)
	case info.IsDir():
		return o.listFolder(name)
	}
	return []string{name}, nil
}

// listFolder returns the manifests in a directory, and in its subdirectories if Recursive is set.
func (o Options) listFolder(root string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && !o.Recursive:
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, readError(root, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no .json, .yaml or .yml file in this folder%s", root, map[bool]string{false: "; --recursive also searches its folders"}[o.Recursive])
	}
	return paths, nil
}

// load reads one file. It returns when ctx ends, because a pipe or a terminal may block.
func (o Options) load(ctx context.Context, path string) ([]byte, error) {
	var data []byte
	var err error
	if !untilEnd(ctx, func() { data, err = o.readAll(path) }) {
		return nil, ctx.Err()
	}
	return data, err
}

// untilEnd calls do, and reports whether it returned before ctx ended.
func untilEnd(ctx context.Context, do func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-ctx.Done():
		return false
	case <-done:
		return true
	}
}

func (o Options) readAll(path string) ([]byte, error) {
	in := o.Stdin
	if path != Stdin {
		file, err := os.Open(path)
		if err != nil {
			return nil, readError(path, err)
		}
		defer file.Close() //nolint:errcheck // nothing was written
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, MaxSize+1))
	switch {
	case err != nil:
		return nil, readError(path, err)
	case len(data) > MaxSize:
		return nil, fmt.Errorf("%s: larger than %d MiB, too large for a manifest", path, MaxSize>>20)
	case countValues(data) > maxValues:
		return nil, fmt.Errorf("%s: more than %s lines and separators (, [ {), too many for one file; split it", path, wording.Thousands(maxValues))
	}
	return data, nil
}

// countValues returns the number of lines, and of separators of lists and maps within lines, also those in strings: there
// are at most twice as many values.
func countValues(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	for i, c := range data[:max(0, len(data)-1)] {
		if strings.IndexByte(",[{", c) >= 0 && data[i+1] != '\n' && data[i+1] != '\r' {
			n++
		}
	}
	return n
}

// readError omits the names of the system call and the file, which the message already contains.
func readError(path string, err error) error {
	if known, is := errors.AsType[*fs.PathError](err); is {
		if known.Path != path {
			path = known.Path
		}
		err = known.Err
	}
	return fmt.Errorf("cannot read %s: %w", path, err)
}

// isText reports whether the data can be a manifest: it must be UTF-8 text.
func isText(data []byte) bool {
	return utf8.Valid(data) && !slices.Contains(data, 0)
}
