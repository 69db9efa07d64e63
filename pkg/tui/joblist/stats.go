package joblist

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// stats are counts and widths over all Jobs of a list.
type stats struct {
	of     *snapshot.Jobs
	counts [kinds]int
	// namespaces is true if there are several, managed if some Jobs are not run by the built-in controller.
	namespaces, managed bool
	// The widths of columns, which do not depend on how far the Jobs are.
	namespace, name, completions, active, managedBy int
	// earliest is when the first of them was created.
	earliest time.Time
}

// derive counts the Jobs that have rows of their own. hidden reports those that have none, nameWidth is the width of a name.
func (f *stats) derive(jobs *snapshot.Jobs, p *widget.Paint, hidden func(int32) bool, nameWidth func(*explain.Outline) int) {
	if f.of == jobs {
		return
	}
	*f = stats{of: jobs, earliest: p.Now}
	for i := range jobs.Items {
		if hidden(int32(i)) { //nolint:gosec // a list of Jobs is not that long
			continue
		}
		f.add(p, &jobs.Items[i])
		f.name = max(f.name, nameWidth(&jobs.Items[i]))
		f.namespaces = f.namespaces || jobs.Items[i].Namespace != jobs.Items[0].Namespace
	}
}

func (f *stats) add(p *widget.Paint, o *explain.Outline) {
	var text [len("2147483647/1 of 2147483647")]byte
	f.counts[kindOf(o)]++
	f.managed = f.managed || o.ManagedBy != ""
	f.namespace = max(f.namespace, widget.Width(o.Namespace))
	f.completions = max(f.completions, len(section.AppendCompletions(text[:0], done(o))))
	f.active = max(f.active, len("10(10)"), len(section.AppendActive(text[:0], o)))
	f.managedBy = max(f.managedBy, managedCell(p, o).Width())
	if !o.Created.IsZero() && o.Created.Before(&metav1.Time{Time: f.earliest}) {
		f.earliest = o.Created.Time
	}
}

// done is a Job as it is once all has succeeded: its numbers are the widest.
func done(o *explain.Outline) *explain.Outline {
	all := *o
	if o.Completions != nil {
		all.Succeeded = max(o.Succeeded, *o.Completions)
	}
	return &all
}
