package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// The causes of a context that a limit has canceled, and of the errors that say so.
var (
	ErrTimeout = errors.New("timed out")
	ErrStalled = errors.New("stalled")
)

// maxLines is the maximum number of Jobs that the error of a limit lists.
const maxLines = 10

// Words name Jobs and their ends in messages.
type Words struct {
	Past       string // past participle for ended Jobs, such as "finished"
	Namespaces bool   // Jobs are named with their namespaces
	Selected   bool   // a label selector chose the Jobs, so that a Job is lost if its labels change
}

// Ended is a Job with its outcome, "" while it is open.
type Ended struct {
	types.NamespacedName
	Outcome reconcile.Outcome
}

// Label names a Job as kubectl does, with its namespace if there may be several.
func (w Words) Label(namespace, name string) string {
	if w.Namespaces {
		return fmt.Sprintf("job.batch/%s -n %s", name, namespace)
	}
	return "job.batch/" + name
}

// Labels returns the labels of the Jobs with this outcome.
func (w Words) Labels(jobs []Ended, outcome reconcile.Outcome) (labels []string) {
	for _, j := range jobs {
		if j.Outcome == outcome {
			labels = append(labels, w.Label(j.Namespace, j.Name))
		}
	}
	return labels
}

func isLost(end reconcile.Outcome) bool { return end == feed.Deleted || end == feed.Replaced }

// Lost returns an error for each Job that was deleted, nil if none was.
func (w Words) Lost(jobs []Ended) error {
	var lost []error
	for _, j := range jobs {
		if !isLost(j.Outcome) {
			continue
		}
		what := w.Label(j.Namespace, j.Name) + " was deleted"
		if w.Selected && j.Outcome == feed.Deleted {
			what += " or its labels were changed"
		}
		what += " before it " + w.Past
		if j.Outcome == feed.Replaced {
			what += ", and another was created"
		}
		lost = append(lost, cmdutil.NewUserError(cmdutil.KindNotFound, nil, what, ""))
	}
	return errors.Join(lost...)
}

// Result returns the error for lost or else for failed Jobs, nil if all are complete.
func (w Words) Result(jobs []Ended) error {
	if err := w.Lost(jobs); err != nil {
		return err
	}
	if failed := w.Labels(jobs, reconcile.OutcomeFailed); failed != nil {
		return cmdutil.JobFailed(failed)
	}
	return nil
}

// Ends returns all Jobs with their outcomes.
func (s *Set) Ends() (ends []Ended) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		ends = append(ends, Ended{types.NamespacedName{Namespace: j.Namespace, Name: j.Name}, j.End})
	}
	return ends
}

// EndLine returns a line that says how a Job ended: "job.batch/train Complete in 5m".
func (s *Set) EndLine(j *Job) string {
	line := s.Label(j.Namespace, j.Name) + " " + string(j.End)
	switch o := s.outline(j.Job); j.End {
	case reconcile.OutcomeComplete:
		if took := section.Ran(&o, s.now()); took >= 0 {
			line += " in " + wording.Duration(took)
		}
	case reconcile.OutcomeFailed:
		line += ": " + j.WhyFailed()
	}
	return line
}

// WhyFailed returns why a Job has failed: the verdict, or else its condition.
func (j *Job) WhyFailed() string {
	if j.Verdict.Why != "" {
		return j.Verdict.Why
	}
	failed := reconcile.TrueCondition(j.Job, batchv1.JobFailed)
	return wording.Join(": ", jobprinter.OrNone(failed.Reason), failed.Message)
}

// Cause returns the error of the limit that canceled the context, nil if all Jobs have ended nevertheless; or else err.
func (s *Set) Cause(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case err == nil:
		return nil
	case errors.Is(cause, ErrTimeout):
		return s.Unfinished(fmt.Sprintf("timed out after %s", s.Timeout))
	case errors.Is(cause, ErrStalled):
		return s.stalledError()
	}
	return err
}

// Unfinished returns a timeout error for each open Job, nil if all Jobs have ended.
func (s *Set) Unfinished(what string) error {
	if len(s.Ends()) == 0 {
		return cmdutil.NewUserError(cmdutil.KindTimeout, ErrTimeout, what+": no answer from the API server", "")
	}
	return s.limitError(s.Open(), cmdutil.KindTimeout, ErrTimeout, what+": ", func(job *batchv1.Job) string {
		return s.Label(job.Namespace, job.Name) + " " + s.Describe(job)
	})
}

// stalledError returns an error for each open Job that is stalled, nil if all Jobs have ended.
func (s *Set) stalledError() error {
	open := s.Open()
	stalled := slices.DeleteFunc(slices.Clone(open), func(job *batchv1.Job) bool { return s.Blockers[job.UID] == nil })
	if len(stalled) > 0 { // The others may be retries that were created meanwhile.
		open = stalled
	}
	return s.limitError(open, cmdutil.KindStalled, ErrStalled, "", func(job *batchv1.Job) string {
		what := s.Label(job.Namespace, job.Name)
		if stall := s.Blockers[job.UID]; stall != nil {
			limit := s.Stalled.limitOf(stall)
			what += fmt.Sprintf(" %s for %s: %s", limit.Name, wording.Duration(limit.After), stall.Text)
		} else {
			what += " has been stalled"
		}
		return what + "; see: " + cmdutil.WhyCommand(s.Kube, job.Namespace, job.Name)
	})
}

// limitError returns an error with a line for each Job, but at most maxLines and the number of the others.
func (s *Set) limitError(
	jobs []*batchv1.Job, kind cmdutil.ErrorKind, cause error, prefix string, lineOf func(*batchv1.Job) string,
) error {
	var lines []error
	for _, job := range jobs[:min(len(jobs), maxLines)] {
		lines = append(lines, cmdutil.NewUserError(kind, cause, prefix+lineOf(job), ""))
	}
	if more := len(jobs) - maxLines; more > 0 {
		lines = append(lines, cmdutil.NewUserError(kind, cause, prefix+wording.Count(more, "more"), ""))
	}
	return errors.Join(lines...)
}
