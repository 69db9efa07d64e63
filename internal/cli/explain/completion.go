package explain

import (
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// completedPods is how many failed pods, and how many others, the shell is offered.
const completedPods = 100

// kindQuery asks for the pods of Jobs, or the owners of Jobs, that have this resource.
func kindQuery(resource string) cmdutil.ObjectQuery {
	if cmdutil.PodKinds()[resource] != "" {
		return cmdutil.ObjectQuery{Resource: corev1.SchemeGroupVersion.WithResource("pods"), Labels: batchv1.JobNameLabel, Limit: completedPods}
	}
	switch ownerKinds()[resource] {
	case "JobSet":
		return cmdutil.ObjectQuery{Resource: schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}}
	case "CronJob":
		return cmdutil.ObjectQuery{Resource: batchv1.SchemeGroupVersion.WithResource("cronjobs")}
	}
	return cmdutil.ObjectQuery{}
}

// completeJobsAndOwners completes names of Jobs as CompleteJobs does; of CronJobs, JobSets and pods after their resource; and
// the resources themselves for a beginning that is no Job's.
func completeJobsAndOwners(flags *cmdutil.KubeFlags, byFlags func() bool) cobra.CompletionFunc {
	jobs := cmdutil.CompleteJobs(flags, byFlags)
	return cmdutil.CompleteKinds(flags, byFlags, kindQuery, func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(toComplete, "/") {
			return jobs(cmd, args, toComplete)
		}
		return orResources(toComplete, byFlags)(jobs(cmd, args, toComplete))
	})
}

// orResources offers job/, cronjob/, jobset/ and pod/ where there is no Job to offer.
func orResources(toComplete string, byFlags func() bool) func([]string, cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
	return func(names []string, directive cobra.ShellCompDirective) ([]string, cobra.ShellCompDirective) {
		if len(names) > 0 || toComplete == "" || byFlags() {
			return names, directive
		}
		return cmdutil.WithPrefix([]string{"job/", "cronjob/", "jobset/", "pod/"}, toComplete), directive | cobra.ShellCompDirectiveNoSpace
	}
}

// completePods offers the pods of the Job that is named, failed ones first.
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
