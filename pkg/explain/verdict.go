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
	Outcome reconcile.Outcome `json:"outcome"`
	// Stalled reports whether the Job is not finished, and a problem blocks it.
	Stalled bool `json:"stalled,omitempty"`
	End     `json:",inline"`
	// Cause describes the failed pod that decided the Job's failure; nil if none is known.
	Cause *DecidingCause `json:"cause,omitempty"`
	// Problem is the index in Report.Problems of the problem that the sentence names.
	Problem *int32 `json:"problem,omitempty"`
	// State and Summary follow the Job's name in a headline: "failed", and "20 of 300 indexes failed, 280 succeeded". Summary
	// is "" if there is nothing to add to the State.
	State   string `json:"state"`
	Summary string `json:"summary,omitempty"`
	// Notes add to what happens to a Job that runs: that it has run for long without a limit, or why it has no more pods; and to a
	// complete one why it still exists, the Stay.
	Notes []string `json:"notes,omitempty"`
	Stay  Stay     `json:"stay,omitempty"`
	// Why explains the outcome after the reason of the condition, without a full stop; "" while Open.
	Why string `json:"why,omitempty"`
	// Sentence ends with a full stop. Clauses are its parts: the first is the answer, and the rest adds to it.
	Sentence string   `json:"sentence"`
	Clauses  []string `json:"clauses,omitempty"`
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
	Lines []string `json:"lines,omitempty"`
	// LinesAfter is the number of lines of a log after Lines: these begin with its error, and are not its last ones.
	LinesAfter int32 `json:"linesAfter,omitempty"`
	// ErrorLine is the position in Lines of a known error, counted from 0; nil if there is none.
	ErrorLine *int32       `json:"errorLine,omitempty"`
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
