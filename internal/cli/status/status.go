// Package status implements the verb status: it prints Jobs, and follows them.
package status

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobsource"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
)

const statusLong = `Show Jobs and why they fail: one line for each, or a one-screen summary of a
single named Job, which on a terminal is an interactive view.

STATUS is Stalled for a running Job that makes no progress. WHY is what most of
its failed pods failed of, or what blocks it. -o wide has all columns.

cronjob/NAME shows a CronJob: its next start, and how its last Jobs ended.`

// statusDetails is text for the reference only.
const statusDetails = `STATUS is the state as kubectl shows it, or Stalled for a running Job that makes
no progress, as far as its status, its pending pods and the warnings about it
show; why knows more. Failing and Succeeding mean that the outcome is decided,
but pods are still terminating (TERMINATING): the condition is FailureTarget or
SuccessCriteriaMet. FAILED counts pods; FAILED INDEXES is "-" if the Job does
not track them. A terminal with less than 100 columns shows neither FAILED
INDEXES nor TERMINATING.

On a terminal, the summary is an interactive view, see watch;
--interactive=false or --full prints it instead.

A CronJob has a page: its schedule in words, the next start in its time zone and
in yours, the starts that concurrencyPolicy Forbid or startingDeadlineSeconds
skipped, who suspended it, and the runs that Jobs and events still show, with
duration and cause. -o json prints the CronJob with .explanation, a
CronJobReport. What keeps it from starting Jobs is explained by why. --by-owner
puts the Jobs of a CronJob, or of another owner, below a line of their own.

-o json prints Jobs as the API server has them; a stalled Job also has .stalled,
with kind, reason, text, and since, a running one that lacks pods .refused, and
one with failures .why, with text and causes. --sort-by and custom columns can
use them, too.

With --watch, a row is printed for every visible change until Ctrl-C (exit code
130) or SIGTERM (143). A deleted Job is printed once more, with STATUS Deleted;
so is a Job that -l no longer matches.`

const statusExample = `  # The Jobs in the current namespace
  kubectl batchjob status

  # One Job: counts, limits, indexes, success criteria, backoff, problems
  kubectl batchjob status train

  # A CronJob: next start, skipped starts, the last runs
  kubectl batchjob status cronjob/nightly

  # Only Jobs that failed, will fail, or are stalled, in all namespaces
  kubectl batchjob status -A --problems

  # Columns of your own
  kubectl batchjob status -o custom-columns=JOB:.metadata.name,WHY:.why.text`

// Output formats besides those of PrintFlags.
const (
	formatWide    = "wide"
	formatColumns = "custom-columns"
)

// Options are the flags of the status verb, and the values that Complete derives from them.
type Options struct {
	cmdutil.Env
	kube  *cmdutil.KubeFlags
	print *cmdutil.PrintFlags

	cmdutil.JobChoice
	watch       bool
	noHeaders   bool
	full        bool
	problems    bool
	byOwner     bool
	sortBy      string
	labels      []string
	showLabels  bool
	color       cmdutil.ColorFlag
	interactive view.InteractiveFlag
	// from is a bundle or a recording, "" for the cluster.
	from string
	// cronJob is the CronJob that is shown, "" for Jobs.
	cronJob string

	set       feed.JobSet
	explainer *cmdutil.Explainer
	printer   jobprinter.Printer
	order     jobprinter.SortBy
	stalls    *feed.Stalls
	noted     bool // the notice that stalls may be missing was printed
}

// NewCommand returns the command status, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags(), print: cmdutil.NewPrintFlags(formatWide, formatColumns)}
	cmd := &cobra.Command{
		Use:               "status [NAME | job/NAME ... | cronjob/NAME]",
		SuggestFor:        []string{"get", "list", "ls", "describe"},
		Short:             "Show the state of Jobs",
		Long:              statusLong,
		Example:           statusExample,
		Annotations:       cmdutil.Details(statusDetails),
		ValidArgsFunction: cmdutil.CompleteJobsOrCronJob(o.kube, o.ExcludesNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(args); err != nil {
				return err
			}
			if err := o.Complete(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.AddChoice(flags, "Jobs in all namespaces.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Print the current state, then every change.\nIt ends when it is interrupted.")
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Omit the header line of the table.")
	flags.BoolVar(&o.full, "full", false, "Print everything, lists and tables to their end.")
	flags.BoolVar(&o.problems, "problems", false, "Only Jobs that fail, are stalled, or lack pods.")
	flags.BoolVar(&o.byOwner, "by-owner", false, "Group Jobs below their CronJob or other owner.")
	flags.StringVar(&o.FieldSelector, "field-selector", "", "Field selector, e.g. metadata.name!=train.")
	flags.StringVar(&o.sortBy, "sort-by", "", "Sort by a JSONPath, e.g. .status.startTime.")
	flags.StringSliceVarP(&o.labels, "label-columns", "L", nil, "Labels to show as columns.\nSeveral are separated with commas.")
	flags.BoolVar(&o.showLabels, "show-labels", false, "Show all labels in the last column.")
	flags.StringVar(&o.from, "from", "", "Bundle or recording to read; needs no cluster.")
	o.interactive.AddTo(cmd)
	o.color.AddTo(cmd)
	o.print.AddTo(cmd)
	o.kube.AddTo(cmd)
	cmdutil.MustCompleteFlag(cmd, "field-selector", cmdutil.CompleteWords("metadata.name=", "metadata.namespace=", "status.successful="))
	cmdutil.MustCompleteFlag(cmd, "sort-by", cmdutil.CompleteWords(
		".metadata.creationTimestamp", ".metadata.name", ".stalled.since", ".status.completionTime", ".status.failed", ".status.startTime", ".status.succeeded"))
}

// Validate checks arguments and flags; its errors are usage errors, in kubectl's words if kubectl has the same error.
func (o *Options) Validate(args []string) error {
	if err := o.ValidateChoice(args); err != nil {
		return err
	}
	format := o.print.Format()
	switch {
	case (o.showLabels || len(o.labels) > 0) && format != "" && format != formatWide:
		return cmdutil.UsageErrorf("-L and --show-labels add columns to the table; omit -o %s", format)
	case o.byOwner && (o.watch || format != "" && format != formatWide):
		return cmdutil.UsageErrorf("--by-owner is for the table; omit --watch and other formats")
	case o.sortBy != "" && o.watch:
		return cmdutil.UsageErrorf("--sort-by and --watch cannot be used together: rows are printed as Jobs change")
	case o.sortBy != "":
		var err error
		if o.order, err = jobprinter.NewSortBy(o.sortBy); err != nil {
			return cmdutil.UsageErrorf("--sort-by: %v", err)
		}
	}
	return o.color.Validate()
}

// Complete parses the names, and creates the printer and the client.
func (o *Options) Complete(args []string) error {
	err := o.parseNames(args)
	if err != nil {
		return err
	}
	if o.from != "" {
		if !o.summarizesFile() {
			return cmdutil.UsageErrorf("--from summarizes one Job of the file, which need not be named; omit other flags")
		}
		return nil
	}
	if o.printer, err = o.newPrinter(); err != nil {
		return err
	}
	o.set, o.explainer, err = cmdutil.OpenJobs(o.kube, o.JobChoice, o.ErrOut, o.Env)
	if err == nil {
		o.stalls = o.explainer.Stalls(o.set.Namespace, o.Timing())
		o.stalls.Failures = true
	}
	return err
}

// summarizes reports whether to print a summary instead of a table: for one named Job, unless
// a flag asks for another form.
func (o *Options) summarizes() bool { return len(o.Names) == 1 && !o.asksForRows() }

// summarizesFile is summarizes for --from.
func (o *Options) summarizesFile() bool {
	return len(o.Names) < 2 && !o.asksForRows() && o.Selector == "" && o.FieldSelector == "" && !o.AllNamespaces
}

func (o *Options) asksForRows() bool {
	return o.watch || o.noHeaders || o.problems || o.sortBy != "" || o.byOwner || o.showLabels || len(o.labels) > 0 || o.print.Format() != ""
}

func (o *Options) newPrinter() (jobprinter.Printer, error) {
	switch format, argument, _ := strings.Cut(o.print.Format(), "="); format {
	case formatWide, "":
		return o.tablePrinter(jobprinter.Table{Namespaces: o.AllNamespaces, Wide: format == formatWide, ByOwner: o.byOwner, LabelColumns: o.labels, ShowLabels: o.showLabels}), nil
	case formatColumns:
		table, err := jobprinter.CustomColumns(argument)
		if err != nil {
			return nil, cmdutil.UsageErrorf("-o custom-columns: %v", err)
		}
		return o.tablePrinter(table), nil
	case "name":
		return &jobprinter.NamePrinter{Out: o.Out}, nil
	}
	printer, err := o.print.Printer()
	return &jobprinter.ObjectPrinter{Out: o.Out, Printer: printer}, err
}

func (o *Options) tablePrinter(table jobprinter.Table) jobprinter.Printer {
	display := o.color.Display(o.Env)
	table.Narrow = display.Width > 0 && display.Width < jobprinter.NarrowBelow && !table.Wide
	if table.Wide || o.full {
		display.Width = 0
	}
	printer := jobprinter.NewTablePrinter(o.Out, table, display, !o.noHeaders, o.full, o.Now)
	printer.Follow = o.watch
	return printer
}

// Run prints the Jobs, and follows them with --watch.
func (o *Options) Run(ctx context.Context) error {
	switch {
	case o.from != "":
		source := jobsource.Source{Env: o.Env, Name: strings.Join(o.Names, ""), File: o.from, Flag: "--from"}
		report, err := source.Report(ctx, explain.Options{})
		if err != nil {
			return err
		}
		return text.Summary(o.Out, report, o.color.TextOptions(o.Env, o.full))
	case o.cronJob != "":
		return o.showCronJob(ctx)
	case o.watch:
		return o.follow(ctx)
	case o.summarizes() && !o.full && o.interactive.Possible(o.IOStreams):
		viewer := o.interactive.Viewer(o.Env, o.color.Display(o.Env))
		return viewer.ShowJob(ctx, o.kube, o.Names[0])
	case o.summarizes():
		return o.printSummary(ctx)
	case len(o.Names) > 0:
		return o.printNamed(ctx)
	}
	jobs, _, err := o.set.List(ctx)
	if err != nil {
		return err
	}
	return o.printJobs(ctx, jobs, false)
}

// printJobs prints the Jobs, with their stalls, in the order of --sort-by; with --problems, only Jobs with a problem.
func (o *Options) printJobs(ctx context.Context, jobs []*unstructured.Unstructured, single bool) error {
	missing := len(jobs) == 0 && len(o.Names) > 0 // Each name has an error already.
	jobs, err := o.markStalls(ctx, jobs)
	if err != nil {
		return err
	}
	if len(jobs) == 0 && !missing {
		o.reportNone()
	}
	if o.sortBy != "" {
		if err := o.order.Sort(jobs); err != nil {
			return cmdutil.UsageErrorf("--sort-by %s: %v", o.sortBy, err)
		}
	}
	return o.printer.Snapshot(jobs, single)
}

// printSummary prints one Job on one screen.
func (o *Options) printSummary(ctx context.Context) error {
	job, err := o.set.Get(ctx, o.Names[0])
	if err != nil {
		return o.explainer.ExplainMissing(ctx, []error{err})[0]
	}
	report, err := o.explainer.Report(ctx, job)
	if err != nil {
		return err
	}
	options := o.color.TextOptions(o.Env, o.full)
	options.Namespace = cmdutil.CurrentNamespace(o.kube)
	return text.Summary(o.Out, report, options)
}

// printNamed prints the named Jobs, and returns an error for each that cannot be read.
func (o *Options) printNamed(ctx context.Context) error {
	jobs, failed := o.set.GetAll(ctx)
	failed = o.explainer.ExplainMissing(ctx, failed)
	feed.SortJobs(jobs)
	failed = append(failed, o.printJobs(ctx, jobs, len(o.Names) == 1))
	return errors.Join(failed...)
}

// reportNone prints that there are no Jobs, unless the output is an empty List.
func (o *Options) reportNone() {
	if _, objects := o.printer.(*jobprinter.ObjectPrinter); objects {
		return
	}
	what := "jobs"
	if o.problems {
		what = "failed or stalled jobs"
	}
	cmdutil.ReportNone(o.ErrOut, what, o.set)
}
