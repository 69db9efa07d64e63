package text

import (
	"io"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// A bar is empty for nothing only, and full for all only.
func TestBarNeverLies(t *testing.T) {
	p := newPage(Options{ASCII: true})
	for _, tc := range []struct {
		have, total int64
		want        string
	}{
		{0, 1000, "...."}, {1, 1000, "#..."}, {500, 1000, "##.."}, {1, 1, "####"}, {999, 1000, "###."}, {9, 5, "####"}, {-1, 5, "...."}, {0, 0, "...."},
	} {
		if got := p.bar(tc.have, tc.total, 4); got != tc.want {
			t.Errorf("bar(%d, %d) = %s, want %s", tc.have, tc.total, got, tc.want)
		}
	}
	for _, have := range []int64{1, 2, 99, 999} {
		if got := newPage(Options{ASCII: true}).bar(have, 1000, 4); got == "####" || got == "...." {
			t.Errorf("bar(%d, 1000) = %s", have, got)
		}
	}
	if got := p.bar(1, 2, 1); got == "#" {
		t.Error("a bar of one mark is full half way")
	}
}

// Many Jobs are a list of one line each; few have room for their verdicts.
func TestManyJobsTakeALineEach(t *testing.T) {
	for _, jobs := range []int{jobsLimit, jobsLimit + 1} {
		l := explain.ReportList{}
		for range jobs {
			l.Items = append(l.Items, backoffLimit())
		}
		got := render(t, func(w io.Writer) error { return Explanations(w, l, Options{Width: 80}) })
		table, _, _ := strings.Cut(got[strings.Index(got, "STATUS"):], "\n\n")
		if lines := strings.Count(table, "\n"); (lines == jobs) != (jobs > jobsLimit) {
			t.Errorf("%d Jobs take %d lines:\n%s", jobs, lines, table)
		}
	}
}
