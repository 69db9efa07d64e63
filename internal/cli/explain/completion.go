package explain

import (
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// completedPods is the maximum number of failed pods, and of other pods, that the shell offers.
const completedPods = 100

// kindQuery returns the query for pods or owners of Jobs, whichever has this resource; the zero value for other
// resources.
func kindQuery(resource string) cmdutil.ObjectQuery {
	if cmdutil.PodKinds()[resource] != "" {
		return cmdutil.ObjectQuery{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: batchv1.JobNameLabel, Limit: completedPods}
	}
	if cmdutil.OwnerKinds()[resource] == "JobSet" {
		return cmdutil.ObjectQuery{Resource: schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}}
	}
	return cmdutil.CronJobQuery(resource)
}

// completeJobsAndOwners completes names of Jobs as CompleteJobs does, names of CronJobs, JobSets and pods after their
// resource, and the resources themselves if no Job's name has that prefix.
func completeJobsAndOwners(flags *cmdutil.KubeFlags, byFlags func() bool) cobra.CompletionFunc {
	jobs := cmdutil.CompleteJobs(flags, byFlags)
	return cmdutil.CompleteKinds(flags, byFlags, kindQuery, func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(toComplete, "/") {
			return jobs(cmd, args, toComplete)
		}
		return orResources(toComplete, byFlags)(jobs(cmd, args, toComplete))
	})
}

// orResources returns a function that offers job/, cronjob/, jobset/ and pod/ if there is no Job to offer.
func orResources(toComplete string, byFlags func() bool) func([]string, cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
	return func(names []string, directive cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
		if len(names) > 0 || toComplete == "" || byFlags() {
			return names, directive
		}
		return cmdutil.WithPrefix([]string{"job/", "cronjob/", "jobset/", "pod/"}, toComplete), directive | cobra.ShellCompDirectiveNoSpace
	}
}

// completePods offers the pods of the named Job, failed ones first.
func completePods(flags *cmdutil.KubeFlags) cobra.CompletionFunc {
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
