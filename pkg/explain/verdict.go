package explain

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// Verdict is the answer in one sentence, and in fields.
type Verdict struct {
	// Status is the status that kubectl prints: Running, Suspended, FailureTarget, SuccessCriteriaMet, Failed, Complete or
	// Terminating.
	Status  string            `json:"status"`
	Outcome reconcile.Outcome `json:"fate"`
	// Stalled reports whether the Job is not finished, and a problem blocks it.
	Stalled bool `json:"stalled,omitempty"`
	// Reason and Message come from the condition that decided the outcome.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Rule and RuleName identify the rule of the podFailurePolicy behind the reason, if there is one and it is known.
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// WaitsFor describes what holds up the terminal condition while Failing or Succeeding.
	WaitsFor string `json:"waitsFor,omitempty"`
	// Why explains the outcome in a few words, without a full stop; "" while Open.
	Why string `json:"why,omitempty"`
	// State and Summary follow the Job's name in a headline: "failed", and "20 of 300 indexes failed, 280 succeeded". Summary
	// is "" if there is nothing to add to the State.
	State   string `json:"state"`
	Summary string `json:"summary,omitempty"`
	// EndedBy is the reason why the Job failed if it was not a pod failure: its deadline, restarts, or another reason of the
	// condition. Mechanism is the limit or the rule that made failures final ("backoffLimit 0 allows no retries"), or the
	// rule of the successPolicy that is met. Both have no full stop, and are "" if there is nothing to add.
	EndedBy   string `json:"endedBy,omitempty"`
	Mechanism string `json:"mechanism,omitempty"`
	// Sentence ends with a full stop. Clauses are its parts: the first is the answer, and the rest adds to it.
	Sentence string   `json:"sentence"`
	Clauses  []string `json:"clauses,omitempty"`
	// Cause describes the failed pod that decided the Job's failure; nil if none is known.
	Cause *DecidingCause `json:"cause,omitempty"`
	// Problem is the index in Report.Problems of the problem that the sentence names.
	Problem *int32 `json:"problem,omitempty"`
	// Progress describes the successes of a Job that fails or failed, "" if there are none.
	Progress string `json:"-"`
	// ReasonFirst reports whether Why begins with the Reason.
	ReasonFirst bool `json:"-"`
}

// DecidingCause describes the failed pod that decided a Job's failure. The most frequent of Report.Causes may be a different
// one.
type DecidingCause struct {
	// Text is one line, without a full stop.
	Text string `json:"text"`
	// ExitCode is the exit code of the container, nil if none is known.
	ExitCode  *int32 `json:"exitCode,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Container string `json:"container,omitempty"`
	Pod       string `json:"pod,omitempty"`
}

// WithReason returns Why after the reason of the condition, without a repetition of the reason, and the Progress.
func (v *Verdict) WithReason() string {
	text := v.Why
	if !v.ReasonFirst {
		text = v.Reason + ": " + text
	}
	if v.Progress != "" {
		text += "; " + v.Progress
	}
	return text
}

// EvidenceKind is the kind of a link in the chain of evidence.
type EvidenceKind string

// The kinds of links, in the order of the chain.
const (
	EvidenceCondition EvidenceKind = "Condition"
	EvidenceLimit     EvidenceKind = "Limit" // a limit of the spec, and how much of it is used
	EvidenceRule      EvidenceKind = "Rule"
	EvidencePod       EvidenceKind = "Pod"
	EvidenceContainer EvidenceKind = "Container"
	EvidenceLogs      EvidenceKind = "Logs"
	EvidenceEvent     EvidenceKind = "Event"
	// EvidenceNote describes a missing link of the chain, and why it is missing.
	EvidenceNote EvidenceKind = "Note"
)

// Evidence is one link of the chain. Each link explains the one before it.
type Evidence struct {
	Kind EvidenceKind `json:"kind"`
	// Text is one line, without a full stop.
	Text string `json:"text"`
	// Lines are quoted text: the last lines of a log, a termination message.
	Lines     []string     `json:"lines,omitempty"`
	Time      *metav1.Time `json:"time,omitempty"`
	Condition string       `json:"condition,omitempty"`
	Rule      *int32       `json:"rule,omitempty"`
	RuleName  string       `json:"ruleName,omitempty"`
	Pod       string       `json:"pod,omitempty"`
	Index     *int32       `json:"index,omitempty"`
	Attempt   int32        `json:"attempt,omitempty"`
	Container string       `json:"container,omitempty"`
	ExitCode  *int32       `json:"exitCode,omitempty"`
	// Signal is the signal behind an exit code above 128, such as SIGKILL.
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"`
}
