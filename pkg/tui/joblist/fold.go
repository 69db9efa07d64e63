package joblist

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/cronjob"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

var (
	// keyFold shows all Jobs of a retry family, or only its latest retry.
	keyFold = widget.Bind("F", "fold/unfold retries", "F")
	// keyByOwner shows the Jobs of a CronJob, or a row for all of them.
	keyByOwner = widget.Bind("o", "fold/unfold CronJobs", "o")
)

// fold holds the Jobs without a row of their own, because a later retry of the same family has one, or their CronJob.
type fold struct {
	of     *snapshot.Jobs
	hidden map[int32]bool
	// cronJobs have a row in the place of their most urgent Job; by the key of the row.
	cronJobs map[string]*cronJob
}

// cronJob is a CronJob with its Jobs, the most urgent one first, and their numbers by kind.
type cronJob struct {
	name   types.NamespacedName
	jobs   []int32
	counts [kinds]int
}

// foldCronJobs folds the Jobs of CronJobs into a row for each, if the user has chosen that.
func (s *listScreen) foldCronJobs(jobs *snapshot.Jobs, now time.Time) {
	s.fold.cronJobs = map[string]*cronJob{}
	for i := range jobs.Items {
		if o := &jobs.Items[i]; s.byOwner && cronjob.IsOwner(o.Owner) && !s.isHidden(int32(i)) { // a list of Jobs is not that long
			c := s.fold.cronJobs[s.keyOf(o)]
			if c == nil {
				c = &cronJob{name: types.NamespacedName{Namespace: o.Namespace, Name: o.Owner.Name}}
				s.fold.cronJobs[s.keyOf(o)] = c
			}
			c.jobs = append(c.jobs, int32(i))
			c.counts[kindOf(o)]++
		}
	}
	for _, c := range s.fold.cronJobs {
		slices.SortStableFunc(c.jobs, func(a, b int32) int {
			return cmp.Compare(urgencyOf(&jobs.Items[b], now), urgencyOf(&jobs.Items[a], now))
		})
	}
}

// cronJobOf returns the CronJob in whose row a Job is folded, nil for a Job with a row of its own.
func (s *listScreen) cronJobOf(o *explain.Outline) *cronJob {
	if !s.byOwner || !cronjob.IsOwner(o.Owner) {
		return nil
	}
	return s.fold.cronJobs[s.keyOf(o)]
}

// label returns the CronJob as kubectl names it; on a narrow screen, by the short name of the resource.
func (c *cronJob) label(p *widget.Paint) string {
	if p.Width < fullWhyFrom {
		return "cj/" + c.name.Name
	}
	return "cronjob/" + c.name.Name
}

// derive finds the Jobs that a later retry hides.
func (f *fold) derive(jobs *snapshot.Jobs) {
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

// withCronJobs returns columns that also draw the rows of CronJobs.
func (s *listScreen) withCronJobs(p *widget.Paint, columns []layout.Column[explain.Outline]) []layout.Column[explain.Outline] {
	if !s.byOwner {
		return columns
	}
	return section.WithOwners(columns, func(o *explain.Outline) *section.Owner {
		if c := s.cronJobOf(o); c != nil {
			return &section.Owner{Namespace: c.name.Namespace, Name: c.label(p), Jobs: countsOf(p, c.counts, false)}
		}
		return nil
	})
}

// hasRow reports whether a Job has a row that the filter shows. That of a CronJob is shown if it would show one of the Jobs.
func (s *listScreen) hasRow(jobs *snapshot.Jobs, i int32) bool {
	of := []int32{i}
	if c := s.cronJobOf(&jobs.Items[i]); c != nil {
		of = c.jobs
	}
	return of[0] == i && slices.ContainsFunc(of, func(at int32) bool {
		return !s.isHidden(at) && (!s.table.Filter.IsSet() || matchesFilter(&s.table.Filter, &jobs.Items[at]))
	})
}

// nameCell returns the name, or that of the CronJob; for a family, the name of the first Job and the number of its retries: "sweep ↻2".
func (s *listScreen) nameCell(p *widget.Paint, o *explain.Outline) layout.Line {
	if c := s.cronJobOf(o); c != nil {
		return layout.Plainly(c.label(p))
	}
	if s.unfolded || o.Retry == nil {
		return layout.Plainly(o.Name)
	}
	mark := "↻"
	if p.ASCII {
		mark = "r"
	}
	return layout.Of(layout.Text(layout.Plain, o.Retry.Name), layout.Text(layout.Special, fmt.Sprintf(" %s%d", mark, o.Retry.Attempt)))
}
