// Package explain implements the verb why: it explains why Jobs failed, or what they wait for.
package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobsource"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/owners"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const explainLong = `Explain why a Job failed or what it is waiting for, and what to do about it.

The causes come first, then the limit or rule that made them final, the end of a
log, and up to three steps to take; --full has the evidence, too. Without a
name, it explains all Jobs of the namespace that have failed or are stalled.

explain-failure is another name for why.`

// explainDetails is text for the reference only.
const explainDetails = `It works for every batch/v1 Job, no matter which controller runs it, including
Jobs that have not failed.

--full prints everything: the evidence, from the condition down to the
container with exit code, signal and message, all retries of the Job, problems,
policies, indexes, deadlines, the controller, a timeline, and the pods. Where a
policy is advised for a Job that has finished, what-if computes what it would
have changed.

Without a name, it explains the Jobs of the namespace that have failed or are
stalled; with -A, those of all namespaces. pod/NAME is the Job of a pod.

Several Jobs, chosen by name, by -l, or by their owner (cronjob/NAME,
jobset/NAME), get one line each, followed by the causes of all their failures.
What keeps a CronJob from starting Jobs comes first: suspension, a quota, a Job
that still runs and why, missed starts, an unknown time zone. Otherwise, it is
how the last Job ended, and when the next start is. A JobSet's own state comes
first, too: the Job and the policy that ended it, or why it has no Jobs.
Many Jobs, or some with the same cause, are grouped by cause first, with what to
do about each: failed and stalled ones, then the most frequent, then the newest.

On a terminal, the explanation of a single named Job is an interactive view that
follows the Job; --interactive=false, --full, --index, --pod and --exit-status
print it.

The exit code says whether the explanation was possible. With --exit-status, it
is 3 if a Job has failed or will, else 4 if one is stalled.

View permissions (get and list on jobs, pods and events, get on pods/log) are
enough for a complete explanation. If some are missing, the explanation is
shorter, and lists what could not be read.

-o json and -o yaml print everything, as kind JobExplanation or
JobExplanationList of batchjob.dev/v1alpha1.`

const explainExample = `  # Why did it fail?
  kubectl batchjob why train

  # What has failed or is stalled in the whole cluster, and why?
  kubectl batchjob why -A

  # The pod that an alert names
  kubectl batchjob why pod/train-7-x2v9q

  # All Jobs of a team or of a CronJob: their failures by cause
  kubectl batchjob why -l team=ml
  kubectl batchjob why cronjob/nightly-report`

// Options are the flags of the why verb, and the values that Complete derives from them.
type Options struct {
	cmdutil.Env
	kube  *cmdutil.KubeFlags
	color cmdutil.ColorFlag

	interactive view.InteractiveFlag
	cmdutil.JobChoice
	output   cmdutil.DocumentFlag
	pod      string
	index    string
	full     bool
	logLines int64
	exitCode bool // --exit-status
	list     bool
	// from is a bundle or a recording, "" for the cluster.
	from string

	owners    []owners.Owner
	pods      []string // from pod/NAME: one at most
	set       feed.JobSet
	explainer *cmdutil.Explainer
}

// NewCommand returns the command why, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags()}
	cmd := &cobra.Command{
		Use:               "why [NAME | KIND/NAME ... | -l SELECTOR]",
		SuggestFor:        []string{"describe"},
		Aliases:           []string{"explain-failure", "explain"},
		Short:             "Explain why a Job failed or what it is waiting for",
		Long:              explainLong,
		Example:           explainExample,
		Annotations:       cmdutil.Details(explainDetails),
		ValidArgsFunction: completeJobsAndOwners(o.kube, o.ExcludesNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(args); err != nil {
				return err
			}
			if err := o.Complete(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	o.AddChoice(flags, "Jobs in all namespaces.")
	o.output.AddPrintersTo(cmd)
	flags.StringVar(&o.pod, "pod", "", "Show only what concerns this pod.")
	flags.StringVar(&o.index, "index", "", "Only these completion indexes, e.g. 3,7-9.")
	flags.BoolVar(&o.full, "full", false, "Print everything, lists and tables to their end.")
	flags.Int64Var(&o.logLines, "log-lines", 10, "Last lines of logs to show; 0 for none.\nOf the most relevant logs.")
	flags.StringVar(&o.from, "from", "", "Bundle or recording to read; needs no cluster.")
	flags.BoolVar(&o.exitCode, "exit-status", false, "Exit with 3 if a Job failed, 4 if one is stalled.\nThe exit code is also 3 if a Job is going to fail.")
	flags.BoolVar(&o.list, "list", false, "With -o, print a list even for one Job.\nIts kind is JobExplanationList.")
	o.interactive.AddTo(cmd)
	o.color.AddTo(cmd)
	o.kube.AddTo(cmd)
	cmdutil.MustCompleteFlag(cmd, "pod", completePods(o.kube))
	cmdutil.MustCompleteFlag(cmd, "index", cmdutil.CompleteIndexes(o.kube, true))
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.ValidateChoice(args); err != nil {
		return err
	}
	if o.from != "" {
		return o.validateFrom(args)
	}
	args, err := cmdutil.SplitKinds(args, cmdutil.PodKinds(), func(_, name string) { o.pods = append(o.pods, name) })
	if err != nil {
		return err
	}
	if o.owners, args, err = owners.Split(args, cmdutil.OwnerKinds()); err != nil {
		return err
	}
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil {
		return err
	}
	if len(o.pods) > 0 {
		if len(o.pods)+len(o.owners)+len(o.Names) > 1 || o.pod != "" {
			return cmdutil.UsageErrorf("name one pod, and nothing else")
		}
		o.pod = o.pods[0]
	}
	return o.validateFlags()
}

// validateFrom checks arguments and flags for a file, of which one Job is explained.
func (o *Options) validateFrom(args []string) error {
	var err error
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil {
		return err
	}
	if len(o.Names) > 1 || o.Selector != "" || o.AllNamespaces {
		return cmdutil.UsageErrorf("--from explains one Job of the file, which need not be named")
	}
	return o.validateFlags()
}

func (o *Options) validateFlags() error {
	switch {
	case o.list && !o.output.IsSet():
		return cmdutil.UsageErrorf("--list requires -o")
	case o.logLines < 0:
		return cmdutil.UsageErrorf("--log-lines=%d: must be 0 or more", o.logLines)
	case o.pod != "" && o.index != "":
		return cmdutil.UsageErrorf("--pod and --index cannot be used together")
	case (o.pod != "" || o.index != "") && !o.single():
		return cmdutil.UsageErrorf("--pod and --index require a single named Job")
	}
	if o.index != "" {
		if _, err := o.parseIndexes(); err != nil {
			return err
		}
	}
	return errors.Join(o.output.Validate(), o.color.Validate())
}

// explainsLive reports whether to open the interactive view: for one whole Job, unless a flag asks for another form.
func (o *Options) explainsLive() bool {
	return o.from == "" && o.single() && !o.output.IsSet() && o.pod == "" && o.index == "" && !o.full && !o.exitCode && o.interactive.Possible(o.IOStreams)
}

// single reports whether the explanation is about one named Job, or the Job of a pod.
func (o *Options) single() bool {
	return o.from != "" || len(o.pods) == 1 || len(o.Names) == 1 && len(o.owners) == 0
}

// unnamed reports whether no Jobs were chosen: then the failed and stalled ones are explained.
func (o *Options) unnamed() bool {
	return !o.single() && len(o.Names)+len(o.owners) == 0 && o.Selector == ""
}

// Complete creates the clients.
func (o *Options) Complete() error {
	var err error
	if o.from != "" {
		o.explainer = &cmdutil.Explainer{}
	} else if o.set, o.explainer, err = cmdutil.OpenJobs(o.kube, o.JobChoice, o.ErrOut, o.Env); err != nil {
		return err
	}
	o.explainer.Options.Pod = o.pod
	o.explainer.LogLines = o.logLines
	if o.full || o.output.IsSet() {
		o.explainer.Options.MaxPods = -1
	}
	if o.index != "" {
		indexes, err := o.parseIndexes()
		if err != nil {
			return err
		}
		o.explainer.Options.Indexes = indexes
	}
	return nil
}

func (o *Options) parseIndexes() (indexset.Set, error) {
	set, err := indexset.Parse(o.index)
	if err != nil || set.IsEmpty() {
		return indexset.Set{}, cmdutil.UsageErrorf("--index=%s: must be indexes such as 3,7-9", o.index)
	}
	return set, nil
}

// Run reads and explains the Jobs. Errors for names that do not exist follow the explanations of the others.
func (o *Options) Run(ctx context.Context) error {
	if o.explainsLive() {
		viewer := o.interactive.Viewer(o.Env, o.color.Display(o.Env))
		return viewer.ShowExplanation(ctx, o.kube, o.Names[0], o.logLines)
	}
	if o.from != "" {
		return o.runFile(ctx)
	}
	c := o.choose(ctx)
	if c.isEmpty() && len(c.failed) > 0 {
		return errors.Join(c.failed...)
	}
	if o.single() || o.unnamed() && len(c.jobs) == 1 && !o.output.IsSet() {
		return o.runOne(ctx, c.jobs[0])
	}
	return o.runSeveral(ctx, &c)
}

// mostLogs: the logs of an owner's Jobs are read if it has no more Jobs than this.
const mostLogs = 10

// runSeveral explains several Jobs, and the CronJobs and JobSets that own them.
func (o *Options) runSeveral(ctx context.Context, c *chosen) error {
	o.explainer.Brief, o.explainer.Keeps = true, len(o.owners) > 0
	if !o.output.IsSet() && (len(o.owners) == 0 || len(c.jobs) > mostLogs) {
		o.explainer.LogLines = 0
	}
	reports, err := o.explainer.Reports(ctx, c.jobs, o.progress(len(c.jobs)))
	if err != nil {
		return err
	}
	if c.isEmpty() && !o.output.IsSet() {
		if !o.unnamed() {
			cmdutil.ReportNone(o.ErrOut, "jobs", o.set)
		}
		return nil
	}
	list, err := o.listOf(ctx, c, reports)
	if err != nil {
		return err
	}
	if o.output.IsSet() {
		err = o.output.Write(o.Out, list, namesOf(reports)...)
	} else {
		err = text.Explanations(o.Out, list, o.textOptions())
	}
	return errors.Join(append(c.failed, err, o.exitStatus(reports...))...)
}

// listOf returns the list of the reports, with those on the owners. If the answer about an owner is about a Job, its pods' events are read,
// too, or the log of a Job that succeeded, or that runs without failures.
func (o *Options) listOf(ctx context.Context, c *chosen, reports []explain.Report) (list explain.ReportList, err error) {
	list = c.listOf(reports)
	changed := o.lacksEvents(&list)
	if changed {
		err = o.explainer.WithPodEvents(ctx, o.set.Namespace, reports)
	}
	for _, name := range namedIn(&list) {
		r := lists.First(reports, func(r *explain.Report) bool { return r.Job.Name == name })
		if r != nil && o.explainer.LacksOutput(r) && err == nil {
			changed, err = true, o.explainer.WithOutput(ctx, r)
		}
	}
	if err != nil || !changed {
		return list, err
	}
	return c.listOf(reports), nil
}

// lacksEvents reports whether the answer about an owner is about a Job whose pods may have events that say more.
func (o *Options) lacksEvents(list *explain.ReportList) bool {
	named := namedIn(list)
	return slices.ContainsFunc(list.Items, func(r explain.Report) bool {
		return slices.Contains(named, r.Job.Name) && o.explainer.LacksEvents(&r)
	})
}

// namedIn returns the names of the Jobs that the answers about owners are about.
func namedIn(list *explain.ReportList) (named []string) {
	for i := range list.CronJobs {
		named = append(named, list.CronJobs[i].Named())
	}
	for i := range list.JobSets {
		named = append(named, list.JobSets[i].Named())
	}
	return named
}

func (o *Options) runOne(ctx context.Context, job *unstructured.Unstructured) error {
	in, err := o.explainer.Input(ctx, job)
	if err != nil {
		return err
	}
	return o.explain(ctx, in)
}

// runFile explains the Job of a bundle or a recording.
func (o *Options) runFile(ctx context.Context) error {
	source := jobsource.Source{Env: o.Env, Name: strings.Join(o.Names, ""), File: o.from, Flag: "--from"}
	report, err := source.Report(ctx, o.explainer.Options)
	if err != nil {
		return err
	}
	return o.print(report)
}

func (o *Options) explain(ctx context.Context, input input.Input) error {
	report := analysis.Explain(input, o.explainer.Options)
	whatif.Quote(ctx, input, report.Advice)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return o.print(report)
}

func (o *Options) print(report explain.Report) error {
	if err := o.checkFocus(&report); err != nil {
		return err
	}
	return errors.Join(o.write(report), o.exitStatus(report))
}

func (o *Options) write(report explain.Report) error {
	switch {
	case o.list:
		return o.output.Write(o.Out, analysis.List([]explain.Report{report}), report.Job.Name)
	case o.output.IsSet():
		return o.output.Write(o.Out, report, report.Job.Name)
	}
	switch {
	case o.full:
		return text.Explanation(o.Out, report, o.textOptions())
	case o.explainer.Options.IsNarrow():
		return text.Part(o.Out, report, o.explainer.Options, o.textOptions())
	}
	return text.Short(o.Out, report, o.textOptions())
}

// checkFocus returns an error for a pod or indexes that the Job does not have.
func (o *Options) checkFocus(r *explain.Report) error {
	name, page := "job.batch/"+r.Job.Name, o.textOptions()
	switch indexes := o.explainer.Options.Indexes; {
	case indexes.IsEmpty() && o.pod == "":
		return nil
	case !indexes.IsEmpty() && r.Indexes == nil:
		return cmdutil.UsageErrorf("--index requires an Indexed Job, and %s is not one", name)
	case !indexes.IsEmpty() && r.Indexes.Total == 0:
		return cmdutil.UsageErrorf("--index=%s: %s has no indexes because its completions are 0", o.index, name)
	case !indexes.IsEmpty() && !indexes.Difference(indexset.Below(r.Indexes.Total)).IsEmpty():
		return cmdutil.UsageErrorf("--index=%s: %s has the indexes 0-%d", o.index, name, r.Indexes.Total-1)
	case o.pod != "" && len(r.Pods) == 0 && r.Counts.Pods != nil:
		return cmdutil.NewUserError(cmdutil.KindNotFound, nil, fmt.Sprintf("%s has no pod %q; it may have been deleted", name, o.pod),
			"list its pods with: "+page.Local("kubectl get pods -l batch.kubernetes.io/job-name="+r.Job.Name+" -n "+r.Job.Namespace))
	}
	return nil
}

// progress returns a function that shows on a terminal how many Jobs have been read.
func (o *Options) progress(total int) func(int) {
	if total <= cmdutil.ExplainAtOnce || o.TerminalWidth(o.ErrOut) == 0 {
		return func(int) {}
	}
	return func(n int) {
		fmt.Fprintf(o.ErrOut, "\rReading Jobs: %s", wording.Of(n, total))
		if n == total {
			fmt.Fprint(o.ErrOut, "\r\x1b[K")
		}
	}
}

func (o *Options) textOptions() text.Options {
	options := o.color.TextOptions(o.Env, o.full)
	if o.from == "" { // A bundle may be from another cluster.
		options.Namespace = cmdutil.CurrentNamespace(o.kube)
	}
	return options
}

// namesOf returns the names of the Jobs.
func namesOf(reports []explain.Report) (names []string) {
	for i := range reports {
		names = append(names, reports[i].Job.Name)
	}
	return names
}
