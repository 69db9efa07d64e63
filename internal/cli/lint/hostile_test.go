package lint

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// until repeats a text, in which %d is the number of the repetition, up to a size in bytes.
func until(size int, text string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// hostile returns files of about this size in bytes that are slow to check if any work is done again for each finding,
// object, document or line.
func hostile(size int) map[string]string {
	const (
		list = "apiVersion: v1\nkind: List\nitems:\n"
		job  = "- {apiVersion: batch/v1, kind: Job, metadata: {name: a%d}, spec: {bogus: 1, template: {spec: {restartPolicy: Never, containers: [{name: a, image: b}]}}}}\n"
		head = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n"
	)
	return map[string]string{
		"objects without apiVersion":   list + until(size, "- {kind: Job, metadata: {name: a%d}}\n"),
		"documents without apiVersion": until(size, "kind: Job\n---\n"),
		"items that are no objects":    list + until(size, "- a\n"),
		"objects with a mistake":       list + until(size, job),
		"aliases of one object":        strings.Replace(list, "items", "a: &a {kind: Job}\nitems", 1) + until(size, "- *a\n"),
		"duplicate fields":             head + until(size, "  a: 1\n"),
		"unknown fields":               head + "spec:\n" + until(size, "  backofLimit%d: 1\n"),
		"labels of a wrong type":       head + "  labels:\n" + until(size, "    a%d: 1\n"),
		"labels beside an empty field": head + "  labels:\n" + until(size, "  -a%d-: '-'\n"),
		"placeholders":                 head + "  labels:\n" + until(size, "    a%d: ${A}\n"),
		"exit codes":                   head + "spec:\n  podFailurePolicy:\n    rules:\n    - {action: Ignore, onExitCodes: {operator: In, values: [" + until(size, "%d, ") + "]}}\n",
		"JSON in one line":             until(size, `{"kind": "Job"}`),
		"a long name in JSON":          `{"apiVersion": "batch/v1", "kind": "Job", "spec": {"` + strings.Repeat("a", size) + `": 1}}`,
		"unreadable documents":         until(size, "a: b: c\n---\n"),
		"wrong indentation":            until(size, until(30_000, "a%d:\n  b: 1\n")+"a:\n  b: 1\n c: 2\n---\n"),
		"an unclosed bracket":          "a: " + strings.Repeat("[", size),
		"a closed nest":                "a: " + strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"one line":                     "a: '" + strings.Repeat("it's ", size/5),
		"braces of templates":          "a: " + strings.Repeat("{{ ", size/3),
		"dashes":                       strings.Repeat("- ", size/2),
		"tabs":                         until(size, "\ta: 1\n"),
		"infinite numbers":             until(size, "a%d: 1\n") + "a: .inf\n",
	}
}

// BenchmarkLintHostile checks hostile files of 1 MB, each of which should take less than 2 s of CPU.
//
//	go test ./internal/cli/lint -run '^$' -bench LintHostile -benchtime 1x -benchmem
func BenchmarkLintHostile(b *testing.B) {
	shapes := hostile(1_000_000)
	for _, name := range slices.Sorted(maps.Keys(shapes)) {
		file := filepath.Join(b.TempDir(), "hostile.yaml")
		assert.NoError(b, os.WriteFile(file, []byte(shapes[name]), 0o600))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
				if err := program.Execute(context.Background(), []string{"lint", "-f", file}, streams, clitest.NewEnv()); err == nil {
					b.Fatal("no error")
				}
			}
		})
	}
}
