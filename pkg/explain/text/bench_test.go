package text

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// hugeReport returns a Job of 100,000 indexes with lists of 600 kB, 100 causes and 100 details.
func hugeReport() explain.Report {
	r := story("max-failed-indexes")
	var b strings.Builder
	for i := 0; b.Len() < 600_000; i += 2 {
		fmt.Fprintf(&b, "%d,", i)
	}
	r.Indexes.Failed = strings.TrimSuffix(b.String(), ",")
	r.Indexes.Completed = r.Indexes.Failed
	r.Causes, r.Indexes.Details = nil, nil
	for i := range 100 {
		r.Causes = append(r.Causes, explain.Cause{Text: fmt.Sprintf("container main exited with code %d", i), Count: 3, Lost: explain.Lost{Indexes: r.Indexes.Failed}, Pods: []string{"render-1-aaaaa", "render-2-bbbbb"}})
		r.Indexes.Details = append(r.Indexes.Details, explain.IndexInfo{Index: int32(i), State: "BackingOff", Attempt: 2, Attempts: 4, Until: at(90010), Pod: "render-1-aaaaa", Cause: "container main exited with code 1"})
	}
	for i := range r.Causes[1:] {
		r.Causes[1+i].Indexes = "1-3"
	}
	return r
}

func BenchmarkExplanation(b *testing.B) {
	r := hugeReport()
	for name, write := range map[string]func() error{
		"short":  func() error { return Short(io.Discard, r, Options{Width: 80, Color: true}) },
		"full":   func() error { return Explanation(io.Discard, r, Options{Width: 80, Color: true}) },
		"nowrap": func() error { return Explanation(io.Discard, r, Options{}) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A list is scanned once, not once per line, which would take minutes.
func TestLongListsAreWrappedInOnePass(t *testing.T) {
	r := hugeReport()
	r.Verdict.Sentence = strings.Repeat("x", 1_000_000)
	measure.CheckTime(t, 10*time.Second, func() {
		render(t, func(w io.Writer) error { return Explanation(w, r, Options{Width: 60, Full: true}) })
	})
}
