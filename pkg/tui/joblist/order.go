package joblist

import (
	"cmp"
	"strconv"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// The sort orders of Jobs, as indexes into jobOrders.
const (
	jobsByStatus = iota
	jobsByName
	jobsByAge
	jobsByDuration
	jobsByFailed
	jobsByProgress
)

func jobOrders() []widget.Order {
	return []widget.Order{
		jobsByStatus:   {Column: columnStatus, Name: "problems", Descending: true},
		jobsByName:     {Column: columnName, Name: "name"},
		jobsByAge:      {Column: columnAge, Name: "age"},
		jobsByDuration: {Column: columnDuration, Name: "duration", Descending: true},
		jobsByFailed:   {Column: columnFailed, Name: "failed pods", Descending: true},
		jobsByProgress: {Column: columnDone, Name: "progress"},
	}
}

// resortEvery is the minimum time for which rows keep their places, so that they do not jump while the user reads them. Keys
// that change the order or the filter sort at once.
const resortEvery = 5 * time.Second

// arrange filters and sorts the Jobs.
func (s *listScreen) arrange(jobs *snapshot.Jobs, now time.Time) {
	s.fold.derive(jobs)
	s.table.Hidden, s.table.Hiding = s.isHidden, strconv.FormatBool(s.unfolded)
	matches := func(i int32) bool { return matchesFilter(&s.table.Filter, &jobs.Items[i]) }
	key := func(i int32) string { return keyOf(jobs.Items[i].Namespace, jobs.Items[i].Name) }
	s.table.Keep(widget.Keep{Key: key, Now: now, For: resortEvery})
	s.table.Arrange(jobs, len(jobs.Items), matches, func() func(a, b int32) int {
		value := sortValue(s.table.Sorting.By, now)
		if value == nil {
			return nil
		}
		values := make([]sortKey, len(jobs.Items))
		for i := range jobs.Items {
			values[i].by = value(&jobs.Items[i])
			if s.table.Sorting.By == jobsByStatus {
				values[i].failed = failedAt(&jobs.Items[i])
			}
		}
		return func(a, b int32) int {
			return cmp.Or(cmp.Compare(values[a].by, values[b].by), cmp.Compare(values[a].failed, values[b].failed))
		}
	})
}

// sortKey holds the value by which a Job is sorted, and then the time of its failure.
type sortKey struct{ by, failed int64 }

// failedAt returns the time at which a Job failed, so that the latest failure is the most urgent; 0 for other Jobs.
func failedAt(o *explain.Outline) int64 {
	if kindOf(o) != failed || o.Finished.IsZero() {
		return 0
	}
	return o.Finished.Unix()
}

// filterProblem is a filter word that matches Jobs that failed, will fail, or are stalled.
const filterProblem = "problem"

// matchesFilter reports whether the content of a row matches the filter.
func matchesFilter(f *widget.Filter, o *explain.Outline) bool {
	rule, problem := "", ""
	if o.Rule != nil {
		rule = section.RuleLabel(o.Rule, o.RuleName)
	}
	if o.HasProblem() {
		problem = filterProblem
	}
	return f.Matches(o.Namespace+"/"+o.Name, section.RowStatus(o), reasonOf(o), words.Why(o, time.Time{}), rule, o.ManagedBy, problem)
}

// oldFailure is the age at which a failed Job is no longer urgent. It is then listed after all running Jobs, and before
// complete ones.
const oldFailure = 24 * time.Hour

// urgencyOf returns how urgently a Job needs attention; higher is more urgent.
func urgencyOf(o *explain.Outline, now time.Time) int64 {
	kind := kindOf(o)
	if kind == failed && !o.Finished.IsZero() && now.Sub(o.Finished.Time) > oldFailure {
		return 1 - 2*int64(complete)
	}
	return -2 * int64(kind)
}

// sortValue returns the function for the value by which Jobs are sorted, or nil to keep their order.
func sortValue(by int, now time.Time) func(*explain.Outline) int64 {
	switch by {
	case jobsByStatus:
		return func(o *explain.Outline) int64 { return urgencyOf(o, now) }
	case jobsByAge:
		return func(o *explain.Outline) int64 {
			if o.Created.IsZero() {
				return 0
			}
			return int64(now.Sub(o.Created.Time))
		}
	case jobsByDuration:
		return func(o *explain.Outline) int64 { return int64(section.Ran(o, now)) }
	case jobsByFailed:
		return func(o *explain.Outline) int64 { return int64(o.Failed) }
	case jobsByProgress:
		return progressOf
	}
	return nil
}

// progressOf returns the share that has succeeded, in millionths.
func progressOf(o *explain.Outline) int64 {
	const all = 1_000_000
	done, total := o.Done()
	if total == nil || *total <= 0 {
		return int64(min(done, 1)) * all
	}
	return int64(done) * all / int64(*total)
}
