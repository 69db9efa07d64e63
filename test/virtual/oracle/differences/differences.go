// Package differences lists the documented differences between our controller and the built-in one. test/virtual/oracle checks the
// list against a model of the built-in controller, test/virtual/oracle/beside against the built-in controller itself.
package differences

import (
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// Difference is a difference between our controller and the built-in one. Rule or Align may be nil, if only the other test
// can meet the difference.
type Difference struct {
	Name string
	// Where is the place of its documentation: the file, and the beginning of a row in one of its tables, usually
	// "Differences from the built-in controller" in docs/controller.md; then requirements and records.
	Where string
	// Rule is the model's rule. A random Job of test/virtual/oracle counts for the difference if our controller and the model have
	// the same outcome with the rule, and not without.
	Rule func(*model.Rules) *bool
	// Align makes two states of a Pair equal as far as they differ by this difference. It replaces states, and does not
	// modify what they contain.
	Align func(*Pair)
}

// All returns the list.
func All() []Difference {
	return []Difference{
		{
			Name: "failure rules have names", Where: "docs/controller.md: named failure rules; KEP-4443, D-34",
			Rule: func(r *model.Rules) *bool { return &r.NamedRules }, Align: alignRuleNames,
		},
		{
			Name: "the condition names the last failure", Where: "docs/controller.md: the message of a Job that exceeds backoffLimit; JOB-15",
			Align: alignLastFailure,
		},
		{
			Name: "an index in a long back-off holds up no other", Where: "docs/controller.md: an index in back-off; BLI-24, D-14",
			Rule: func(r *model.Rules) *bool { return &r.NoHeadOfLine }, Align: alignHeadOfLine,
		},
		{
			Name: "a suspended Job that ends has a startTime", Where: "docs/controller.md: a suspended Job that comes to its end; STV-14, D-39",
			Rule: func(r *model.Rules) *bool { return &r.StartTimeAtEnd }, Align: alignSuspendedEnd,
		},
		{
			Name: "a deleted Job does not start when it is resumed", Where: "docs/controller.md: a suspended Job that is resumed while; JOB-27",
			Rule: func(r *model.Rules) *bool { return &r.DeletedIsNotResumed }, Align: alignResumedDeleted,
		},
		{
			Name: "a failed pod waits again when its next pod is removed", Where: "docs/controller.md: an index whose new pod is removed; BLI-07, ADR 0002",
			Rule: func(r *model.Rules) *bool { return &r.ReplacedStays },
		},
		{
			Name: "a count that may not shrink is kept", Where: "docs/controller.md: completions and parallelism lowered together; STV-18",
			Rule: func(r *model.Rules) *bool { return &r.CountKept }, Align: alignRefusedCount,
		},
		{
			Name: "a pod that was let go fails no Job", Where: "docs/controller.md: a pod that runs when its Job is deleted; TRK-12, TRK-24",
			Rule: func(r *model.Rules) *bool { return &r.SettledIsSettled }, Align: alignDeletedJob,
		},
		{
			Name: "a pod's end has an effect at once", Where: "docs/controller.md: pods that end within a second; ADR 0002, SUC-10",
			Align: alignReaction,
		},
		{
			Name: "either of two equal pods is removed", Where: "docs/internals/requirements.md: JOB-12",
			Align: alignEqualPods,
		},
		{
			Name: "a terminating pod out of range is released at once", Where: "docs/internals/requirements.md: TRK-29",
			Align: alignOutOfRange,
		},
		{
			Name: "the built-in controller releases each orphan", Where: "docs/controller.md: a pod that loses its owner; TRK-37, ADR 0013",
			Align: alignOrphan,
		},
		{
			Name: "the back-off of a Job follows from its pods", Where: "docs/controller.md: global back-off; JOB-18",
			Align: alignRestart,
		},
	}
}

// Documented returns the model's rules of all differences.
func Documented() model.Rules {
	var rules model.Rules
	for _, d := range All() {
		if d.Rule != nil {
			*d.Rule(&rules) = true
		}
	}
	return rules
}
