package wait

import (
	"cmp"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// waitResult is the output of wait -o json and -o yaml. Fields may be added, but none is renamed, removed, or given
// another meaning within v1alpha1.
type waitResult struct {
	// APIVersion is batchjob.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is WaitResult.
	Kind string `json:"kind"`
	// ExitCode is that of the command.
	ExitCode int `json:"exitCode"`
	// Jobs are those that were waited for. It is never null.
	Jobs []jobResult `json:"jobs"`
}

// jobResult is how waiting for one Job has ended.
type jobResult struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Outcome is Complete, Failed, Deleted, Replaced (deleted, and another one created), ConditionMet (with
	// --for=condition or jsonpath), or Waiting: it was still waited for.
	Outcome feed.End `json:"outcome"`
	// Reason is that of the Job's condition Complete or Failed; "" for other outcomes.
	Reason string `json:"reason"`
	// Message is why the Job has failed, or how far it is, on one line.
	Message string `json:"message"`
}

// stillWaiting is the outcome of a Job that was still waited for.
const stillWaiting = feed.End("Waiting")

// writeResult writes all Jobs, and how they ended; nothing before the Jobs are known.
func (w *waiter) writeResult(err error) error {
	if w.byKey == nil {
		return nil
	}
	result := waitResult{APIVersion: cmdutil.OutputAPIVersion, Kind: "WaitResult", ExitCode: cmdutil.ExitCode(cmdutil.ExplainError(err)), Jobs: []jobResult{}}
	for _, waited := range w.jobs {
		one := jobResult{Namespace: waited.job.Namespace, Name: waited.job.Name, Outcome: cmp.Or(waited.end, stillWaiting)}
		if end := waited.condition(); end != nil {
			one.Reason, one.Message = end.Reason, cmp.Or(waited.why, end.Message)
		} else if one.Outcome == stillWaiting || one.Outcome == conditionMet {
			one.Message = w.progress.Describe(waited.job)
		}
		result.Jobs = append(result.Jobs, one)
	}
	return w.progress.Around(func() error { return w.options.output.Write(w.options.Out, result) })
}
