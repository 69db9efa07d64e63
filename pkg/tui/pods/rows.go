package pods

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/section"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// The ways to sort pods, in the order of podOrders.
const (
	podsByWeight = iota
	podsByName
	podsByIndex
	podsByState
	podsByAge
)

func podOrders() []widget.Order {
	return []widget.Order{
		podsByWeight: {Name: "urgency", Descending: true},
		podsByName:   {Column: columnName, Name: "name"},
		podsByIndex:  {Column: columnIndex, Name: "index and attempt"},
		podsByState:  {Column: columnState, Name: "state"},
		podsByAge:    {Column: columnWhen, Name: "age"},
	}
}

// rows are the pods that are listed, in their order.
type rows struct {
	// of is what order was made for.
	of struct {
		report   *explain.Report
		filter   string
		at       int
		reversed bool
	}
	order []int32
}

// derive chooses and sorts, if it has not done so before.
func (o *rows) derive(pane *listPane, r *explain.Report) {
	of := o.of
	of.report, of.filter, of.at, of.reversed = r, pane.filter.Text, pane.sorting.By, pane.sorting.Reversed
	if of == o.of {
		return
	}
	o.of = of
	o.order = make([]int32, 0, len(r.Pods))
	for i := range r.Pods {
		if !pane.filter.IsSet() || matchesFilter(&pane.filter, r, &r.Pods[i]) {
			o.order = append(o.order, int32(i))
		}
	}
	compare := comparePods(pane.sorting.By)
	if compare == nil {
		pane.sorting.Sort(o.order, nil)
		return
	}
	pane.sorting.Sort(o.order, func(a, b int32) int { return compare(&r.Pods[a], &r.Pods[b]) })
}

// matchesFilter looks at what a row shows.
func matchesFilter(f *widget.Filter, r *explain.Report, pod *explain.PodInfo) bool {
	return f.Matches(pod.Name, pod.State, pod.Cause, FailureText{pod.Failure, pod.Cause}.short(), pod.Node, ruleText(r, pod), pod.Action)
}

// ruleText are the rule as it is named elsewhere too.
func ruleText(r *explain.Report, pod *explain.PodInfo) string {
	switch {
	case pod.Rule != nil:
		return section.RuleLabel(pod.Rule, section.RuleName(r, *pod.Rule))
	case pod.Phase == string(corev1.PodFailed) && r.FailurePolicy != nil:
		return "no rule matched"
	}
	return ruleCell(r, pod).String()
}

// comparePods is nil for the order in which they are: those that say most first.
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

// compareTimes puts what has no time first.
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
