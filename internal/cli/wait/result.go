package wait

import (
	"cmp"

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

// writeResult writes the outcome of all Jobs; nothing if the Jobs are not known yet.
func (w *waiter) writeResult(err error) error {
	if w.byKey == nil {
		return nil
	}
	result := waitResult{APIVersion: cmdutil.OutputAPIVersion, Kind: "WaitResult", ExitCode: cmdutil.ExitCode(cmdutil.ExplainError(err)), Jobs: []jobResult{}}
	for _, waited := range w.jobs {
		one := jobResult{Namespace: waited.job.Namespace, Name: waited.job.Name, Outcome: cmp.Or(waited.end, stillWaiting)}
		if end := waited.condition(); end != nil {
			one.Reason, one.Message, one.Cause = end.Reason, cmp.Or(waited.why, end.Message), waited.cause
		} else if one.Outcome == stillWaiting || one.Outcome == conditionMet {
			one.Message = w.progress.Describe(waited.job)
			if stall := w.progress.Stall(waited.job); stall != nil && one.Outcome == stillWaiting {
				one.Reason, one.Stalled = string(stall.Kind), true
			}
		}
		if failed := waited.job.Status.FailedIndexes; failed != nil {
			one.FailedIndexes, one.FailedIndexList = *failed, explain.ListIndexes(*failed)
		}
		result.Jobs = append(result.Jobs, one)
	}
	var names []string
	for i := range result.Jobs {
		names = append(names, result.Jobs[i].Name)
	}
	return w.progress.Around(func() error { return w.options.output.Write(w.options.Out, result, names...) })
}
