package logs

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// completedPods is how many pods the shell is offered.
const completedPods = 100

// completeJobsAndPods completes names of Jobs, and after pod/ those of their pods.
func completeJobsAndPods(flags *genericclioptions.ConfigFlags, byFlags func() bool) cobra.CompletionFunc {
	jobs := cmdutil.CompleteJobs(flags, byFlags)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		resource, _, qualified := strings.Cut(toComplete, "/")
		if !qualified || !isPodResource(resource) {
			return jobs(cmd, args, toComplete)
		}
		namespace, err := cmdutil.KubeNamespace(flags)
		if err != nil || byFlags() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		query := cmdutil.ObjectQuery{
			Resource: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: namespace, Labels: batchv1.JobNameLabel, Limit: completedPods,
		}
		var candidates []string
		given, _, _ := splitPodArgs(args)
		for _, name := range cmdutil.ObjectNames(cmd.Context(), flags, query) {
			if !slices.Contains(given, name) {
				candidates = append(candidates, resource+"/"+name)
			}
		}
		return cmdutil.WithPrefix(candidates, toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}
