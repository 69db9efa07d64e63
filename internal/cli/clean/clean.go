// Package clean implements the verb clean: it shows finished Jobs that could go, and deletes them.
package clean

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/metadata"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const cleanLong = `Show finished Jobs that could go, and delete them with --yes; --cascade says
what happens to their pods, and so to the logs. On a terminal, it asks after the
table.

A Job that has not finished, or is being deleted, always stays.`

// cleanDetails is text for the reference only.
const cleanDetails = `Flags limit the Jobs; without any, they are all finished Jobs of the namespace.
--older-than is about the time since the end of the Job, and AGE is about its
creation. --keep keeps the newest Jobs of each CronJob or other owner, or of
each name without its last number or random suffix, among those that failed
with --failed, or succeeded with --succeeded.

OWNER says what may create the Job again, or delete it anyway: its owner, such
as a CronJob with its history limits, Helm, Argo CD or Flux, or its TTL. Jobs of
a JobSet are skipped.

--dry-run and -o show the Jobs and end; with -o, they are printed as they are in
the API server, as a list, or by name.

Each Job is deleted only if it is still the one in the table. As in kubectl
delete, --cascade=background deletes the pods, and orphan leaves them without an
owner. If a Job cannot be deleted, a line says so, the others are deleted, and
the exit code is 1. After Ctrl-C (exit code 130) or SIGTERM (143), a line says
how many were deleted. To keep what is known about a Job, use bundle first.`

const cleanExample = `  # What could go?
  kubectl batchjob clean

  # Delete Jobs that ended more than a week ago, with their pods
  kubectl batchjob clean --older-than 7d --yes --cascade=background

  # Keep the three newest failed Jobs of each CronJob or name
  kubectl batchjob clean --failed --keep 3`

// Options are the flags of the clean verb, and the values that Complete derives from them.
type Options struct {
	cmdutil.Env
	kube *cmdutil.KubeFlags

	cmdutil.JobChoice
	filter filter
	print  *cmdutil.PrintFlags
	dryRun string
	yes    bool
	// cascade is cascadeBackground, cascadeOrphan, or "" for what the question says.
	cascade string

	set    feed.JobSet
	writer writer
	client metadata.Interface
}

// The values of --cascade, as of kubectl delete.
const (
	cascadeBackground = "background" // deletes the pods
	cascadeOrphan     = "orphan"     // keeps the pods, without an owner
)

// NewCommand returns the command clean, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags(), print: cmdutil.NewPrintFlags()}
	cmd := &cobra.Command{
		Use:               "clean [NAME | job/NAME ...]",
		SuggestFor:        []string{"prune", "cleanup", "gc", "purge"},
		Short:             "Delete finished Jobs",
		Long:              cleanLong,
		Example:           cleanExample,
		Annotations:       cmdutil.Details(cleanDetails),
		ValidArgsFunction: cmdutil.CompleteJobs(o.kube, o.ExcludesNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(cmd.Flags(), args); err != nil {
				return err
			}
			if err := o.Complete(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	o.AddChoice(flags, "Jobs in all namespaces.")
	flags.BoolVar(&o.filter.failed, "failed", false, "Only Jobs that failed.")
	flags.BoolVar(&o.filter.succeeded, "succeeded", false, "Only Jobs that succeeded.")
	flags.Var(&o.filter.olderThan, "older-than", "Only Jobs that ended this long ago, e.g. 12h, 7d.")
	flags.IntVar(&o.filter.keep, "keep", 0, "Keep so many of each CronJob or name prefix.\nThey are the newest ones; a prefix is the name without its last number or random suffix.")
	flags.StringVar(&o.cascade, "cascade", "", "Pods: background deletes them, orphan keeps them.\n--yes needs it; without --yes, the default is background. The logs go with the pods.")
	cmdutil.MustCompleteFlag(cmd, "cascade", cmdutil.CompleteWords(cascadeBackground, cascadeOrphan))
	flags.StringVar(&o.dryRun, "dry-run", cmdutil.DryRunNone, "Only print the table: client, or none.\nThere is no question, and nothing is deleted; --dry-run alone is --dry-run=client.")
	flags.Lookup("dry-run").NoOptDefVal = cmdutil.DryRunClient
	cmdutil.MustCompleteFlag(cmd, "dry-run", cmdutil.CompleteWords(cmdutil.DryRunNone, cmdutil.DryRunClient))
	flags.BoolVarP(&o.yes, "yes", "y", false, "Delete the Jobs without a question. It needs --cascade.")
	o.print.AddTo(cmd)
	o.kube.AddTo(cmd)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(flags *pflag.FlagSet, args []string) error {
	switch {
	case o.filter.failed && o.filter.succeeded:
		return cmdutil.UsageErrorf("--failed and --succeeded exclude each other; without them, all finished Jobs are chosen")
	case o.filter.keep < 0:
		return cmdutil.UsageErrorf("--keep=%d: must be 0 or more", o.filter.keep)
	case o.dryRun != cmdutil.DryRunNone && o.dryRun != cmdutil.DryRunClient:
		return cmdutil.UsageErrorf("--dry-run=%s: must be none or client", o.dryRun)
	case o.yes && (o.dryRun != cmdutil.DryRunNone || o.print.Format() != ""):
		return cmdutil.UsageErrorf("--dry-run and -o only show Jobs; omit --yes")
	case o.cascade != "" && o.cascade != cascadeBackground && o.cascade != cascadeOrphan:
		return cmdutil.UsageErrorf("--cascade=%s: must be background or orphan", o.cascade)
	case o.yes && o.cascade == "":
		return cmdutil.UsageErrorf("--yes needs --cascade=background, which deletes the pods and their logs, or --cascade=orphan, which keeps them")
	case flags.Changed("keep") && len(args) > 0:
		return cmdutil.UsageErrorf("--keep chooses among all Jobs; omit the names")
	}
	return o.ValidateChoice(args)
}

// Complete parses the names and creates the clients.
func (o *Options) Complete(args []string) (err error) {
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil {
		return err
	}
	config, set, err := cmdutil.NewJobSet(o.kube, o.JobChoice, o.ErrOut)
	if err != nil {
		return err
	}
	o.set = set
	if o.client, err = metadata.NewForConfig(config); err != nil {
		return cmdutil.ExplainConfigError(err)
	}
	jobs, err := cmdutil.NewJobsClient(config)
	o.writer = writer{Env: o.Env, jobs: jobs, keepPods: o.cascade == cascadeOrphan, namespaces: o.AllNamespaces}
	return err
}

// Run prints the Jobs that could go, and deletes them if it may.
func (o *Options) Run(ctx context.Context) error {
	jobs, objects, failed, err := o.read(ctx)
	if err != nil {
		return err
	}
	chosen, ofJobSets := o.filter.choose(jobs, o.Now())
	failed = append(failed, o.refused(jobs)...)
	if ofJobSets > 0 {
		fmt.Fprintf(o.ErrOut, "Skipped %s of JobSets: delete the JobSet instead.\n", wording.Plural(ofJobSets, "Job", "Jobs"))
	}
	if o.print.Format() != "" {
		return errors.Join(append(failed, o.printObjects(chosen, objects))...)
	}
	if len(chosen) == 0 {
		if len(failed) == 0 {
			cmdutil.ReportNone(o.ErrOut, "finished jobs to delete", o.set)
		}
		return errors.Join(failed...)
	}
	o.countPods(ctx, chosen)
	if !o.yes {
		if err := o.printTable(chosen); err != nil {
			return err
		}
	}
	agreed, err := o.agreed(ctx, chosen)
	if err != nil {
		return err
	}
	if agreed {
		failed = append(failed, o.writer.deleteAll(ctx, chosen))
	}
	return errors.Join(failed...)
}

// printObjects prints the Jobs that could go as objects, as the API server has them.
func (o *Options) printObjects(chosen []*candidate, objects []*unstructured.Unstructured) error {
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return !slices.ContainsFunc(chosen, func(c *candidate) bool { return c.UID == object.GetUID() && c.Name == object.GetName() })
	})
	if o.print.Format() == "name" {
		return (&jobprinter.NamePrinter{Out: o.Out}).Snapshot(objects, false)
	}
	printer, err := o.print.Printer()
	if err != nil {
		return err
	}
	return (&jobprinter.ObjectPrinter{Out: o.Out, Printer: printer}).Snapshot(objects, false)
}

// read returns the Jobs, decoded and as the API server has them, and an error for each name that has none.
func (o *Options) read(ctx context.Context) (jobs []*batchv1.Job, objects []*unstructured.Unstructured, failed []error, err error) {
	if len(o.Names) > 0 {
		objects, failed = o.set.GetAll(ctx)
		feed.SortJobs(objects)
	} else if objects, _, err = o.set.List(ctx); err != nil {
		return nil, nil, nil, err
	}
	for _, object := range objects {
		job, err := cmdutil.ToJob(object)
		if err != nil {
			return nil, nil, nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, objects, failed, ctx.Err()
}

// refused returns an error for each named Job that has not finished.
func (o *Options) refused(jobs []*batchv1.Job) (refused []error) {
	for _, job := range jobs {
		if len(o.Names) > 0 && feed.EndOf(job, "") == "" && job.DeletionTimestamp == nil {
			refused = append(refused, cmdutil.NewUserError(cmdutil.KindOther, nil, "job.batch/"+job.Name+" has not finished, and is left as it is", ""))
		}
	}
	return refused
}

// agreed asks whether to delete the Jobs, if nothing says so already and there is a terminal to ask on.
func (o *Options) agreed(ctx context.Context, chosen []*candidate) (bool, error) {
	switch {
	case o.yes || o.dryRun != cmdutil.DryRunNone:
		return o.yes, nil
	case !o.CanAsk():
		fmt.Fprintf(o.ErrOut, "%s: nothing was deleted; delete with --yes --cascade=%s.\n", o.amount(chosen), cmp.Or(o.cascade, cascadeBackground))
		return false, nil
	}
	answer, err := o.Ask(ctx, "Delete "+o.amount(chosen)+"? y/N ")
	if err == nil && !answer {
		fmt.Fprintln(o.ErrOut, "Nothing was deleted.")
	}
	return answer, err
}

// amount says how many Jobs there are, and what happens to their pods.
func (o *Options) amount(chosen []*candidate) string {
	pods, known := podsOf(chosen)
	keep := o.cascade == cascadeOrphan
	jobs := wording.Plural(len(chosen), "Job", "Jobs")
	switch {
	case !known && keep:
		return jobs + ", and keep the pods"
	case !known:
		return jobs + " with all pods and their logs"
	case pods == 0:
		return jobs + " without pods"
	case keep:
		return jobs + ", and keep " + wording.Plural(pods, "pod", "pods")
	}
	return jobs + " with " + wording.Plural(pods, "pod and its log", "pods and their logs")
}

func label(job *batchv1.Job, namespaces bool) string {
	text := "job.batch/" + job.Name
	if namespaces {
		text += " -n " + job.Namespace
	}
	return sanitize.Line(text)
}
