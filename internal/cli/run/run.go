// Package run implements the verb run: it creates Jobs, follows them, and exits with their result.
package run

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/logprinter"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/junit"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

const runLong = `Create Jobs from a manifest, or a copy of a Job, follow them, and exit with
their result. Logs go to stdout, progress and explanations to stderr.

Exit codes: 3 a Job has failed, 4 stalled, 124 timeout, 130 Ctrl-C, 143 SIGTERM`

// runDetails is text for the reference only.
const runDetails = `The Jobs are created as create does, also with --from.
The controller built into Kubernetes runs them unless the manifest or
--managed-by names another. If one of them cannot be created, those
created before are deleted again. Objects of other kinds are skipped; with
--all-kinds, they are created before the Jobs, and --rm deletes them, too.

The logs of their pods are printed as logs -f prints them. Progress is a bar
that is updated on a terminal, or else one line per change. --logs=failed prints
only the last lines of pods that failed, when all Jobs have finished.

With --retry, a Job that fails is retried as retry does: what has completed does
not run again. The result is that of the last retry. With --on-oom, what ran out
of memory is retried with more, as retry --memory does, and counted separately:
there are at most as many of these retries. What else is missing runs with it.
At the cap, the Job is not retried.

--replace is for a manifest that has changed, because the template of a Job
cannot: it prints the differences, keeps a bundle of a Job that failed, deletes
the Job and its pods, waits until they are gone, and creates the new Job. The
API server checks the new Job first. It refuses Jobs that have not finished,
unless there is --force, and ends if something else creates the Job again.

--junit writes a report with a test case for each index of a Job, or for the
Job if it has no indexes: why it failed, and the last lines of its log. It is
written whatever the outcome.

--rm deletes the Jobs and their retries at the end, whatever the outcome. After
a timeout or an error, they keep running without it. On Ctrl-C or SIGTERM,
--on-cancel decides: keep them running (the default), suspend them, or delete
them (the default with --rm). A second signal ends the command at once.

Once all Jobs left have been stalled for 10 minutes, the command gives up with
exit code 4 (--fail-if-stalled). Waiting in a queue, for quota or for room on
nodes does not count; --fail-if-unscheduled limits waiting for quota and room.
The exit code is 1 if a Job was deleted before it finished, and 2, with nothing
created, if the manifests have no Job.

A lost connection to the API server is not an error: the command resumes when
it can.`

const runExample = `  # Run the Job in a file, and exit with code 3 if it fails
  kubectl batchjob run -f job.yaml

  # In CI: a report, two retries, and nothing left behind
  kubectl batchjob run -f job.yaml --junit report.xml --retry 2 --rm

  # Run a CronJob's Job now, with other arguments
  kubectl batchjob run --from cronjob/nightly -- --day 2026-11-27`

// The values of --logs.
const (
	logsAll    = "all"
	logsFailed = "failed"
	logsNone   = "none"
)

// The values of --on-cancel.
const (
	cancelKeep    = "keep"
	cancelSuspend = "suspend"
	cancelDelete  = "delete"
)

// stalledAfter is the default of --fail-if-stalled.
const stalledAfter = 10 * time.Minute

func logWords() []string    { return []string{logsAll, logsFailed, logsNone} }
func cancelWords() []string { return []string{cancelKeep, cancelSuspend, cancelDelete} }

// Options are the flags of the run verb, and the values that complete derives from them.
type Options struct {
	cmdutil.Env
	kube      *cmdutil.KubeFlags
	manifests manifests.Flags

	logs        string
	concurrency int
	color       cmdutil.ColorFlag
	quiet       bool
	junit       string
	retries     int
	onOOM       string
	raise       *retry.MemoryRaise // nil without --on-oom
	remove      bool
	replace     bool
	keep        string // --keep-evidence
	onCancel    string
	timeout     time.Duration
	stalled     follow.StallFlags
	stalledSet  bool // a flag limits stalls

	creator   *manifests.Client
	others    []*unstructured.Unstructured // created before the Jobs, with --all-kinds
	namespace string                       // of Jobs that do not name one
	jobs      dynamic.NamespaceableResourceInterface
	explainer *cmdutil.Explainer
}

// NewCommand returns the command run, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	env.ErrOut = cmdutil.Synchronized(env.ErrOut)
	o := &Options{Env: env, kube: env.KubeFlags()}
	o.manifests = manifests.NewFlags(o.kube, o.ErrOut)
	cmd := &cobra.Command{
		Use:               "run (-f FILE | --from KIND/NAME [-- ARGS...])",
		Short:             "Create Jobs, follow them, and exit with their result",
		Long:              runLong,
		Example:           runExample,
		Annotations:       cmdutil.Details(runDetails),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Validate(cmd.Flags(), args); err != nil {
				return err
			}
			return o.Run(cmd)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *Options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.manifests.AddTo(cmd)
	flags.StringVar(&o.logs, "logs", logsAll, "Logs to print: all, failed or none.\nall are printed as they are written, failed are the last lines of failed pods, at the end.")
	flags.IntVar(&o.concurrency, "max-log-requests", logprinter.DefaultRequests, "How many logs to read at a time.\nOf all Jobs together.")
	flags.StringVar(&o.junit, "junit", "", "Write a JUnit report to this file.")
	flags.IntVar(&o.retries, "retry", 0, "Retry a failed Job at most this many times.\nWhat has completed does not run again.")
	flags.StringVar(&o.onOOM, "on-oom", "", "With --retry, after OOMKilled: memory=x2,max=32Gi.\nThe containers that ran out of memory get more than they had. Such retries are counted separately, and are at most as many.")
	flags.BoolVar(&o.remove, "rm", false, "Delete the Jobs and their retries at the end.\nThis is whatever the outcome.")
	flags.BoolVar(&o.replace, "replace", false, "First delete Jobs of these names, if they finished.\nWith their pods. With --force, also Jobs that have not finished.")
	flags.StringVar(&o.keep, "keep-evidence", keepFailed, "With --replace, bundle Jobs that are: failed, never.\nThe bundle is a file in the current folder, as of the verb bundle.")
	flags.Lookup("keep-evidence").Annotations = map[string][]string{cmdutil.OnlyWith: {"replace"}}
	flags.StringVar(&o.onCancel, "on-cancel", "", "On Ctrl-C: keep, suspend or delete the Jobs.\nSIGTERM does the same; keep by default, delete with --rm.")
	flags.DurationVar(&o.timeout, "timeout", 0, "How long to wait, e.g. 30s, 5m, 2h.\nFor all Jobs together; there is no limit by default.")
	o.stalled.AddTo(flags, stalledAfter)
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "Print only results, no progress.")
	o.color.AddTo(cmd)
	o.kube.AddTo(cmd)
	must := cmdutil.MustCompleteFlag
	must(cmd, "logs", cmdutil.CompleteWords(logWords()...))
	must(cmd, "keep-evidence", cmdutil.CompleteWords(keepWords()...))
	must(cmd, "on-cancel", cmdutil.CompleteWords(cancelWords()...))
	if err := cmd.MarkFlagFilename("junit", "xml"); err != nil {
		panic("completion of --junit: " + err.Error())
	}
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(flags *pflag.FlagSet, args []string) error {
	if o.onCancel == "" {
		o.onCancel = cancelKeep
		if o.remove {
			o.onCancel = cancelDelete
		}
	}
	err := errors.Join(cmdutil.OneOf("logs", o.logs, logWords()), cmdutil.OneOf("on-cancel", o.onCancel, cancelWords()),
		cmdutil.OneOf("keep-evidence", o.keep, keepWords()),
		o.color.Validate(), o.stalled.Validate())
	o.stalledSet = flags.Changed("fail-if-stalled") || flags.Changed("fail-if-unscheduled")
	if err != nil {
		return err
	}
	switch {
	case o.concurrency < 1:
		return cmdutil.UsageErrorf("--max-log-requests=%d: must be 1 or more", o.concurrency)
	case flags.Changed("keep-evidence") && !o.replace:
		return cmdutil.UsageErrorf("--keep-evidence is for --replace")
	case o.retries < 0:
		return cmdutil.UsageErrorf("--retry=%d: must be 0 or more", o.retries)
	case flags.Changed("on-oom") && o.retries == 0:
		return cmdutil.UsageErrorf("--on-oom is for --retry")
	case flags.Changed("timeout") && o.timeout <= 0:
		return cmdutil.UsageErrorf("--timeout=%s: must be more than 0", o.timeout)
	case flags.Changed("junit") && o.junit == "":
		return cmdutil.UsageErrorf("--junit requires a file name")
	}
	if flags.Changed("on-oom") {
		if err := o.parseOnOOM(); err != nil {
			return err
		}
	}
	return o.manifests.Validate(args)
}

// parseOnOOM parses --on-oom.
func (o *Options) parseOnOOM() (err error) {
	by, isMemory := strings.CutPrefix(o.onOOM, "memory=")
	if !isMemory {
		return cmdutil.UsageErrorf("--on-oom=%s: use memory=x2 or memory=+4Gi,max=32Gi", o.onOOM)
	}
	if o.raise, err = retry.ParseMemoryRaise(by); err != nil {
		return cmdutil.UsageErrorf("--on-oom=%s: %v", o.onOOM, err)
	}
	return nil
}

// complete creates the clients.
func (o *Options) complete() error {
	config, set, err := cmdutil.NewJobSet(o.kube, cmdutil.JobChoice{}, o.ErrOut)
	if err != nil {
		return err
	}
	o.namespace = set.Namespace
	if o.jobs, err = cmdutil.NewJobsClient(config); err != nil {
		return err
	}
	if o.explainer, err = o.NewExplainer(config); err != nil {
		return err
	}
	o.explainer.LogLines = explainedLines
	if o.junit != "" {
		o.explainer.Options.MaxPods = -1
	}
	o.creator, err = o.manifests.Client(false, o.Now)
	return err
}

// Run creates the Jobs and follows them. It makes all checks that need no created Job first.
func (o *Options) Run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	objects, others, err := o.read(ctx)
	if err != nil {
		return err
	}
	if err := o.complete(); err != nil {
		return err
	}
	var report *junit.File
	if o.junit != "" {
		if report, err = junit.Create(o.junit); err != nil {
			return cmdutil.NewUserError(cmdutil.KindOther, err, "cannot write --junit: "+err.Error(), "")
		}
		defer report.Discard()
		defer interrupt.OnExit(ctx, report.Discard)()
	}
	if err := o.checkPermissions(ctx, objects); err != nil {
		return err
	}
	if err := o.creator.CheckControllers(ctx, objects); err != nil {
		return err
	}
	if o.replace {
		if err := o.replaceAll(cmd, objects); err != nil {
			return err
		}
	}
	tasks, err := o.createAll(ctx, objects, others)
	if err != nil {
		return err
	}
	if o.onCancel != cancelKeep { // The Jobs are changed even if the output is blocked for a while.
		_, stop := interrupt.Linger(ctx, blockedTime, o.After)
		defer stop()
	}
	return o.run(ctx, tasks, report)
}
