package cli

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// completedIndexes is how many index numbers the shell is offered.
const completedIndexes = 100

// jobToComplete is the Job that the command line names; nil without an answer in time.
func (o *logsOptions) jobToComplete(ctx context.Context, args []string) *batchv1.Job {
	names, err := parseJobArgs(args)
	if err != nil || len(names) != 1 {
		return nil
	}
	config, err := restConfig(o.kube, io.Discard)
	if err != nil {
		return nil
	}
	namespace, err := kubeNamespace(o.kube)
	if err != nil {
		return nil
	}
	client, err := newJobClient(config, namespace)
	if err != nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	object, err := client.get(ctx, names[0])
	if err != nil {
		return nil
	}
	job, err := toJob(object)
	if err != nil {
		return nil
	}
	return job
}

// completeContainers completes the last of the names that commas separate.
func (o *logsOptions) completeContainers(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	job := o.jobToComplete(cmd.Context(), args)
	if job == nil {
		return nil, directive
	}
	before, given := cutList(toComplete)
	var names []string
	for _, name := range templateContainers(job) {
		if !slices.Contains(given, name) {
			names = append(names, before+name)
		}
	}
	return withPrefix(names, toComplete), directive
}

// completeIndexes offers the indexes above those that are given, failed ones first.
func (o *logsOptions) completeIndexes(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	job := o.jobToComplete(cmd.Context(), args)
	if job == nil || job.Spec.Completions == nil || modeCell(jobView{job: job}) != string(batchv1.IndexedCompletion) {
		return nil, directive
	}
	before, _ := cutList(toComplete)
	given, err := indexset.Parse(strings.TrimSuffix(before, ","))
	if err != nil {
		return nil, directive
	}
	all, failed := indexset.Below(*job.Spec.Completions), indexset.Set{}
	if job.Status.FailedIndexes != nil {
		failed, _ = indexset.ParseTolerant(*job.Status.FailedIndexes, *job.Spec.Completions)
	}
	var candidates []string
	offer := func(set indexset.Set) {
		for i := range set.All() {
			if len(candidates) == completedIndexes {
				return
			}
			if text := before + strconv.Itoa(int(i)); i > highest(given) && strings.HasPrefix(text, toComplete) {
				candidates = append(candidates, text)
			}
		}
	}
	offer(failed)
	offer(all.Difference(failed))
	return candidates, directive
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
