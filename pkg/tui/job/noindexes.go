package job

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// withoutMap returns the reason why there is no map, and the states of the pods instead.
func (o *indexesPane) withoutMap(p *widget.Paint, j *screen.Job) []layout.Line {
	text := "This Job has no indexes (completionMode NonIndexed): any pod that succeeds counts."
	if j.Indexes != nil {
		text = "This Job has no indexes: completions is 0."
	}
	lines := p.Wrap(layout.Plainly(text), 0)
	all := int64(len(j.Pods)) + int64(j.PodsOmitted)
	if all == 0 {
		lines = append(lines, p.Wrap(layout.Of(layout.Text(layout.Muted, "The Job has no pods.")), 0)...)
		return o.others.Visible(lines, p.Height)
	}
	counts := map[string]int{}
	for i := range j.Pods {
		counts[j.Pods[i].State]++
	}
	states := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	lines = append(lines, p.Title(wording.Plural(all, "pod", "pods"), ""))
	for _, state := range states {
		count := layout.Text(layout.Bold, fmt.Sprintf("%6s", wording.Thousands(counts[state])))
		lines = append(lines, p.Cut(layout.Of(count, layout.Text(layout.Plain, "  "+state)), p.Width))
	}
	lines = append(lines, layout.Of(layout.Textf(layout.Muted, "Key %d lists them.", podsTab)))
	return o.others.Visible(lines, p.Height)
}
