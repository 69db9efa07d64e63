package pods

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// The sort orders of pods, as indexes into podOrders.
const (
	podsByWeight = iota
	podsByName
	podsByIndex
	podsByState
	podsByAge
)

func podOrders() []widget.Order {
	return []widget.Order{
		podsByWeight: {Name: "problems", Descending: true},
		podsByName:   {Column: columnName, Name: "name"},
		podsByIndex:  {Column: columnIndex, Name: "index and attempt"},
		podsByState:  {Column: columnState, Name: "state"},
		podsByAge:    {Column: columnWhen, Name: "age"},
	}
}

// arrange filters and sorts the pods.
func (o *listPane) arrange(r *explain.Report) {
	matches := func(i int32) bool { return matchesFilter(&o.table.Filter, r, &r.Pods[i]) }
	o.table.Arrange(r, len(r.Pods), matches, func() func(a, b int32) int {
		compare := comparePods(o.table.Sorting.By)
		if compare == nil {
			return nil
		}
		return func(a, b int32) int { return compare(&r.Pods[a], &r.Pods[b]) }
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

// comparePods returns the comparison for a sort order, nil for the order of the Report: the most informative pods first.
func comparePods(by int) func(a, b *explain.PodInfo) int {
	switch by {
	case podsByName:
		return func(a, b *explain.PodInfo) int { return cmp.Compare(a.Name, b.Name) }
	case podsByIndex:
		return func(a, b *explain.PodInfo) int {
			return cmp.Or(cmp.Compare(indexOrNone(a), indexOrNone(b)), cmp.Compare(a.Attempt, b.Attempt), compareTimes(a.Created, b.Created))
		}
	case podsByState:
		return func(a, b *explain.PodInfo) int { return cmp.Compare(a.State, b.State) }
	case podsByAge:
		return func(a, b *explain.PodInfo) int { return compareTimes(b.Created, a.Created) }
	}
	return nil
}

func indexOrNone(pod *explain.PodInfo) int32 {
	if pod.Index == nil {
		return -1
	}
	return *pod.Index
}

// compareTimes compares times; missing times come first.
func compareTimes(a, b *metav1.Time) int {
	switch {
	case a.IsZero() || b.IsZero():
		return cmp.Compare(boolInt(!a.IsZero()), boolInt(!b.IsZero()))
	default:
		return a.Compare(b.Time)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// telling returns the pod with the most informative log: a pod with the most frequent cause, or else the first pod of the
// Report; nil without pods.
func telling(r *explain.Report) *explain.PodInfo {
	for i := range r.Causes {
		for _, name := range r.Causes[i].Pods {
			if at := slices.IndexFunc(r.Pods, func(p explain.PodInfo) bool { return p.Name == name }); at >= 0 {
				return &r.Pods[at]
			}
		}
	}
	if len(r.Pods) == 0 {
		return nil
	}
	return &r.Pods[0]
}
