package analysis

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/jobgroup"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
)

// List is the report on several Jobs, with their failures grouped together.
func List(reports []explain.Report) explain.ReportList {
	list := explain.ReportList{TypeMeta: metav1.TypeMeta{APIVersion: explain.APIVersion, Kind: explain.KindList}, Items: reports}
	type key struct {
		failure            cause.Failure
		text, action, rule string
		index              int32
		consequence        bool
		stopped            explain.StopReason
	}
	at := map[key]int{}
	names := jobNames(reports)
	for i := range reports {
		for _, c := range reports[i].Causes {
			k := key{ptr.Deref(c.Failure, cause.Failure{}), c.Text, c.Action, c.RuleName, ptr.Deref(c.Rule, failurepolicy.NoRule), c.Consequence, c.Stopped}
			if c.RuleName != "" {
				k.index = failurepolicy.NoRule // The name is enough, wherever the rule stands.
			}
			n, seen := at[k]
			if !seen {
				n = len(list.Causes)
				at[k] = n
				c.Pods, c.Jobs = slices.Clone(c.Pods), []string{names[i]}
				c.Indexes = "" // of which Job?
				list.Causes = append(list.Causes, c)
				continue
			}
			mergeCauses(&list.Causes[n], c, names[i])
		}
	}
	failures.SortCauses(list.Causes)
	list.Groups = jobgroup.Of(reports, names)
	return list
}

// jobNames are those of the Jobs, with the namespace if there are several.
func jobNames(reports []explain.Report) []string {
	names := make([]string, len(reports))
	several := false
	for i := range reports {
		several = several || reports[i].Job.Namespace != reports[0].Job.Namespace
	}
	for i := range reports {
		if names[i] = reports[i].Job.Name; several {
			names[i] = reports[i].Job.Namespace + "/" + names[i]
		}
	}
	return names
}

func mergeCauses(c *explain.Cause, d explain.Cause, job string) {
	c.Count += d.Count
	c.Jobs = append(c.Jobs, job)
	c.Message = cmp.Or(c.Message, d.Message)
	if room := explain.MaxExamples - len(c.Pods); room > 0 {
		c.Pods = append(c.Pods, d.Pods[:min(room, len(d.Pods))]...)
	}
	if d.First != nil && (c.First == nil || d.First.Before(c.First)) {
		c.First = d.First
	}
	if d.Last != nil && (c.Last == nil || c.Last.Before(d.Last)) {
		c.Last = d.Last
	}
}
