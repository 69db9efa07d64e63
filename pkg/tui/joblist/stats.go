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
	// namespaces is true if there are several, managed if some Jobs are not run by the built-in
	// controller, indexes if indexes have failed, and terminating if pods terminate.
	namespaces, managed, indexes, terminating bool
	namespace, name, status                   int
	completions, active                       int
	failedIndexes, reason                     int
	managedBy                                 int
	// earliest is when the first of them was created.
	earliest time.Time
}

func (f *stats) derive(jobs *snapshot.Jobs, p *widget.Paint) {
	if f.of == jobs {
		return
	}
	*f = stats{of: jobs, earliest: p.Now}
	for i := range jobs.Items {
		f.add(p, &jobs.Items[i])
		f.namespaces = f.namespaces || jobs.Items[i].Namespace != jobs.Items[0].Namespace
	}
}

func (f *stats) add(p *widget.Paint, o *explain.Outline) {
	var text [len("2147483647/1 of 2147483647")]byte
	f.counts[kindOf(o)]++
	f.managed = f.managed || o.ManagedBy != ""
	f.terminating = f.terminating || o.Terminating != nil && *o.Terminating > 0
	f.namespace = max(f.namespace, widget.Width(o.Namespace))
	f.name = max(f.name, widget.Width(o.Name))
	f.status = max(f.status, widget.Width(section.RowStatus(o))+len("x "))
	f.completions = max(f.completions, len(section.AppendCompletions(text[:0], o)))
	f.active = max(f.active, len(section.AppendActive(text[:0], o)))
	f.managedBy = max(f.managedBy, widget.Width(o.ManagedBy))
	if o.Neglected {
		f.managedBy = max(f.managedBy, managedCell(p, o).Width())
	}
	if o.Rule == nil {
		f.reason = max(f.reason, widget.Width(reasonOf(o)))
	} else {
		f.reason = max(f.reason, reasonCell(o).Width())
	}
	if o.FailedIndexes != nil && *o.FailedIndexes != "" {
		f.indexes = true
		f.failedIndexes = max(f.failedIndexes, widget.Width(failedIndexesOf(p, o)))
	}
	if !o.Created.IsZero() && o.Created.Before(&metav1.Time{Time: f.earliest}) {
		f.earliest = o.Created.Time
	}
}
