package explain

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Fate is how far the end of a Job is decided.
type Fate string

// The fates.
const (
	// FateOpen says: nothing is decided.
	FateOpen Fate = "Open"
	// FateFailing says: the Job will fail, and waits for its pods to end (FailureTarget).
	FateFailing Fate = "Failing"
	// FateSucceeding says: the Job will be complete, and waits for its pods to end
	// (SuccessCriteriaMet).
	FateSucceeding Fate = "Succeeding"
	FateFailed     Fate = "Failed"
	FateComplete   Fate = "Complete"
)

// Verdict is the answer in one sentence, and in fields.
type Verdict struct {
	// Status is kubectl's word: Running, Suspended, FailureTarget, SuccessCriteriaMet,
	// Failed, Complete or Terminating.
	Status string `json:"status"`
	Fate   Fate   `json:"fate"`
	// Stalled reports whether the Job is not finished, and a problem blocks it.
	Stalled bool `json:"stalled,omitempty"`
	// Reason and Message are those of the condition that decided the fate.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Rule and RuleName are the rule of the podFailurePolicy behind the reason, if a rule is
	// and it is known.
	Rule     *int32 `json:"rule,omitempty"`
	RuleName string `json:"ruleName,omitempty"`
	// WaitsFor says what the terminal condition waits for, while Failing or Succeeding.
	WaitsFor string `json:"waitsFor,omitempty"`
	// Why is what decided the fate, in a few words without a full stop; "" while Open.
	Why string `json:"why,omitempty"`
	// State and Summary make a headline behind the Job's name: "failed", and "20 of 300 indexes failed, 280 succeeded".
	// Summary is "" if there is nothing to add to the State.
	State   string `json:"state"`
	Summary string `json:"summary,omitempty"`
	// EndedBy is what failed the Job if it was not the failure of a pod: its deadline, restarts, or another reason of the
	// condition. Mechanism is the limit or the rule that made failures final: "backoffLimit 0 allows no retries"; or the
	// rule of the successPolicy that is met. Both have no full stop, and are "" if there is nothing to say.
	EndedBy   string `json:"endedBy,omitempty"`
	Mechanism string `json:"mechanism,omitempty"`
	// Sentence ends with a full stop. Clauses are its parts: the first is the answer, and
	// the others add to it.
	Sentence string   `json:"sentence"`
	Clauses  []string `json:"clauses,omitempty"`
	// Cause is how the pod ended that decided that the Job fails; nil if none is known to have.
	Cause *DecidingCause `json:"cause,omitempty"`
	// Problem is the index of the one of Report.Problems that the sentence names.
	Problem *int32 `json:"problem,omitempty"`
	// Progress is how much succeeded of a Job that fails or failed, if anything did.
	Progress string `json:"-"`
	// ReasonFirst is set if Why begins with the Reason.
	ReasonFirst bool `json:"-"`
}

// DecidingCause is how the pod ended that decided that a Job fails. The most frequent of Report.Causes may be another one.
type DecidingCause struct {
	// Text is one line, without a full stop.
	Text string `json:"text"`
	// ExitCode is that of the container, nil if none is known.
	ExitCode  *int32 `json:"exitCode,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Container string `json:"container,omitempty"`
	Pod       string `json:"pod,omitempty"`
}

// WithReason is Why behind the reason of the condition, which it names only if nothing else
// is known, and the Progress.
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

// EvidenceKind says what a link of the chain is.
type EvidenceKind string

// The links, in the order in which they follow each other.
const (
	EvidenceCondition EvidenceKind = "Condition"
	EvidenceLimit     EvidenceKind = "Limit" // a limit of the spec, and what stands against it
	EvidenceRule      EvidenceKind = "Rule"
	EvidencePod       EvidenceKind = "Pod"
	EvidenceContainer EvidenceKind = "Container"
	EvidenceLogs      EvidenceKind = "Logs"
	EvidenceEvent     EvidenceKind = "Event"
	// EvidenceNote is something that is missing from the chain, and why.
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
	// Signal is that of an exit code above 128, such as SIGKILL.
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"`
}
