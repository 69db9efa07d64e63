package analysis

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/account"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/family"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/jobgroup"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// List returns the report on several Jobs, with their failures grouped together.
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
				k.index = failurepolicy.NoRule // The name is sufficient, whatever the index of the rule.
			}
			n, seen := at[k]
			if !seen {
				n = len(list.Causes)
				at[k] = n
				c.Pods, c.Jobs = slices.Clone(c.Pods), []string{names[i]}
				c.Indexes = "" // ambiguous among several Jobs
				list.Causes = append(list.Causes, c)
				continue
			}
			mergeCauses(&list.Causes[n], c, names[i])
		}
	}
	account.SortCauses(list.Causes)
	list.Groups = jobgroup.Of(reports, names)
	return list
}

// jobNames returns the names of the Jobs, with the namespace if there are several.
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

// familyOf returns the family of the Job whose failures are given. It is nil if the Job is not a retry and has none, or if
// the relatives are unknown.
func familyOf(in *facts.Facts, failed *failures.Failures) *explain.Family {
	var jobs []*batchv1.Job
	inputs := map[*batchv1.Job]input.Input{}
	for _, relative := range in.Relatives {
		relative.Now = in.Now
		jobs = append(jobs, relative.Job)
		inputs[relative.Job] = relative
	}
	all := retry.FamilyOf(in.Job, jobs)
	if !in.RelativesRead || len(all) == 1 && retry.AttemptOf(in.Job) == 0 {
		return nil
	}
	members := make([]family.Member, len(all))
	for i, job := range all {
		if job == in.Job {
			members[i] = memberOf(in, failed)
			continue
		}
		relative := facts.Of(inputs[job])
		members[i] = memberOf(relative, failures.Find(relative, explain.Options{}))
	}
	return family.Of(in.Job, all, members)
}

// memberOf returns a Job as a member of its family, without failures that the end of the Job caused or that a rule ignores.
func memberOf(in *facts.Facts, failed *failures.Failures) family.Member {
	m := family.Member{Job: in.Job, Status: Status(in.Job), Outcome: in.Decision.Outcome, Reason: in.Decision.Reason, Failures: map[int32]*cause.Failure{}}
	for i := range failed.All { // The latest first.
		f := &failed.All[i]
		if f.Consequence || f.Kind.Cause.Action == batchv1.PodFailurePolicyActionIgnore || m.Failures[f.Pod.Index] != nil {
			continue
		}
		m.Failures[f.Pod.Index] = &f.Kind.Cause.Failure
	}
	if groups := failed.Groups; len(groups) > 0 && !groups[0].Consequence {
		m.Most = &groups[0].Kind.Cause.Failure
	}
	return m
}
