// Package logs implements the verb logs: it prints the logs of the pods of Jobs.
package logs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

const logsLong = `Print the logs of all pods of Jobs, failed pods first.

Each line starts with its pod: the Job if there are several, the index and
attempt, and the container if there are several. --failed prints only what has
failed. --follow waits for new pods, until the Jobs have finished.`

// logsDetails is text for the reference only.
const logsDetails = `The Jobs are those you name, or those that -l matches when the command starts;
Jobs created later are ignored. pod/NAME prints the logs of one pod of a Job. If
one of several does not exist, the exit code is 1 after the logs of the others.

Each line starts with its pod: the Job if there are several, the completion
index and attempt, or the suffix of the pod's name if the Job is not Indexed,
and the container if there are several. Failed pods come first, by Job and
index, starting with the newest attempt; then the others. Logs of different pods
are not interleaved.

All containers are read, including init containers and sidecars; -c selects some
of them, and --all-containers=false only the pod's default one (usually the
first). --failed prints only what has failed: if a container was restarted after
a failure, its previous run.

With --follow, lines are printed as they are written, including those of pods
created later, until the Jobs have finished and all of their logs have ended.
Pods that you name are followed until they end. At most --max-log-requests logs
are followed at a time; the others wait for one to end. If the connection is
lost, or the kubelet of a node cannot be reached, a log resumes where it left
off.

Logs are made safe for a terminal: colors are left out, control characters are
shown as escapes, and lines longer than 1 MiB are split. The logs of deleted
pods are lost; a note says how many failed pods this concerns.`

const logsExample = `  # All logs of a Job, failed pods first
  kubectl batchjob logs train

  # The last 20 lines of whatever failed
  kubectl batchjob logs train --failed --tail=20

  # Some indexes, or one pod
  kubectl batchjob logs train --index 3,7-9
  kubectl batchjob logs pod/train-3-x7k2p

  # Follow one container of every pod, with the server's timestamps
  kubectl batchjob logs train -f -c main --timestamps`

// Options are the flags of the logs verb, and the values that Complete derives from them.
type Options struct {
	cmdutil.Env
	kube *cmdutil.KubeFlags

	options       logs.Options
	index         string
	sinceTime     string
	follow        bool
	prefix        bool
	color         cmdutil.ColorFlag
	allContainers bool // --all-containers was given

	cmdutil.JobChoice
	set       feed.JobSet
	client    kube.Interface
	explainer *cmdutil.Explainer
	jobs      []*loggedJob // by name; only those that exist at the start
	unread    error        // one for each Job or pod that cannot be read
}

// NewCommand returns the command logs, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	o.ErrOut = cmdutil.Synchronized(env.ErrOut)
	cmd := &cobra.Command{
		Use:         "logs (NAME | job/NAME | pod/NAME ... | -l SELECTOR)",
		Short:       "Print the logs of all pods of Jobs",
		Long:        logsLong,
		Example:     logsExample,
		Annotations: cmdutil.Details(logsDetails),
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
	cmd.ValidArgsFunction = cmdutil.CompleteKinds(o.kube, o.ExcludesNames, podQuery, cmdutil.CompleteJobs(o.kube, o.ExcludesNames))
	cmdutil.MustCompleteFlag(cmd, "index", cmdutil.CompleteIndexes(o.kube, true))
	cmdutil.MustCompleteFlag(cmd, "container", cmdutil.CompleteContainers(o.kube))
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.AddSelector(flags)
	flags.StringVar(&o.index, "index", "", "Only these completion indexes, e.g. 3,7-9.")
	flags.BoolVar(&o.options.Failed, "failed", false, "Only pods and containers that have failed.")
	flags.BoolVarP(&o.follow, "follow", "f", false, "Print lines as they are written.\nIt ends when the Jobs have finished.")
	flags.Int64Var(&o.options.TailLines, "tail", -1, "Last lines of each log; -1 for all.")
	flags.DurationVar(&o.options.Since, "since", 0, "Only lines newer than this, e.g. 5s, 2m, 3h.")
	flags.StringVar(&o.sinceTime, "since-time", "", "Only lines after, e.g. 2026-03-01T12:00:00Z.")
	flags.StringSliceVarP(&o.options.Containers, "container", "c", nil, "Only this container; may be repeated.\nSeveral may be separated with commas.")
	flags.BoolVar(&o.options.AllContainers, "all-containers", true, "Read all containers of the pods.")
	flags.BoolVar(&o.options.Timestamps, "timestamps", false, "Print the time of each line.")
	flags.BoolVarP(&o.options.Previous, "previous", "p", false, "Read the run before the last restart.\nOf each container.")
	flags.IntVar(&o.options.Concurrency, "max-log-requests", logprinter.DefaultRequests, "How many logs to read at a time.\nOf all Jobs together.")
	flags.Int64Var(&o.options.LimitBytes, "limit-bytes", 0, "Only this many bytes of each log; 0 for all.\nFrom its start.")
	flags.BoolVar(&o.prefix, "prefix", true, "Start each line with its pod.")
	o.color.AddTo(cmd)
	o.kube.AddTo(cmd)
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	jobs, err := cmdutil.SplitKinds(args, cmdutil.PodKinds(), func(_, name string) { o.options.Pods = append(o.options.Pods, name) })
	if err != nil {
		return err
	}
	if o.Names, err = cmdutil.ParseJobArgs(jobs); err != nil {
		return err
	}
	if err := o.ValidateChoice(args); err != nil {
		return err
	}
	switch {
	case len(args) == 0 && o.Selector == "":
		return cmdutil.UsageErrorf("name the Jobs whose logs to print, or select them with -l")
	case len(o.options.Pods) > 0 && len(jobs) > 0:
		return cmdutil.UsageErrorf("name Jobs or pods, not both")
	}
	if o.index != "" {
		set, err := indexset.Parse(o.index)
		if err != nil {
			return cmdutil.UsageErrorf("--index=%s: %v", o.index, err)
		}
		o.options.Indexes = &set
	}
	return o.validateFlags()
}

// Complete reads the Jobs.
func (o *Options) Complete(ctx context.Context) error {
	set, explainer, err := cmdutil.OpenJobs(o.kube, o.JobChoice, o.ErrOut, o.Env)
	if err != nil {
		return err
	}
	o.set, o.explainer, o.client = set, explainer, explainer.Client
	o.options.Now, o.options.Open = o.Now, cmdutil.OpenLog(o.client, set.Namespace)
	objects, unread := o.chosen(ctx)
	o.unread = errors.Join(unread...)
	feed.SortJobs(objects)
	for _, object := range objects {
		job, err := cmdutil.ToJob(object)
		if err != nil {
			return err
		}
		logged := newLoggedJob(o, job)
		if err := logged.check(); err != nil {
			return err
		}
		o.jobs = append(o.jobs, logged)
	}
	return nil
}

// Run prints the logs.
func (o *Options) Run(ctx context.Context) error {
	if len(o.jobs) == 0 {
		if o.unread == nil {
			cmdutil.ReportNone(o.ErrOut, "jobs", o.set)
		}
		return o.unread
	}
	run, out := o.readLogs, newOutput(o, cmdutil.SimulatedNodes(ctx, o.client))
	if o.follow {
		run = o.followLogs
		for _, err := range cmdutil.Flatten(o.unread) { // It is returned as an error at the end, too.
			fmt.Fprintf(o.ErrOut, "Following the others: %s\n", cmdutil.ErrorLine(err))
		}
	}
	err := run(ctx, out)
	if err == nil {
		err = errors.Join(o.unread, out.ReportUnread())
	}
	return errors.Join(err, out.Flush())
}

// readLogs prints the existing logs.
func (o *Options) readLogs(ctx context.Context, out *output) error {
	var all []*logs.Pod
	for _, j := range o.jobs {
		pods, _, err := logprinter.List(ctx, j.pods)
		if err != nil {
			return err
		}
		all = append(all, pods...)
	}
	return logs.Read(ctx, all, o.options, out)
}
