package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the auth providers of kubeconfigs
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

const rootLong = `See what Kubernetes Jobs are doing and why, and run the external controller for
Jobs whose spec.managedBy names it.

The reading commands work for every batch/v1 Job, whoever runs it, and need no
more than get, list and watch.

Exit codes:
  0    done
  1    error
  2    wrong usage
  3    a Job that was waited for has failed
  124  timeout
  130  interrupted (Ctrl-C)`

const rootExample = `  # All Jobs of the current namespace
  kubectl batchjob status

  # Follow one Job until Ctrl-C
  kubectl batchjob status my-job --watch

  # Every Job of the cluster, with its reason, images and index lists
  kubectl batchjob status -A -o wide`

// environment is what verbs take from the outside world beside their flags and streams.
type environment struct {
	now   func() time.Time
	retry feed.Retry // of a lost connection

	terminal func(io.Writer) int                                       // columns, 0 for none; nil asks the system
	ticker   func(time.Duration) (beats <-chan time.Time, stop func()) // nil for time's own
	timer    func(d time.Duration, fire func()) (stop func())          // nil for time's own
}

func realEnvironment() environment {
	return environment{
		now:   time.Now,
		retry: feed.Retry{First: 500 * time.Millisecond, Max: 10 * time.Second, RefusalGrace: 30 * time.Second},
	}
}

// SilenceLibraries keeps client-go from logging what it returns as an error too; the controller turns its log on again.
// It is for a process that has just begun.
func SilenceLibraries() { klog.SetLogger(logr.Discard()) }

// Execute runs the command line. The returned error is for PrintError and ExitCode; it has not been printed. When ctx
// is cancelled, verbs that do not end by themselves stop.
func Execute(ctx context.Context, args []string, streams genericiooptions.IOStreams) error {
	return execute(ctx, args, streams, realEnvironment())
}

func execute(ctx context.Context, args []string, streams genericiooptions.IOStreams, env environment) error {
	root := newRootCommand(streams, env)
	// cobra's own errors have no type of their own: whatever happens before a verb starts is wrong usage.
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return nil
	}
	if !started {
		err = usageErrorf("%v", err)
	}
	return withUsageHint(explainError(err), cmd)
}

func withUsageHint(err error, cmd *cobra.Command) error {
	var usage *userError
	if errors.As(err, &usage) && usage.kind == kindUsage && usage.hint == "" {
		return newUserError(kindUsage, usage.cause, usage.what, "see: "+cmd.CommandPath()+" --help")
	}
	return err
}

func newRootCommand(streams genericiooptions.IOStreams, env environment) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-batchjob",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl batchjob"},
		Short:         "Show, explain and run Kubernetes Jobs",
		Long:          rootLong,
		Example:       rootExample,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.AddCommand(
		newStatusCommand(streams, env),
		newExplainCommand(streams, env),
		newWaitCommand(streams, env),
		newLogsCommand(streams, env),
		newWatchCommand(streams, env),
		newCreateCommand(streams),
		newLintCommand(streams),
		newSimulateCommand(streams, env),
		newControllerCommand(streams),
		newVersionCommand(streams),
	)
	finishHelp(root)
	return root
}

// noSuchCommand accepts no arguments: what is left over is a verb that does not exist.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		return usageErrorf("unknown command %q, did you mean %s", args[0], strings.Join(similar, " or "))
	}
	return usageErrorf("unknown command %q", args[0])
}
