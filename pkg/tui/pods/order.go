package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// arrange filters and sorts the pods.
func (o *listPane) arrange(r *explain.Report) {
	o.table.Arrange(r, r.Pods, r.ObservedAt.Time, func(i int32) bool {
		return !o.table.Filter.IsSet() || matchesFilter(&o.table.Filter, r, &r.Pods[i])
	})
}

// matchesFilter reports whether the content of a row matches the filter.
func matchesFilter(f *widget.Filter, r *explain.Report, pod *explain.PodInfo) bool {
	return f.Matches(pod.Name, pod.State, pod.Cause, FailureText{pod.Failure, pod.Cause}.short(), pod.Node, ruleText(r, pod), pod.Action)
}

// ruleText returns the rule under the same name as on other screens.
func ruleText(r *explain.Report, pod *explain.PodInfo) string {
	switch {
	case pod.Rule != nil:
		return section.RuleLabel(pod.Rule, section.RuleName(r, *pod.Rule))
	case pod.Phase == string(corev1.PodFailed) && r.FailurePolicy != nil:
		return section.NoRule + " matched"
	}
	return ruleCell(r, pod).String()
}

// compareTimes compares times; missing times come first.
func compareTimes(a, b *metav1.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return -1
	case b.IsZero():
		return 1
	}
	return a.Compare(b.Time)
}

// telling returns the pod with the most informative log: a pod with the most frequent cause, or else the first pod of the
// Report; nil without pods.
func telling(r *explain.Report) *explain.PodInfo {
	for i := range r.Causes {
		for _, name := range r.Causes[i].Pods {
			if pod := r.Pod(name); pod != nil {
				return pod
			}
		}
	}
	if len(r.Pods) == 0 {
		return nil
	}
	return &r.Pods[0]
}
