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
	// namespaces is set if there are several, and managed if some Jobs have a controller other than the built-in one.
	namespaces, managed bool
	// Widths of columns, which do not depend on the progress of the Jobs.
	namespace, name, completions, active, managedBy int
	// earliest is the earliest creation time.
	earliest time.Time
}

// derive computes the stats of the Jobs that have a row. hidden reports whether a Job has no row; nameWidth returns the width
// of a name.
func (f *stats) derive(jobs *snapshot.Jobs, p *widget.Paint, hidden func(int32) bool, nameWidth func(*explain.Outline) int) {
	if f.of == jobs {
		return
	}
	*f = stats{of: jobs, earliest: p.Now}
	for i := range jobs.Items {
		if hidden(int32(i)) { // a list of Jobs is not that long
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

// done returns the Job as if all its completions had succeeded, because these numbers are the widest.
func done(o *explain.Outline) *explain.Outline {
	all := *o
	if o.Completions != nil {
		all.Succeeded = max(o.Succeeded, *o.Completions)
	}
	return &all
}
