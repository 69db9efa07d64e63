package cause

import (
	"encoding/json"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// Annotation of an event about failed pods holds a Record as JSON: when the pods are gone,
// that is all that is left of them. Events of releases before it do not have it.
const Annotation = "batchjob.dev/cause"

// Record is what an event says about pods that failed for one cause.
type Record struct {
	Cause
	// Pod is the first of the pods.
	Pod string `json:"pod,omitempty"`
	// Others is set for the event of all causes that have none of their own. The Cause is
	// one of them.
	Others bool `json:"others,omitempty"`
}

// String is the value of the Annotation.
func (r Record) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		return "" // Strings, numbers and booleans only: this cannot be.
	}
	return string(text)
}

// Annotations returns the annotations of an event about failed pods.
func (r Record) Annotations() map[string]string { return map[string]string{Annotation: r.String()} }

// Parse reads the value of an Annotation. It reports whether that is a Record.
func Parse(annotation string) (Record, bool) {
	r := Record{Cause: Cause{Rule: failurepolicy.NoRule}}
	if err := json.Unmarshal([]byte(annotation), &r); err != nil || r.Rule < failurepolicy.NoRule {
		return Record{}, false
	}
	r.Judged = r.Judged || r.Rule != failurepolicy.NoRule
	return r, true
}
