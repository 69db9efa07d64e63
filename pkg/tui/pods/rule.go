package pods

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
)

// ruleCell returns the rule of the podFailurePolicy that a failed pod matched, short for a table, or nil for other pods. Its
// action has its own column.
func ruleCell(r *explain.Report, pod *explain.PodInfo) layout.Line {
	switch {
	case pod.Rule != nil:
		return layout.Of(layout.Text(layout.Accent, strings.TrimSpace(fmt.Sprintf("%d %s", *pod.Rule, section.RuleName(r, *pod.Rule)))))
	case pod.Phase != string(corev1.PodFailed) || r.FailurePolicy == nil:
		return nil
	}
	return layout.Of(layout.Text(layout.Muted, section.NoRule))
}

// verdict returns the matched rule and its action as a sentence, with the limit that the failure counts against.
func verdict(r *explain.Report, pod *explain.PodInfo) layout.Line {
	var l layout.Line
	switch {
	case pod.Phase != string(corev1.PodFailed):
		return nil
	case pod.Rule != nil:
		l = layout.Of(layout.Text(layout.Accent, section.RuleLabel(pod.Rule, section.RuleName(r, *pod.Rule))), layout.Text(layout.Plain, " matched: "),
			layout.Text(section.ActionStyle(pod.Action), pod.Action))
		if pod.Action != string(batchv1.PodFailurePolicyActionCount) {
			return l
		}
		l = append(l, layout.Text(layout.Plain, ", "))
	case r.FailurePolicy != nil:
		l = layout.Of(layout.Text(layout.Plain, section.NoRule+" matched: "))
	}
	return append(l, layout.Text(layout.Plain, countedAgainst(r, pod)))
}

// countedAgainst returns "counted against backoffLimit", or why the failure does not count yet.
func countedAgainst(r *explain.Report, pod *explain.PodInfo) string {
	limit := "backoffLimit"
	if r.Job.BackoffLimitPerIndex != nil {
		limit = "backoffLimitPerIndex"
	}
	switch pod.Counted {
	case explain.Recorded:
		return "recorded, about to be counted against " + limit
	case explain.NotCounted:
		return "not counted yet against " + limit
	case explain.AwaitsReplacement:
		return "to be counted against " + limit + " with the next pod"
	}
	return "counted against " + limit
}
