package cmdutil

import (
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// completedIndexes is the maximum number of indexes that the shell offers.
const completedIndexes = 100

// CompleteIndexes offers the indexes of the named Job, failed ones first. In a list, it offers only indexes above
// those already given.
func CompleteIndexes(flags *KubeFlags, list bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		before, _ := cutList(toComplete)
		given, err := indexset.Parse(strings.TrimSuffix(before, ","))
		if err != nil || before != "" && !list {
			return nil, directive
		}
		last := int32(-1)
		for run := range given.Intervals() {
			last = run.Last
		}
		job := jobToComplete(cmd.Context(), flags, args)
		if job == nil || job.Spec.Completions == nil || jobspec.CompletionMode(&job.Spec) != batchv1.IndexedCompletion {
			return nil, directive
		}
		return indexCandidates(job, before, toComplete, last), directive
	}
}

// indexCandidates returns the completions of the typed text that are indexes above last, the highest one given.
func indexCandidates(job *batchv1.Job, before, toComplete string, last int32) (candidates []string) {
	all, failed := indexset.Below(*job.Spec.Completions), indexset.Set{}
	if job.Status.FailedIndexes != nil {
		failed, _ = indexset.ParseTolerant(*job.Status.FailedIndexes, *job.Spec.Completions)
	}
	offered := beginningWith(strings.TrimPrefix(toComplete, before)).Difference(indexset.Below(last + 1))
	for _, set := range []indexset.Set{failed, all.Difference(failed)} {
		for i := range set.Intersection(offered).All() {
			if len(candidates) == completedIndexes {
				return candidates
			}
			candidates = append(candidates, before+strconv.Itoa(int(i)))
		}
	}
	return candidates
}

// beginningWith returns the indexes whose decimal form begins with the digits. It computes intervals: there are too
// many indexes to try each.
func beginningWith(digits string) indexset.Set {
	first, err := strconv.ParseInt("0"+digits, 10, 32)
	if err != nil || len(digits) > 1 && digits[0] == '0' {
		return indexset.Set{}
	}
	if digits == "" {
		return indexset.Below(math.MaxInt32)
	}
	intervals := []indexset.Interval{{First: int32(first), Last: int32(first)}}
	for ten := int64(10); first > 0 && first*ten < math.MaxInt32; ten *= 10 {
		intervals = append(intervals, indexset.Interval{First: int32(first * ten), Last: int32(min(first*ten+ten, math.MaxInt32) - 1)})
	}
	return indexset.OfIntervals(intervals...)
}

// CompleteContainers completes the last name of a comma-separated list of containers.
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

// CompleteCauses completes the causes of the named Job; names returns them from what is read about it.
func CompleteCauses(flags *KubeFlags, env Env, names func(input.Input) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		job := jobToComplete(cmd.Context(), flags, args)
		if job == nil {
			return nil, directive
		}
		causes := withinTimeout(cmd.Context(), func(ctx context.Context) []string {
			config, _, err := NewJobSet(flags, JobChoice{}, io.Discard)
			if err != nil {
				return nil
			}
			explainer, err := env.NewExplainer(config)
			if err != nil {
				return nil
			}
			return names(explainer.read(ctx, job, nil))
		})
		return WithPrefix(causes, toComplete), directive
	}
}

// cutList splits "a,b,c" into "a,b," and the names a and b.
func cutList(text string) (before string, given []string) {
	i := strings.LastIndexByte(text, ',')
	if i < 0 {
		return "", nil
	}
	return text[:i+1], strings.Split(text[:i], ",")
}
