package cmdutil

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// completedIndexes is how many index numbers the shell is offered.
const completedIndexes = 100

// CompleteIndexes offers the indexes of the Job that is named, failed ones first. In a list it offers those above the
// ones that are given.
func CompleteIndexes(flags *KubeFlags, list bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		before, _ := cutList(toComplete)
		given, err := indexset.Parse(strings.TrimSuffix(before, ","))
		if err != nil || before != "" && !list {
			return nil, directive
		}
		job := jobToComplete(cmd.Context(), flags, args)
		if job == nil || job.Spec.Completions == nil || jobspec.CompletionMode(&job.Spec) != batchv1.IndexedCompletion {
			return nil, directive
		}
		return indexCandidates(job, before, toComplete, highest(given)), directive
	}
}

// indexCandidates are the indexes above the last one given whose text completes what was typed.
func indexCandidates(job *batchv1.Job, before, toComplete string, last int32) (candidates []string) {
	all, failed := indexset.Below(*job.Spec.Completions), indexset.Set{}
	if job.Status.FailedIndexes != nil {
		failed, _ = indexset.ParseTolerant(*job.Status.FailedIndexes, *job.Spec.Completions)
	}
	for _, set := range []indexset.Set{failed, all.Difference(failed)} {
		for i := range set.All() {
			if len(candidates) == completedIndexes {
				return candidates
			}
			if text := before + strconv.Itoa(int(i)); i > last && strings.HasPrefix(text, toComplete) {
				candidates = append(candidates, text)
			}
		}
	}
	return candidates
}

// CompleteContainers completes the last of the names that commas separate.
func CompleteContainers(flags *KubeFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		job := jobToComplete(cmd.Context(), flags, args)
		if job == nil {
			return nil, directive
		}
		before, given := cutList(toComplete)
		var names []string
		for _, name := range TemplateContainers(job) {
			if !slices.Contains(given, name) {
				names = append(names, before+name)
			}
		}
		return WithPrefix(names, toComplete), directive
	}
}

// highest is the last index of a set, -1 for none.
func highest(set indexset.Set) int32 {
	last := int32(-1)
	for run := range set.Intervals() {
		last = run.Last
	}
	return last
}

// cutList splits "a,b,c" into "a,b," and a, b.
func cutList(text string) (before string, given []string) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 {
		return "", nil
	}
	return text[:i+1], strings.Split(text[:i], ",")
}
