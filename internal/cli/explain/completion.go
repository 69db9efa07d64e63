package explain

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// completedPods is how many failed pods, and how many others, the shell is offered.
const completedPods = 100

// ownerResource is where the owners of a kind are listed.
func ownerResource(kind string) schema.GroupVersionResource {
	if kind == "JobSet" {
		return schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
	}
	return batchv1.SchemeGroupVersion.WithResource("cronjobs")
}

// completeJobsAndOwners completes names of Jobs as CompleteJobs does; of CronJobs and JobSets after their resource; and
// the resources themselves for a beginning that is no Job's.
func completeJobsAndOwners(flags *genericclioptions.ConfigFlags, byFlags func() bool) cobra.CompletionFunc {
	jobs := cmdutil.CompleteJobs(flags, byFlags)
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		resource, _, qualified := strings.Cut(toComplete, "/")
		kind := cmdutil.OwnerKinds()[strings.ToLower(resource)]
		if !qualified {
			return orResources(toComplete, byFlags)(jobs(cmd, args, toComplete))
		}
		if kind == "" {
			return jobs(cmd, args, toComplete)
		}
		const directive = cobra.ShellCompDirectiveNoFileComp
		namespace, err := cmdutil.KubeNamespace(flags)
		if err != nil || byFlags() {
			return nil, directive
		}
		var candidates []string
		given, _, _ := cmdutil.SplitOwnerArgs(args)
		for _, name := range cmdutil.ObjectNames(cmd.Context(), flags, cmdutil.ObjectQuery{Resource: ownerResource(kind), Namespace: namespace}) {
			if !slices.Contains(given, cmdutil.JobOwner{Kind: kind, Name: name}) {
				candidates = append(candidates, resource+"/"+name)
			}
		}
		return cmdutil.WithPrefix(candidates, toComplete), directive
	}
}

// orResources offers job/, cronjob/ and jobset/ where there is no Job to offer.
func orResources(toComplete string, byFlags func() bool) func([]string, cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
	return func(names []string, directive cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
		if len(names) > 0 || toComplete == "" || byFlags() {
			return names, directive
		}
		return cmdutil.WithPrefix([]string{"job/", "cronjob/", "jobset/"}, toComplete), directive | cobra.ShellCompDirectiveNoSpace
	}
}

// completePods offers the pods of the Job that is named, failed ones first.
func completePods(flags *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		jobs, err := cmdutil.ParseJobArgs(args)
		if err != nil || len(jobs) != 1 {
			return nil, directive
		}
		namespace, err := cmdutil.KubeNamespace(flags)
		if err != nil {
			return nil, directive
		}
		failed := cmdutil.ObjectQuery{
			Resource: corev1.SchemeGroupVersion.WithResource("pods"), Namespace: namespace, Limit: completedPods,
			Labels: batchv1.JobNameLabel + "=" + jobs[0], Fields: "status.phase=" + string(corev1.PodFailed),
		}
		others := failed
		others.Fields = "status.phase!=" + string(corev1.PodFailed)
		return cmdutil.WithPrefix(cmdutil.ObjectNames(cmd.Context(), flags, failed, others), toComplete), directive
	}
}
