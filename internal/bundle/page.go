package bundle

import (
	_ "embed" // the page
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	template "github.com/DataDog/datadog-agent/pkg/template/html"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

//go:embed page.html
var pageHTML string

const (
	// pageCells is the maximum number of cells in the index map, and pagePods the maximum number of pods listed.
	pageCells = 2000
	pagePods  = 500
)

// page is the data of the template.
type page struct {
	*explain.Report
	Manifest *Manifest
	// Answer is the short explanation, as why prints it.
	Answer   []string
	Logs     []Log
	Outcome  string // the class of the badge
	Status   string
	Cells    []cell
	Legend   []legend
	Per      int // number of indexes in a cell
	Total    int32
	Pods     []explain.PodInfo
	MorePods int
	AllPods  int
}

// cell is a cell of the index map; legend is a state with its number of indexes.
type (
	cell   struct{ Class, Title string }
	legend struct {
		Class, Word string
		Count       int64
	}
)

// parsedPage returns the template of the page. html/template escapes text; control characters are made visible.
var parsedPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"text": sanitize.Line, "sentence": wording.Sentence, "time": utc, "seconds": wording.Seconds,
		"percent": func(n, of int32) int64 { return int64(n) * 100 / max(int64(of), 1) },
		"lines":   func(all []string) string { return wording.Plural(len(all), "line", "lines") },
		"list":    func(all []string) string { return strings.Join(all, ", ") },
		"inc":     func(i int) int { return i + 1 },
	}).Parse(pageHTML))
})

// writePage writes the report as one self-contained HTML page.
func writePage(w io.Writer, c *Contents, report *explain.Report) error {
	p := &page{
		Report: report, Manifest: &c.Manifest, Logs: c.Logs, Outcome: outcomeClass(report), Status: section.StatusWord(&report.Verdict),
		Pods: report.Pods[:min(len(report.Pods), pagePods)], AllPods: len(report.Pods),
	}
	for _, l := range text.ShortLines(*report, text.Options{Width: textWidth, Again: reportText}) {
		p.Answer = append(p.Answer, l.String())
	}
	p.MorePods = len(report.Pods) - len(p.Pods)
	if report.Indexes != nil {
		p.addIndexes(report.Indexes)
	}
	return parsedPage().Execute(w, p)
}

func outcomeClass(r *explain.Report) string {
	switch {
	case r.Verdict.Outcome.Fails():
		return "bad"
	case r.Verdict.Outcome.Succeeds():
		return "good"
	case r.Verdict.Stalled:
		return "warn"
	}
	return "info"
}

// classes are the CSS classes of the index map's colors, by indexmap.Mark.
var classes = [indexmap.Marks]string{
	"good", "none", "info", "info", "warn", "special", "special", "warn", "warn", "bad", "half", "somebad",
}

func (p *page) addIndexes(x *explain.Indexes) {
	m := indexmap.New(x)
	per := 1
	for (m.Len()+per-1)/per > pageCells {
		per = indexmap.Coarser(per)
	}
	grid := m.Grid(pageCells, per)
	p.Per, p.Total = per, x.Total
	for n := range grid.Len() {
		p.Cells = append(p.Cells, cell{classes[grid.Mark(n)], cellTitle(&grid, n)})
	}
	for s := range indexmap.States {
		if count := m.Count(s); count > 0 {
			p.Legend = append(p.Legend, legend{classes[s], s.Word(), count})
		}
	}
}

// cellTitle returns the tooltip of a cell: "3-4: 1 failed, 1 completed".
func cellTitle(grid *indexmap.Grid, n int) string {
	c := grid.Cell(n)
	title := fmt.Sprintf("index %d", c.First)
	if c.N > 1 {
		title = fmt.Sprintf("indexes %d-%d", c.First, c.Last)
	}
	separator := ": "
	for s := range indexmap.States {
		if count := c.Counts[s]; count > 0 {
			title += separator + strings.TrimPrefix(fmt.Sprintf("%d %s", count, s.Word()), map[bool]string{true: "1 "}[c.N == 1])
			separator = ", "
		}
	}
	return title
}

// utc formats a *metav1.Time or metav1.Time in UTC; "" for a zero time.
func utc(value any) string {
	var t metav1.Time
	switch value := value.(type) {
	case metav1.Time:
		t = value
	case *metav1.Time:
		if value != nil {
			t = *value
		}
	}
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}
