// Package demo implements the verb demo: a simulated cluster in the interactive view.
package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/text"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const demoLong = `See the interactive view at work, without a cluster.

Eight Jobs run in a simulation in your terminal, in real time, with this
program's controller, and have done so for 50 seconds already: one is ended by a
named failure rule, one fails some of its indexes, one waits for a terminating
pod, one completes early by a successPolicy, one backs off, one has 3,000
indexes, one finds no node, and one is suspended. Nothing is read from or
created in any cluster.

Keys: Enter opens a Job, e explains it, R retries it, 1 to 6 show its indexes,
policies, failures, pods and timeline, ? shows all keys, and q quits.

Without a terminal, the simulation runs to its end at once, and the command
prints how the Jobs ended.`

const demoExample = `  # Watch eight Jobs for a few minutes
  kubectl batchjob demo

  # How they end, as text
  kubectl batchjob demo --interactive=false`

// begunAgo is the simulated time that has passed when the view opens: some Jobs have failed by then, and most still
// run.
const begunAgo = 50 * time.Second

// limit is the virtual time that passes without a terminal. All Jobs that can end have ended then.
const limit = 15 * time.Minute

// selected is the Job under the cursor at first, and coach a hint at what to do first.
const (
	selected  = "montecarlo"
	firstHint = "enter: the map of montecarlo · e: why some of it failed · ?: all keys"
)

// Options are the flags of the demo verb.
type Options struct {
	cmdutil.Env
	color       cmdutil.ColorFlag
	interactive view.InteractiveFlag
}

// NewCommand returns the command demo, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env}
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   "See the interactive view at work, without a cluster",
		Long:    demoLong,
		Example: demoExample,
		Args:    cmdutil.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.color.Validate(); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	o.interactive.AddTo(cmd)
	o.color.AddTo(cmd)
	return cmd
}

// Run shows the simulation until the user quits.
func (o *Options) Run(ctx context.Context) error {
	source, err := NewSource(o.Now, func(ctx context.Context, d time.Duration) error { return o.Timing().Pause(ctx, d, nil) }, begunAgo)
	if err != nil {
		return err
	}
	if !o.interactive.Possible(o.IOStreams) {
		return o.print(source)
	}
	v := view.Viewer{Env: o.Env, Display: o.color.Display(o.Env)}
	return v.ShowSimulation(ctx, source, types.NamespacedName{Namespace: sim.Namespace, Name: selected}, firstHint)
}

// print prints how all Jobs end.
func (o *Options) print(source *Source) error {
	reports := source.runToEnd(limit)
	fmt.Fprintf(o.ErrOut, "Simulated without a cluster: %s of virtual time.\n", wording.Duration(limit))
	options := o.color.TextOptions(o.Env, false)
	options.Again = "kubectl batchjob demo, on a terminal"
	return text.Explanations(o.Out, analysis.List(reports), options)
}
