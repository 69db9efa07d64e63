package simulate

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobsource"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// addPodsFrom adds --pods-from, and the connection flags that it needs.
func (o *Options) addPodsFrom(cmd *cobra.Command) {
	o.source = jobsource.Source{Env: o.Env, Kube: o.KubeFlags(), Flag: "--pods-from"}
	cmd.Flags().StringVar(&o.source.Name, "pods-from", "", "Job, or recording, whose pods show what pods do.\nA recording is a file of watch --record.")
	o.source.Kube.AddTo(cmd)
	jobs := cmdutil.CompleteJobs(o.source.Kube, func() bool { return false })
	cmdutil.MustCompleteFlag(cmd, "pods-from", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return jobs(cmd, nil, toComplete)
	})
}

// validatePodsFrom determines whether --pods-from names a Job or a file.
func (o *Options) validatePodsFrom() error {
	if info, err := os.Stat(o.source.Name); err == nil && info.Mode().IsRegular() {
		o.source.Name, o.source.File = "", o.source.Name
	}
	if o.source.Name == "" {
		return nil
	}
	names, err := cmdutil.ParseJobArgs([]string{o.source.Name})
	if err == nil {
		o.source.Name = names[0]
	}
	return err
}

// behavior returns the pods' behavior from the flags; --pods takes precedence over --pods-from.
func (o *Options) behavior(ctx context.Context, job *batchv1.Job) (sim.Behavior, error) {
	pods := flaggedPods{flags: o.podsFlags, init: map[string]bool{}, rest: sim.Script{{Index: -1, Act: *defaultAct()}}}
	for i := range job.Spec.Template.Spec.InitContainers {
		pods.init[job.Spec.Template.Spec.InitContainers[i].Name] = true
	}
	if o.source.Name == "" && o.source.File == "" {
		return pods, nil
	}
	history, err := o.source.Read(ctx)
	if err == nil {
		pods.rest = history.Model
	}
	return pods, err
}
