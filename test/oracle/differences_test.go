package oracle

import (
	"github.com/batchjob-dev/kubectl-batchjob/test/oracle/model"
)

// difference is a difference between our controller and the built-in one. A case counts for it if our controller and the
// model have the same outcome with its rule, and not without.
type difference struct {
	name string
	// where is the place of its documentation.
	where string
	rule  func(*model.Rules) *bool
}

var differences = []difference{
	{"failure rules have names", "docs/controller.md: named failure rules; KEP-4443, D-34", func(r *model.Rules) *bool { return &r.NamedRules }},
	{"an index in back-off holds up no other", "docs/controller.md: an index in back-off; BLI-24, D-14", func(r *model.Rules) *bool { return &r.NoHeadOfLine }},
	{"a suspended Job that ends has a startTime", "docs/controller.md: a suspended Job that comes to its end; STV-14, D-39", func(r *model.Rules) *bool { return &r.StartTimeAtEnd }},
	{"a failed pod waits again when its next pod is removed", "docs/controller.md: an index whose new pod is removed; BLI-07, ADR 0002", func(r *model.Rules) *bool { return &r.ReplacedStays }},
	{"a count that may not shrink is kept", "docs/controller.md: completions and parallelism lowered together; STV-18", func(r *model.Rules) *bool { return &r.CountKept }},
	{"a pod that was let go fails no Job", "docs/controller.md: a pod that runs when its Job is deleted; TRK-12, TRK-24", func(r *model.Rules) *bool { return &r.SettledIsSettled }},
}

// documented returns the rules of all differences.
func documented() model.Rules {
	var rules model.Rules
	for _, d := range differences {
		*d.rule(&rules) = true
	}
	return rules
}

// names returns the names of all differences.
func names() (out []string) {
	for _, d := range differences {
		out = append(out, d.name)
	}
	return out
}
