package joblist

import (
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// resortEvery is the minimum time for which rows keep their places, so that they do not jump while the user reads them. Keys
// that change the order or the filter sort at once.
const resortEvery = 5 * time.Second

// arrange filters and sorts the Jobs.
func (s *listScreen) arrange(jobs *snapshot.Jobs, now time.Time) {
	if s.fold.of != jobs {
		s.fold.derive(jobs)
		s.foldCronJobs(jobs, now)
	}
	s.table.Arrange(jobs, jobs.Items, now, func(i int32) bool { return s.hasRow(jobs, i) })
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
	return f.Matches(o.Namespace+"/"+o.Name, section.RowStatus(o), reasonOf(o), words.Why(o, time.Time{}, words.MostWhy), rule, o.ManagedBy, problem)
}

// oldFailure is the age at which a failed Job is no longer urgent. It is then listed after all running Jobs, and before
// complete ones.
const oldFailure = 24 * time.Hour

// urgencyOf returns how urgently a Job needs attention; higher is more urgent. Among failed Jobs, the latest failure is the
// most urgent.
func urgencyOf(o *explain.Outline, now time.Time) int64 {
	const seconds = 40 // bits of a time
	kind, at := kindOf(o), int64(0)
	if kind == failed && !o.Finished.IsZero() {
		at = o.Finished.Unix()
		if now.Sub(o.Finished.Time) > oldFailure {
			return (1-2*int64(complete))<<seconds + at
		}
	}
	return -2*int64(kind)<<seconds + at
}

func durationOf(o *explain.Outline, now time.Time) int64 { return int64(section.Ran(o, now)) }

func failedPodsOf(o *explain.Outline, _ time.Time) int64 { return int64(o.Failures()) }

func ageOf(o *explain.Outline, now time.Time) int64 {
	if o.Created.IsZero() {
		return 0
	}
	return int64(now.Sub(o.Created.Time))
}

// progressOf returns the share that has succeeded, in millionths.
func progressOf(o *explain.Outline, _ time.Time) int64 {
	const all = 1_000_000
	done, total := o.Done()
	if total == nil || *total <= 0 {
		return int64(min(done, 1)) * all
	}
	return int64(done) * all / int64(*total)
}
