package tui

import (
	"cmp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// The ways to sort Jobs, in the order of jobOrders.
const (
	jobsByName = iota
	jobsByStatus
	jobsByAge
	jobsByDuration
	jobsByFailed
	jobsByProgress
)

func jobOrders() []order {
	return []order{
		jobsByName:     {column: columnName, name: "name"},
		jobsByStatus:   {column: columnStatus, name: "status"},
		jobsByAge:      {column: columnAge, name: "age"},
		jobsByDuration: {column: columnDuration, name: "duration", falls: true},
		jobsByFailed:   {column: columnFailed, name: "failed pods", falls: true},
		jobsByProgress: {column: columnCompletions, name: "progress"},
	}
}

// jobsRows are the Jobs that are listed, in their order.
type jobsRows struct {
	// of is what order was made for.
	of struct {
		jobs     *snapshot.Jobs
		filter   string
		at       int
		reversed bool
	}
	order []int32
}

// derive chooses and sorts, if it has not done so before. now tells how long Jobs have run.
func (r *jobsRows) derive(s *jobsScreen, jobs *snapshot.Jobs, now time.Time) {
	of := r.of
	of.jobs, of.filter, of.at, of.reversed = jobs, s.filter.text, s.sorting.at, s.sorting.reversed
	if of == r.of {
		return
	}
	r.of = of
	r.order = make([]int32, 0, len(jobs.Items))
	for i := range jobs.Items {
		if !s.filter.on() || s.filter.chooses(jobWords(&jobs.Items[i])) {
			r.order = append(r.order, int32(i))
		}
	}
	compare := compareJobs(s.sorting.at, now)
	if compare == nil {
		s.sorting.rows(r.order, nil)
		return
	}
	s.sorting.rows(r.order, func(a, b int32) int { return compare(&jobs.Items[a], &jobs.Items[b]) })
}

// jobWords is what a filter looks at.
func jobWords(o *explain.Outline) string {
	words := []string{o.Namespace + "/" + o.Name, o.Status, o.Reason, o.ManagedBy}
	if o.Rule != nil {
		words = append(words, ruleTitle(*o.Rule, o.RuleName))
	}
	if o.Neglected {
		words = append(words, notReconciled)
	}
	return strings.ToLower(strings.Join(words, " "))
}

// compareJobs is nil for the order in which they are.
func compareJobs(by int, now time.Time) func(a, b *explain.Outline) int {
	switch by {
	case jobsByStatus:
		return func(a, b *explain.Outline) int { return cmp.Compare(kindOf(a), kindOf(b)) }
	case jobsByAge:
		return func(a, b *explain.Outline) int { return compareTimes(b.Created, a.Created) }
	case jobsByDuration:
		return func(a, b *explain.Outline) int { return cmp.Compare(ranOf(a, now), ranOf(b, now)) }
	case jobsByFailed:
		return func(a, b *explain.Outline) int { return cmp.Compare(a.Failed, b.Failed) }
	case jobsByProgress:
		return func(a, b *explain.Outline) int { return cmp.Compare(progressOf(a), progressOf(b)) }
	}
	return nil
}

// compareTimes puts what has no time first.
func compareTimes(a, b *metav1.Time) int {
	switch {
	case a.IsZero() || b.IsZero():
		return cmp.Compare(boolInt(!a.IsZero()), boolInt(!b.IsZero()))
	default:
		return a.Compare(b.Time)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ranOf is how long a Job has run, -1 for one that was not started.
func ranOf(o *explain.Outline, now time.Time) time.Duration {
	switch {
	case o.Started.IsZero():
		return -1
	case !o.Finished.IsZero():
		return max(0, o.Finished.Sub(o.Started.Time))
	}
	return max(0, now.Sub(o.Started.Time))
}

// progressOf is the share that has succeeded.
func progressOf(o *explain.Outline) float64 {
	if o.Completions == nil || *o.Completions <= 0 {
		return float64(min(o.Succeeded, 1))
	}
	return float64(o.Succeeded) / float64(*o.Completions)
}
