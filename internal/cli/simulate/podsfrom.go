package simulate

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobinput"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// addPodsFrom adds --pods-from, and the flags of the cluster that it reads.
func (o *Options) addPodsFrom(cmd *cobra.Command) {
	o.kube = cmdutil.NewKubeFlags()
	cmd.Flags().StringVar(&o.podsFrom, "pods-from", "", "Job in the cluster, or file of watch --record, whose pods show what pods do.")
	o.kube.AddFlags(cmd.Flags())
	jobs := cmdutil.CompleteJobs(o.kube, func() bool { return false })
	cmdutil.MustCompleteFlag(cmd, "pods-from", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return jobs(cmd, nil, toComplete)
	})
	cmdutil.CompleteKubeFlags(cmd, o.kube)
}

func (o *Options) validatePodsFrom() error {
	if o.podsFrom == "" || o.fromRecording() {
		return nil
	}
	names, err := cmdutil.ParseJobArgs([]string{o.podsFrom})
	if err != nil {
		return err
	}
	o.podsFrom = names[0]
	return nil
}

// fromRecording reports whether --pods-from names a file.
func (o *Options) fromRecording() bool {
	info, err := os.Stat(o.podsFrom)
	return err == nil && info.Mode().IsRegular()
}

// behavior is what the flags say that pods do; --pods takes precedence over --pods-from.
func (o *Options) behavior(ctx context.Context) (sim.Behavior, error) {
	pods := sim.Layers{Rest: sim.Script{{Index: -1, Act: defaultAct()}}}
	for _, f := range o.podsFlags {
		pods.Script = append(pods.Script, f.scenes...)
	}
	if o.podsFrom == "" {
		return pods, nil
	}
	source := jobinput.Source{Env: o.Env, Kube: o.kube, Name: o.podsFrom, Flag: "--pods-from"}
	if o.fromRecording() {
		source.Name, source.Recording = "", o.podsFrom
	}
	history, err := source.Read(ctx)
	if err != nil {
		return nil, err
	}
	pods.Rest = history.Model
	return pods, nil
}
