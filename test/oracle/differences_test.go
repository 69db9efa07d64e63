package oracle

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/test/oracle/model"
)

// difference is one between our controller and the one that is built in. A case counts for
// it if our controller and the model come to the same end with its rule, and not without.
type difference struct {
	name string
	// where says where it is documented.
	where string
	rule  func(*model.Rules) *bool
}

var differences = []difference{
	{"failure rules have names", "docs/controller.md: named failure rules; KEP-4443, D-34", func(r *model.Rules) *bool { return &r.NamedRules }},
	{"an index in back-off holds up no other", "docs/controller.md: an index in back-off; BLI-24, D-14", func(r *model.Rules) *bool { return &r.NoHeadOfLine }},
	{"a suspended Job that ends has a startTime", "docs/controller.md: a suspended Job that comes to its end; STV-14, D-39", func(r *model.Rules) *bool { return &r.StartTimeAtEnd }},
	{"a failed pod waits again when its next pod is removed", "docs/controller.md: an index whose new pod is removed; BLI-07, ADR 0002", func(r *model.Rules) *bool { return &r.ReplacedStays }},
	{"a count that may not shrink is kept", "docs/controller.md: completions and parallelism lowered together; STV-18", func(r *model.Rules) *bool { return &r.CountKept }},
	{"defect: a Job that is deleted and held never ends", "TRK-24, JOB-01", func(r *model.Rules) *bool { return &r.HeldNeverEnds }},
	{"defect: a work queue shrinks after its first success", "JOB-03", func(r *model.Rules) *bool { return &r.ShrinkingQueue }},
	{"defect: FailJob keeps an index from failing", "BLI-02, BLI-16", func(r *model.Rules) *bool { return &r.FailJobSavesIndex }},
	{"defect: Ignore does not cover a pod that terminates", "PRP-16", func(r *model.Rules) *bool { return &r.OnlyFailedIgnored }},
	{"defect: the deletion of a Job forgives its terminating pods", "PRP-05, TRK-24", func(r *model.Rules) *bool { return &r.DeletionForgives }},
}

// documented are the rules of all differences.
func documented() model.Rules {
	var rules model.Rules
	for _, d := range differences {
		*d.rule(&rules) = true
	}
	return rules
}

// excuse is a difference that the model cannot take part in: the cases that may differ.
type excuse struct {
	name, where string
	applies     func(*model.Case) bool
}

var excuses = []excuse{
	{"defect: back-off forgets successes of pods that are gone", "JOB-18", func(c *model.Case) bool {
		return c.Spec.BackoffLimitPerIndex == nil && slices.ContainsFunc(c.Edits, func(e model.Edit) bool {
			return slices.Contains([]model.Action{model.SetSize, model.CleanSucceeded, model.DeletePod, model.EvictPod}, e.Action)
		})
	}},
}

// names are the names of all differences.
func names() (out []string) {
	for _, d := range differences {
		out = append(out, d.name)
	}
	for _, e := range excuses {
		out = append(out, e.name)
	}
	return out
}
