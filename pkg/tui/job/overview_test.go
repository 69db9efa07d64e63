package job

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/indexmap"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// running loads a recorded Job once.
var running = sync.OnceValues(func() (recorded.Case, error) {
	return recorded.Load(filepath.Join("..", "..", "explain", "analysis", "testdata", "recorded", "running-success-policy.yaml"))
})

// withIndexes returns a running Job with these indexes, and the Paint to draw it.
func withIndexes(t *testing.T, x *explain.Indexes, width, height int) (*widget.Paint, *screen.Job) {
	t.Helper()
	c, err := running()
	assert.NoError(t, err)
	r := analysis.Explain(c.Inputs[0], explain.Options{MaxPods: -1})
	r.Indexes, r.Pods, r.SuccessPolicy, r.Job.Completions = x, nil, nil, &x.Total
	var d screen.Data
	d.SetSnapshot(&snapshot.Snapshot{Job: &snapshot.Job{Report: &r}})
	p := &widget.Paint{Frame: section.Frame{Width: width, Now: c.Inputs[0].Now, Location: time.UTC, Glyphs: layout.NewGlyphs(false)}, Height: height}
	return p, d.Job
}

// Issue 6.2: growing never makes content that fitted exceed the height, and the limits stay on the screen.
func TestGrowMapCutsNothing(t *testing.T) {
	mostly := &explain.Indexes{Total: 100_000, Completed: "0-7,9-33999", Failed: "8,52100", Pending: "34000-52099,52101-99999"}
	few := &explain.Indexes{Total: 130, Completed: "0-39", Failed: "40-44", Pending: "45-129"}
	for _, x := range []*explain.Indexes{mostly, few} {
		for width := 80; width <= 200; width += 20 {
			for height := 24; height <= 60; height++ {
				p, j := withIndexes(t, x, width, height-7) // The other lines surround a tab.
				checkGrowth(t, p, j, slices.Concat([]widget.Block{answerBlock(p, j)}, stateBlocks(p, j)), 1)
				column := p.Sized((width-columnGap)/2, p.Height)
				checkGrowth(t, column, j, stateBlocks(column, j), 0)
			}
		}
	}
	for total := int32(100); total <= 3000; total += 20 { // Some maps would need one row too many.
		p, j := withIndexes(t, &explain.Indexes{Total: total, Completed: "0-50", Failed: "60"}, 40, 30)
		checkGrowth(t, p, j, stateBlocks(p, j), 0)
	}
}

// checkGrowth grows the map, the block at the given position.
func checkGrowth(t *testing.T, p *widget.Paint, j *screen.Job, blocks []widget.Block, at int) {
	t.Helper()
	before, lines := len(widget.Stack(blocks, p.Height)), len(blocks[at])
	growMap(p, j, blocks, at)
	after := len(widget.Stack(blocks, p.Height))
	if before <= p.Height && after > p.Height {
		t.Errorf("%d indexes, %d columns: %d lines became %d, room for %d", j.Map.Len(), p.Width, before, after, p.Height)
	}
	if len(blocks[at]) < lines {
		t.Errorf("%d indexes, %dx%d: the map shrank from %d lines to %d", j.Map.Len(), p.Width, p.Height, lines, len(blocks[at]))
	}
}

// Issue 6.2: the Overview says how many indexes a cell has, and distinguishes cells that have partly failed from cells that
// have failed as a whole.
func TestOverviewMapMarksMixedCells(t *testing.T) {
	var failed []string
	for i := range 286 {
		failed = append(failed, strconv.Itoa(7*i))
	}
	mapOf := func(total int32, failed string, ascii bool) string {
		p, j := withIndexes(t, &explain.Indexes{Total: total, Completed: "0-1999", Failed: failed}, 80, 24)
		p.ASCII, p.Glyphs = ascii, layout.NewGlyphs(ascii)
		var lines []string
		for _, l := range mapBlock(p, j, 4) {
			lines = append(lines, strings.TrimRight(l.String(), "─- "))
		}
		return strings.Join(lines[:2], "\n")
	}
	for _, c := range []struct{ got, want string }{
		{
			mapOf(2000, strings.Join(failed, ","), false),
			"Indexes  10 indexes per cell  ■ 1,714 completed  ✗ 286 failed  × some failed\n" +
				"   0 ×××××××××× ×××××××××× ×××××××××× ×××××××××× ×××××××××× ××××××××××",
		},
		{
			mapOf(2000, "0-99,505", true),
			"Indexes  10 indexes per cell  # 1,899 completed  X 101 failed  x some failed\n" +
				"   0 XXXXXXXXXX ########## ########## ########## ########## x#########",
		},
		{mapOf(20, "3", false), "Indexes  ■ 19 completed  ✗ 1 failed\n 0 ■ ■ ■ ✗ ■ ■ ■ ■ ■ ■  ■ ■ ■ ■ ■ ■ ■ ■ ■ ■"},
		{mapOf(2000, "0-1999", false), "Indexes  10 indexes per cell  ✗ 2,000 failed\n   0 ✗✗✗✗✗✗✗✗✗✗ ✗✗✗✗✗✗✗✗✗✗ ✗✗✗✗✗✗✗✗✗✗ ✗✗✗✗✗✗✗✗✗✗ ✗✗✗✗✗✗✗✗✗✗ ✗✗✗✗✗✗✗✗✗✗"},
	} {
		assert.Equal(t, c.got, c.want)
	}
	// The style differs, too: only cells that have failed as a whole are bold.
	if indexmap.SomeFailed.Style()&layout.Bold != 0 || indexmap.Mark(indexmap.Failed).Style()&layout.Bold == 0 {
		t.Error("bold is for cells that have failed as a whole")
	}
}
