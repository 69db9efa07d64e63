package wait

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// waitResult is the output of wait -o json and -o yaml. Within v1alpha1, fields may be added, but none is renamed,
// removed, or given another meaning.
type waitResult struct {
	// APIVersion is batchjob.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is WaitResult.
	Kind string `json:"kind"`
	// ExitCode is the exit code of the command.
	ExitCode int `json:"exitCode"`
	// Jobs are the Jobs that the command waited for. It is never null.
	Jobs []jobResult `json:"jobs"`
}

// jobResult is the result for one Job.
type jobResult struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Outcome is Complete, Failed, Deleted, Replaced (deleted, and another one created), ConditionMet (with
	// --for=condition or jsonpath), or Waiting (not ended when the command did).
	Outcome reconcile.Outcome `json:"outcome"`
	// Reason is the reason of the Job's condition Complete or Failed, or the kind of problem that stalls a Job, such
	// as ImagePull; "" for other outcomes.
	Reason string `json:"reason"`
	// Stalled is set if the outcome is Waiting and the Job is stalled.
	Stalled bool `json:"stalled,omitempty"`
	// Message is why the Job has failed, or its progress, on one line.
	Message string `json:"message"`
	// FailedIndexes is the field of the status, such as "1,3-5", and FailedIndexList has each index.
	FailedIndexes   string  `json:"failedIndexes,omitempty"`
	FailedIndexList []int32 `json:"failedIndexList,omitempty"`
	// Cause is the cause of the Job's failure, as far as it could be read.
	Cause *explain.DecidingCause `json:"cause,omitempty"`
}

// stillWaiting is the outcome of a Job that had not ended when the command did.
const stillWaiting = reconcile.Outcome("Waiting")

// writeResult writes the outcome of all Jobs.
func (w *waiter) writeResult(err error) error {
	result := waitResult{APIVersion: cmdutil.OutputAPIVersion, Kind: "WaitResult", ExitCode: cmdutil.ExitCode(cmdutil.ExplainError(err)), Jobs: []jobResult{}}
	var names []string
	for _, job := range w.jobs {
		one := jobResult{Namespace: job.Namespace, Name: job.Name, Outcome: cmp.Or(job.End, stillWaiting)}
		switch one.Outcome {
		case reconcile.OutcomeComplete, reconcile.OutcomeFailed:
			end := reconcile.TrueCondition(job.Job, batchv1.JobConditionType(job.End))
			one.Reason, one.Message = end.Reason, end.Message
			if job.End == reconcile.OutcomeFailed {
				one.Message, one.Cause = job.WhyFailed(), job.Verdict.Cause
			}
		case stillWaiting, conditionMet:
			one.Message = w.Describe(job.Job)
			if stall := w.Stall(job.Job); stall != nil && one.Outcome == stillWaiting {
				one.Reason, one.Stalled = string(stall.Kind), true
			}
		}
		if failed := job.Status.FailedIndexes; failed != nil {
			one.FailedIndexes, one.FailedIndexList = *failed, explain.ListIndexes(*failed)
		}
		result.Jobs, names = append(result.Jobs, one), append(names, job.Name)
	}
	return w.Around(func() error { return w.options.output.Write(w.options.Out, result, names...) })
}
