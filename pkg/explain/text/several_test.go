package text

import (
	"io"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

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
