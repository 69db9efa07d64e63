package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
)

const statusLong = `Show the state of Jobs, whoever runs them: one line each, or with the name of
one Job a summary of it on one screen (a line of the table with -o wide).

STATUS is kubectl's word for the Job's state. FailureTarget and
SuccessCriteriaMet mean that the outcome is decided and that pods are still
terminating (TERMINATING). DURATION ends when a Job is complete or failed.
FAILED INDEXES is "-" when the Job does not track them; long lists are cut, see
--full.

With the name of one Job on a terminal the summary is an interactive view, see
kubectl batchjob watch --help; --interactive=false and --full print it.

With --watch a row follows for every visible change, until Ctrl-C (exit code
130). A Job that is gone shows its last row once, with STATUS Deleted; so does
one that -l selects no longer.`

const statusExample = `  # The Jobs of the current namespace
  kubectl batchjob status

  # One Job: counts, limits, indexes, success criteria, back-off, problems
  kubectl batchjob status train

  # Two Jobs, with reasons, images and index lists
  kubectl batchjob status train job/evaluate -o wide

  # All Jobs of the cluster with a label
  kubectl batchjob status -A -l team=ml

  # Follow one Job
  kubectl batchjob status train -w

  # For scripts
  kubectl batchjob status train -o json`

const formatWide = "wide"

// statusOptions are the flags of the status verb, and what Complete makes of them.
type statusOptions struct {
	genericiooptions.IOStreams
	env   environment
	kube  *genericclioptions.ConfigFlags
	print *genericclioptions.PrintFlags

	jobChoice
	watch       bool
	noHeaders   bool
	full        bool
	color       colorFlag
	interactive interactiveFlag

	set       feed.JobSet
	explainer *explainer
	printer   jobPrinter
}

func newStatusCommand(env environment) *cobra.Command {
	o := &statusOptions{IOStreams: env.IOStreams, env: env, kube: newKubeFlags(), print: genericclioptions.NewPrintFlags("")}
	cmd := &cobra.Command{
		Use:               "status [NAME | job/NAME ...]",
		Short:             "Show the state of Jobs",
		Long:              statusLong,
		Example:           statusExample,
		ValidArgsFunction: completeJobs(o.kube, o.excludesNames),
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

func (o *statusOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.addChoice(flags, "The Jobs of all namespaces.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "After the current state, print every change until interrupted.")
	flags.BoolVar(&o.noHeaders, "no-headers", false, "Leave out the header line of the table.")
	flags.BoolVar(&o.full, "full", false, "Do not cut long lists and tables.")
	o.interactive.addTo(cmd)
	o.color.addTo(flags)
	flags.StringVarP(o.print.OutputFormat, "output", "o", "", fmt.Sprintf("Output format. One of: (%s).", strings.Join(statusFormats(), ", ")))
	o.print.OutputFlagSpecified = func() bool { return flags.Changed("output") }
	o.print.JSONYamlPrintFlags.AddFlags(cmd)
	o.print.TemplatePrinterFlags.AddFlags(cmd)
	o.kube.AddFlags(flags)
	o.color.complete(cmd)
	mustCompleteFlag(cmd, "output", completeFormats)
	completeKubeFlags(cmd, o.kube)
}

func statusFormats() []string {
	return append([]string{formatWide}, objectFormats()...)
}

// Validate checks arguments and flags; its errors are usage errors, in kubectl's words where it has some.
func (o *statusOptions) Validate(args []string) error {
	if err := o.validateChoice(args); err != nil {
		return err
	}
	return o.color.Validate()
}

// Complete makes the names, the printer and the client.
func (o *statusOptions) Complete(args []string) error {
	var err error
	if o.names, err = parseJobArgs(args); err != nil {
		return err
	}
	if o.printer, err = o.newPrinter(); err != nil {
		return err
	}
	o.set, o.explainer, err = openJobs(o.kube, o.jobChoice, o.ErrOut, o.env)
	return err
}

// summarizes says that the answer is the summary of one Job instead of a table: it was
// named, and nothing was said about the form.
func (o *statusOptions) summarizes() bool {
	return len(o.names) == 1 && !o.watch && !o.noHeaders && *o.print.OutputFormat == "" && *o.print.TemplatePrinterFlags.TemplateArgument == ""
}

func (o *statusOptions) newPrinter() (jobPrinter, error) {
	switch format := *o.print.OutputFormat; {
	case format == formatWide, format == "" && *o.print.TemplatePrinterFlags.TemplateArgument == "":
		table := jobTable{namespaces: o.allNamespaces, wide: format == formatWide}
		printer := newTablePrinter(o.Out, table, !o.noHeaders, o.full, o.env.now)
		printer.follow = o.watch
		return printer, nil
	case format == "name":
		return &namePrinter{out: o.Out}, nil
	}
	printer, err := o.print.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, unknownOutput(*o.print.OutputFormat, statusFormats())
	}
	if err != nil {
		return nil, usageErrorf("-o %s: %v", *o.print.OutputFormat, err)
	}
	return &objectPrinter{out: o.Out, printer: printer}, nil
}

// Run prints the Jobs, and follows them with --watch.
func (o *statusOptions) Run(ctx context.Context) error {
	switch {
	case o.watch:
		return o.follow(ctx)
	case o.summarizes() && !o.full && o.interactive.possible(o.IOStreams):
		return viewJob(ctx, o.names[0], tui.StartJob, liveLogLines, o.kube, viewer{o.IOStreams, o.env, o.color.displayOf(o.env, o.Out)})
	case o.summarizes():
		return o.printSummary(ctx)
	case len(o.names) > 0:
		return o.printNamed(ctx)
	}
	jobs, _, err := o.set.List(ctx)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		o.reportNone()
	}
	return o.printer.snapshot(jobs, false)
}

// printSummary prints one Job on one screen.
func (o *statusOptions) printSummary(ctx context.Context) error {
	job, err := o.set.Get(ctx, o.names[0])
	if err != nil {
		return err
	}
	report, err := o.explainer.report(ctx, job)
	if err != nil {
		return err
	}
	return text.Summary(o.Out, report, o.color.displayOf(o.env, o.Out).textOptions(o.env, o.full))
}

// printNamed prints the Jobs that it gets, and returns an error for each that it does not.
func (o *statusOptions) printNamed(ctx context.Context) error {
	jobs, failed := o.set.GetAll(ctx)
	feed.SortJobs(jobs)
	failed = append(failed, o.printer.snapshot(jobs, len(o.names) == 1))
	return errors.Join(failed...)
}

// reportNone says that there are no Jobs, unless the output says so itself (an empty List).
func (o *statusOptions) reportNone() {
	if _, objects := o.printer.(*objectPrinter); objects {
		return
	}
	reportNone(o.ErrOut, o.set)
}

// completeFormats completes the values of status -o.
func completeFormats(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return withPrefix(statusFormats(), toComplete), cobra.ShellCompDirectiveNoFileComp
}
