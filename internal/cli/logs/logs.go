package logs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

const logsLong = `Print the logs of all pods of a Job, no matter which controller runs it.

Each line starts with the completion index and attempt of its pod, or with the
suffix of the pod's name if the Job is not Indexed, and with the container if
there are several. Failed pods come first, by index, starting with the newest
attempt; then the others, by index and attempt. Logs of different pods are not
interleaved.

All containers are read, including init containers and sidecars; -c selects some
of them, and --all-containers=false only the pod's default one (usually the
first). --failed prints only what has failed: if a container was restarted after
a failure, its previous run.

With --follow, lines are printed as they are written, including those of pods
created later, until the Job has finished and all of its logs have ended. At
most --max-log-requests logs are followed at a time; the others wait for one to
end. If the connection is lost, a log resumes where it left off.

Logs are made safe for a terminal: control characters and colors are shown as
escapes, and lines longer than 1 MiB are split. The logs of deleted pods are
lost; a note says how many failed pods this concerns.`

const logsExample = `  # All logs of a Job, failed pods first
  kubectl batchjob logs train

  # The last 20 lines of whatever failed
  kubectl batchjob logs train --failed --tail=20

  # Some indexes
  kubectl batchjob logs train --index 3,7-9

  # Follow one container of every pod, with the server's timestamps
  kubectl batchjob logs train -f -c main --timestamps`

// defaultLogRequests is how many logs are read at a time.
const defaultLogRequests = 10

// Options are the flags of the logs verb, and what Complete makes of them.
type Options struct {
	cmdutil.Env
	kube *genericclioptions.ConfigFlags

	options       logs.Options
	index         string
	sinceTime     string
	follow        bool
	prefix        bool
	color         cmdutil.ColorFlag
	allContainers bool // --all-containers was given

	unknown []string // of --container, not in the Job's template
	name    string
	jobs    feed.JobSet // the Job alone
	job     *batchv1.Job
	pods    feed.PodSet
}

// NewCommand returns the command logs, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: cmdutil.NewKubeFlags()}
	o.ErrOut = &lockedWriter{w: env.ErrOut}
	cmd := &cobra.Command{
		Use:     "logs (NAME | job/NAME)",
		Short:   "Print the logs of all pods of a Job",
		Long:    logsLong,
		Example: logsExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.allContainers = cmd.Flags().Changed("all-containers")
			if err := o.Validate(args); err != nil {
				return err
			}
			if err := o.Complete(cmd.Context()); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	one := cmdutil.CompleteJobs(o.kube, func() bool { return false })
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return one(cmd, args, toComplete)
	}
	cmdutil.MustCompleteFlag(cmd, "index", cmdutil.CompleteIndexes(o.kube, true))
	cmdutil.MustCompleteFlag(cmd, "container", cmdutil.CompleteContainers(o.kube))
	o.color.Complete(cmd)
	cmdutil.CompleteKubeFlags(cmd, o.kube)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.index, "index", "", "Only these completion indexes, e.g. 3,7-9.")
	flags.BoolVar(&o.options.Failed, "failed", false, "Only pods and containers that have failed.")
	flags.BoolVarP(&o.follow, "follow", "f", false, "Print lines as they are written, until the Job has finished.")
	flags.Int64Var(&o.options.TailLines, "tail", -1, "Only this many lines from the end of each log; -1 for all.")
	flags.DurationVar(&o.options.Since, "since", 0, "Only lines newer than this, e.g. 5s, 2m, 3h.")
	flags.StringVar(&o.sinceTime, "since-time", "", "Only lines after this time, e.g. 2026-03-01T12:00:00Z.")
	flags.StringSliceVarP(&o.options.Containers, "container", "c", nil, "Only this container; separate several with commas, or repeat the flag.")
	flags.BoolVar(&o.options.AllContainers, "all-containers", true, "Read all containers of the pods.")
	flags.BoolVar(&o.options.Timestamps, "timestamps", false, "Print the time of each line.")
	flags.BoolVarP(&o.options.Previous, "previous", "p", false, "Read the run before the last restart of each container.")
	flags.IntVar(&o.options.Concurrency, "max-log-requests", defaultLogRequests, "How many logs to read at a time.")
	flags.Int64Var(&o.options.LimitBytes, "limit-bytes", 0, "Only this many bytes from the start of each log; 0 for all.")
	flags.BoolVar(&o.prefix, "prefix", true, "Start each line with the pod that wrote it.")
	o.color.AddTo(flags)
	o.kube.AddFlags(flags)
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	names, err := cmdutil.ParseJobArgs(args)
	switch {
	case err != nil:
		return err
	case len(names) != 1:
		return cmdutil.UsageErrorf("name exactly one Job")
	}
	o.name = names[0]
	if o.index != "" {
		set, err := indexset.Parse(o.index)
		if err != nil {
			return cmdutil.UsageErrorf("--index=%s: %v", o.index, err)
		}
		o.options.Indexes = &set
	}
	for _, check := range []func() error{o.validateNumbers, o.validateSince, o.validateChoice} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Complete reads the Job.
func (o *Options) Complete(ctx context.Context) error {
	jobs, explainer, err := cmdutil.OpenJobs(o.kube, cmdutil.JobChoice{Names: []string{o.name}}, o.ErrOut, o.Env)
	if err != nil {
		return err
	}
	object, err := jobs.Get(ctx, o.name)
	if err != nil {
		return err
	}
	job, err := cmdutil.ToJob(object)
	if err != nil {
		return err
	}
	o.jobs, o.job, o.pods = jobs, job, feed.PodSet{Client: explainer.Client, Job: job}
	o.options.Now, o.options.Open = o.Now, cmdutil.OpenLog(explainer.Client, job.Namespace)
	return o.checkAgainstJob()
}

func (o *Options) checkAgainstJob() error {
	names := cmdutil.TemplateContainers(o.job)
	for _, name := range o.options.Containers {
		if !slices.Contains(names, name) {
			o.unknown = append(o.unknown, name)
		}
	}
	if o.options.Indexes == nil {
		return nil
	}
	if jobspec.CompletionMode(&o.job.Spec) != batchv1.IndexedCompletion {
		return cmdutil.UsageErrorf("--index requires an Indexed Job, and job.batch/%s is not one", o.name)
	}
	if n := o.job.Spec.Completions; n != nil {
		if beyond := o.options.Indexes.Difference(indexset.Below(*n)); !beyond.IsEmpty() {
			return cmdutil.UsageErrorf("--index: job.batch/%s has indexes 0-%d, not %s", o.name, *n-1, explain.Crop(beyond.String(), jobprinter.IndexesLimit))
		}
	}
	return nil
}

// containersPerPod is how many containers of the template are wanted.
func (o *Options) containersPerPod() int {
	n := 0
	for _, name := range cmdutil.TemplateContainers(o.job) {
		if slices.Contains(o.options.Containers, name) || (o.options.AllContainers && len(o.options.Containers) == 0) {
			n++
		}
	}
	return n
}

// Run prints the logs.
func (o *Options) Run(ctx context.Context) error {
	run, out := o.readLogs, newLogsOutput(o)
	if o.follow {
		run = o.followLogs
	}
	err := run(ctx, out)
	if err == nil {
		err = out.unreadError()
	}
	return errors.Join(err, out.flush())
}

// readLogs prints the logs as they are now.
func (o *Options) readLogs(ctx context.Context, out *logsOutput) error {
	pods, _, err := listPods(ctx, o.pods)
	if err != nil {
		return err
	}
	return logs.Read(ctx, pods, o.options, out)
}

// jobLabel names the Job in notes.
func (o *Options) jobLabel() string { return fmt.Sprintf("job.batch/%s", o.name) }
