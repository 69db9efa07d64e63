package job

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// headerFrom is the height from which a preview has the header of the Job.
const headerFrom = 10

// Preview shows a Job in a part of the screen: its header, and the parts of the Overview that fit.
func Preview(p *widget.Paint, d *screen.Data, job types.NamespacedName) []layout.Line {
	lines := []layout.Line{p.Title(job.Namespace+"/"+job.Name, "")}
	j := d.Open(job)
	if j == nil {
		return append(lines, layout.Of(layout.Text(layout.Muted, "Reading the Job"+p.Glyphs.More)))
	}
	part := p.Sized(p.Width, p.Height)
	part.Now = j.AsOf(p.Now)
	if p.Height < headerFrom {
		lines[0] = p.Title(job.Namespace+"/"+job.Name, section.StatusWord(&j.Verdict))
	} else {
		lines = append(lines, header(part, j)...)
	}
	lines = append(lines, brief(part.Sized(p.Width, max(1, p.Height-len(lines))), j)...)
	return lines[:min(len(lines), p.Height)]
}

// brief shows the Overview in the given height: the last blocks that do not fit are omitted. Of very few lines, the answer has all.
func brief(p *widget.Paint, j *screen.Job) []layout.Line {
	if p.Height < headerFrom { // A part of the answer says more than what fits of the other blocks.
		return widget.Stack([]widget.Block{answerBlock(p, j)}, p.Height)
	}
	if p.Width < columnsFrom {
		blocks := fitting(slices.Concat([]widget.Block{answerBlock(p, j)}, stateBlocks(p, j)), p.Height)
		growMap(p, j, blocks, 1)
		return widget.Stack(blocks, p.Height)
	}
	half := (p.Width - columnGap) / 2
	left, right := p.Sized(half, p.Height), p.Sized(p.Width-columnGap-half, p.Height)
	state := fitting(stateBlocks(right, j), p.Height)
	growMap(right, j, state, 0)
	return layout.Beside(answerBlock(left, j), half, columnGap, widget.Stack(state, p.Height), p.Glyphs.Ellipsis)
}

// fitting returns the blocks with those that do not fit set to nil; the first one is always kept.
func fitting(blocks []widget.Block, height int) []widget.Block {
	fits := make([]widget.Block, len(blocks))
	for i, b := range blocks {
		fits[i] = b
		if i > 0 && len(widget.Stack(fits, height)) > height {
			fits[i] = nil
		}
	}
	return fits
}
