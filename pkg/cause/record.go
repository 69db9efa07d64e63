package cause

import (
	"encoding/json"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// Annotation is the annotation of an event about failed pods that holds a Record as JSON: the only trace of the pods
// once they are gone. Events of older releases do not have it.
const Annotation = "batchjob.dev/cause"

// Record is the content of an event about pods that failed for one cause.
type Record struct {
	Cause
	// Pod is the name of the first pod.
	Pod string `json:"pod,omitempty"`
	// Others is set for the event that counts all causes without an event of their own. The Cause is one of them.
	Others bool `json:"others,omitempty"`
}

// String returns the value of the Annotation.
func (r Record) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		return "" // Unreachable: strings, numbers and booleans only.
	}
	return string(text)
}

// Annotations returns the annotations of an event about failed pods.
func (r Record) Annotations() map[string]string { return map[string]string{Annotation: r.String()} }

// Parse parses the value of an Annotation. It reports whether the value is a Record.
func Parse(annotation string) (Record, bool) {
	r := Record{Cause: Cause{Rule: failurepolicy.NoRule}}
	if err := json.Unmarshal([]byte(annotation), &r); err != nil || r.Rule < failurepolicy.NoRule {
		return Record{}, false
	}
	r.Judged = r.Judged || r.Rule != failurepolicy.NoRule
	return r, true
}
