// Package simulate implements the verb simulate: it runs a Job in a virtual cluster.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/jobsource"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim/simevents"
)

const simulateLong = `Try out the Job in a manifest without a cluster: it runs in a virtual cluster
where hours pass in milliseconds, and its outcome is explained.

Pods run for a second and succeed, unless --pods says otherwise:
  index=3, attempt=1        only these pods; an index may be a range such as 3-7
  exit=42, container=main   the exit code, only of this container if it is named
  sidecars=137              the exit code of native sidecars when the pod ends
  run=10m, terminate=30s    how long it runs, also after it is deleted
  disrupted                 the cluster evicts the pod`

// simulateDetails is text for the reference only.
const simulateDetails = `The Job runs with this program's controller, and its outcome is explained as by
why. So you can try out a podFailurePolicy, a successPolicy or a limit before it
matters. Failure rules may have names, as in create. Nothing is created in any
cluster.

If the manifests have several Jobs, name the one to try out. A CronJob has one,
and a JobSet those that it creates, such as train-workers-0.

In --pods, attempt=1 is the first pod of each index, or of the Job. With
container=main, the other containers exit with 0; it may be an init container,
which otherwise succeeds at once, or a sidecar, which otherwise runs until the
pod ends. An evicted pod has the condition DisruptionTarget, and exit code 143
unless you set another. If several --pods flags match a pod, the last one
applies, and after it those that name a container.

Pods do what the kubelet would: with restartPolicy OnFailure, containers that
fail are restarted in their pod, at once, and then after 10s, 20s and so on up
to 5m; sidecars always are. Each restart is another attempt of --pods. The pod's
own activeDeadlineSeconds ends it.

A suspended Job is resumed with --resume-after; otherwise nothing runs.

With --from NAME, pods do what those of a Job in the cluster did, attempt
by attempt, see what-if; --pods takes precedence.

However the Job ends, the exit code is 0. It is 2 if a --pods flag matched no
pod, and 124 if the Job is suspended, had not finished when --limit was reached,
or has too many pods: some 130,000, or 16,000 at once.`

const simulateExample = `  # What if every pod exits with 42?
  kubectl batchjob simulate -f job.yaml --pods exit=42

  # Index 3 fails twice, and then succeeds
  kubectl batchjob simulate -f job.yaml --pods index=3,exit=1 \
    --pods index=3,attempt=3

  # Is a preempted pod retried?
  kubectl batchjob simulate -f job.yaml --pods attempt=1,disrupted

  # What if the pods do what those of yesterday's Job did?
  kubectl batchjob simulate -f job.yaml --from train`

// Options are the flags of the simulate verb.
type Options struct {
	cmdutil.Env
	manifests manifests.InputFlags
	color     cmdutil.ColorFlag
	pods      []string
	limit     time.Duration
	resume    time.Duration
	resumes   bool // --resume-after was given
	output    cmdutil.DocumentFlag
	full      bool

	source    jobsource.Source // of the pods' behavior
	podsFlags []*podsFlag
	name      string // of the Job, "" for the only one
}

// NewCommand returns the command simulate, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env}
	cmd := &cobra.Command{
		Use:               "simulate -f FILE [NAME]",
		Short:             "Try out a Job without a cluster",
		Long:              simulateLong,
		Example:           simulateExample,
		Annotations:       cmdutil.Details(simulateDetails),
		ValidArgsFunction: o.completeName,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.resumes = cmd.Flags().Changed("resume-after")
			if err := o.Validate(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	o.manifests.AddTo(cmd)
	flags.StringArrayVar(&o.pods, "pods", nil, "What pods do, see above; may be repeated.")
	o.source = jobsource.Source{Env: o.Env, Kube: o.KubeFlags(), Flag: "--from"}
	flags.StringVar(&o.source.Name, "from", "", "Job, or file of one, whose pods show what pods do.\nThe file is a bundle, or a recording of watch --record.")
	o.source.Kube.AddTo(cmd)
	jobs := cmdutil.CompleteJobs(o.source.Kube, func() bool { return false })
	cmdutil.MustCompleteFlag(cmd, "from", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return jobs(cmd, nil, toComplete)
	})
	flags.DurationVar(&o.limit, "limit", 24*time.Hour, "How much virtual time may pass.")
	flags.DurationVar(&o.resume, "resume-after", 0, "Resume a suspended Job after this time, e.g. 5s.")
	o.output.AddTo(cmd)
	flags.BoolVar(&o.full, "full", false, "Print everything, lists and tables to their end.")
	o.color.AddTo(cmd)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.output.Validate(); err != nil {
		return err
	}
	if o.limit <= 0 {
		return cmdutil.UsageErrorf("--limit=%s: must be more than 0", o.limit)
	}
	if o.resume < 0 {
		return cmdutil.UsageErrorf("--resume-after=%s: must be 0 or more", o.resume)
	}
	var err error
	if o.podsFlags, err = parsePodsFlags(o.pods); err != nil {
		return err
	}
	if err := o.validatePodsFrom(); err != nil {
		return err
	}
	if len(args) > 1 {
		return cmdutil.UsageErrorf("only one Job can be simulated at a time")
	}
	o.name = strings.Join(args, "")
	if err := o.manifests.Validate(nil); err != nil {
		return err
	}
	return o.color.Validate()
}

// Run simulates the Job and explains it.
func (o *Options) Run(ctx context.Context) error {
	job, err := o.read(ctx)
	if err != nil {
		return err
	}
	if o.resumes && !ptr.Deref(job.Spec.Suspend, false) {
		return cmdutil.UsageErrorf("--resume-after: the Job is not suspended")
	}
	world, given, err := o.simulate(ctx, job)
	if err != nil {
		return err
	}
	options := explain.Options{}
	if o.full || o.output.IsSet() {
		options.MaxPods = -1
	}
	report := analysis.Explain(given, options)
	report.Advice = nil // The pods exist nowhere, so advice and commands would be useless.
	for i := range report.Causes {
		report.Causes[i].Command = ""
	}
	if o.output.IsSet() {
		err = o.output.Write(o.Out, report)
	} else {
		err = o.writeText(report, given.Job.CreationTimestamp.Time)
	}
	return errors.Join(err, o.checkOutcome(world, given.Job))
}

func (o *Options) writeText(report explain.Report, begun time.Time) error {
	fmt.Fprintf(o.ErrOut, "Simulated without a cluster. Virtual time starts at %s.\n", begun.UTC().Format(time.RFC3339))
	if o.full {
		return text.Explanation(o.Out, report, o.color.TextOptions(o.Env, true))
	}
	return text.Short(o.Out, report, o.color.TextOptions(o.Env, false))
}

const (
	// maxCompletions is the maximum number of completions of a Job that is simulated to its end. A pod takes five
	// writes: it is created, starts, ends, is recorded, and is collected. A Job with more completions is simulated
	// only for fewWrites writes, which take a few seconds.
	maxCompletions = 100_000
	maxWrites      = 8 * maxCompletions
	fewWrites      = 64_000
	// succeededPods is the number of succeeded pods that are kept for the explanation, and maxPods the maximum number
	// of pods at once: they take 200 MB.
	succeededPods = 5_000
	maxPods       = 16_000
	// memoryLimit is the heap size in bytes from which garbage is collected more often. With half of it, 100,000
	// indexes take a fifth longer.
	memoryLimit = 150 << 20
)

// simulate advances virtual time until the Job has finished, or the limit is reached.
func (o *Options) simulate(ctx context.Context, job *batchv1.Job) (*sim.World, input.Input, error) {
	o.LimitMemory(memoryLimit)
	pods, err := o.behavior(ctx, job)
	if err != nil {
		return nil, input.Input{}, err
	}
	var world *sim.World
	events := simevents.New(func() time.Time { return world.Now() })
	writes := maxWrites
	if ptr.Deref(job.Spec.Completions, 1) > maxCompletions {
		writes = fewWrites
	}
	world = sim.NewWorld(sim.Options{Seed: 1, MaxWrites: writes, SucceededPods: succeededPods, MaxPods: maxPods, Controller: controller.Config{Recorder: events}})
	if err := world.Play(job, pods); err != nil {
		return nil, input.Input{}, cmdutil.NewUserError(cmdutil.KindOther, err, "the API server would reject the Job: "+err.Error(), "see: kubectl batchjob lint --help")
	}
	if o.resumes {
		world.Resume(job.Name, o.resume)
	}
	world.RunUntil(func() bool {
		return ctx.Err() != nil || world.Finished(job.Name) || !o.resumes && world.Suspended(job.Name)
	}, o.limit)
	if ctx.Err() != nil {
		return nil, input.Input{}, ctx.Err()
	}
	stored := world.Store.Job(job.Name)
	given := input.Input{
		Now: world.Now(), OurName: controller.DefaultManagedBy, Job: stored, PodsRead: true, EventsRead: true,
		Lease: &input.Lease{Holder: "the simulation", Renewed: world.Now(), Duration: time.Minute},
	}
	for _, pod := range world.Store.PodsOf(stored.UID) {
		given.Pods = append(given.Pods, input.PodOf(pod))
	}
	for _, event := range events.Of(job.Name) {
		given.Events = append(given.Events, input.EventOf(&event))
	}
	return world, given, nil
}
