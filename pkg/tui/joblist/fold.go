package joblist

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// keyFold shows all Jobs of a retry family, or only its latest retry.
var keyFold = widget.Bind("F", "fold/unfold retries", "F")

// fold holds the Jobs without a row of their own, because a later retry of the same family has one.
type fold struct {
	of     *snapshot.Jobs
	hidden map[int32]bool
}

// derive finds these Jobs, unless it has done so for this list.
func (f *fold) derive(jobs *snapshot.Jobs) {
	if f.of == jobs {
		return
	}
	f.of, f.hidden = jobs, nil
	latest := map[string]int32{}
	for i := range jobs.Items {
		if o := &jobs.Items[i]; o.Retry != nil {
			if at, known := latest[o.Retry.UID]; !known || jobs.Items[at].Retry.Attempt < o.Retry.Attempt {
				latest[o.Retry.UID] = int32(i) // a list of Jobs is not that long
			}
		}
	}
	if len(latest) == 0 {
		return
	}
	f.hidden = map[int32]bool{}
	for i := range jobs.Items {
		if at, known := latest[family(&jobs.Items[i])]; known && int(at) != i {
			f.hidden[int32(i)] = true // a list of Jobs is not that long
		}
	}
}

// family returns the UID of the first Job of a Job's retry family, which may be its own UID.
func family(o *explain.Outline) string {
	if o.Retry != nil {
		return o.Retry.UID
	}
	return o.UID
}

// isHidden reports whether a Job of the list has no row.
func (s *listScreen) isHidden(i int32) bool { return !s.unfolded && s.fold.hidden[i] }

// nameCell returns the name; for a family, the name of the first Job and the number of its retries: "sweep ↻2".
func (s *listScreen) nameCell(p *widget.Paint, o *explain.Outline) layout.Line {
	if s.unfolded || o.Retry == nil {
		return layout.Plainly(o.Name)
	}
	mark := "↻"
	if p.ASCII {
		mark = "r"
	}
	return layout.Of(layout.Text(layout.Plain, o.Retry.Name), layout.Text(layout.Special, fmt.Sprintf(" %s%d", mark, o.Retry.Attempt)))
}
