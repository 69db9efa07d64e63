package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the auth providers of kubeconfigs
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/clean"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/controller"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/create"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/demo"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/explain"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/lint"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/logs"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/retry"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/run"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/help"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/simulate"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/status"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/version"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/wait"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/watch"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/whatif"
)

const rootLong = `See what Kubernetes Jobs do, why they fail, and rerun what failed, whatever
controller runs them. To begin with:

  kubectl batchjob status       the Jobs of the namespace, and why they fail
  kubectl batchjob why [NAME]   why a Job fails or is stalled, and what to do
  kubectl batchjob watch        an interactive view of the Jobs
  kubectl batchjob demo         the same view of a simulation, without a cluster

Commands that only read need no permissions but get, list and watch.`

const rootExample = `  # What has failed or is stalled, and why?
  kubectl batchjob why

  # Read the logs of failed pods, and run only what failed again
  kubectl batchjob logs train --failed
  kubectl batchjob retry train`

// exitCodes is printed at the end of the help.
const exitCodes = `
Exit codes: 0 done, 1 error, 2 wrong usage, 3 a Job that was waited for has
failed, 4 it is stalled, 124 timeout, 130 Ctrl-C, 143 SIGTERM
`

// SilenceLibraries keeps client-go from logging errors that it also returns; the controller turns its log on again.
// It must be called at the start of the process.
func SilenceLibraries() { klog.SetLogger(logr.Discard()) }

// Execute runs the command line. The returned error is for PrintError and ExitCode; it has not been printed. When ctx
// is canceled, verbs that do not end by themselves stop.
func Execute(ctx context.Context, args []string, streams genericiooptions.IOStreams) error {
	return cmdutil.Execute(ctx, newRootCommand(cmdutil.NewEnv(streams)), args)
}

// NewCommand returns the tree of all commands, for generating documentation. It reads and writes nothing.
func NewCommand() *cobra.Command {
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
	return newRootCommand(cmdutil.NewEnv(streams))
}

func newRootCommand(env cmdutil.Env) *cobra.Command {
	root := cmdutil.NewRoot(env)
	root.Short = "Show, explain and run Kubernetes Jobs"
	root.Long, root.Example = rootLong, rootExample
	root.Args = noSuchCommand
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(version.NewCommand(env))
	root.Annotations[help.FooterAnnotation] = exitCodes
	help.Finish(root, []help.Group{
		{Title: "Look at Jobs", Verbs: []*cobra.Command{
			status.NewCommand(env),
			explain.NewCommand(env),
			whatif.NewCommand(env),
			wait.NewCommand(env),
			logs.NewCommand(env),
			watch.NewCommand(env),
			bundle.NewCommand(env),
			demo.NewCommand(env),
		}},
		{Title: "Make Jobs", Verbs: []*cobra.Command{
			create.NewCommand(env),
			run.NewCommand(env),
			retry.NewCommand(env),
			clean.NewCommand(env),
			lint.NewCommand(env),
			simulate.NewCommand(env),
		}},
		{Title: "Run Jobs", Verbs: []*cobra.Command{controller.NewCommand(env)}},
	})
	return root
}

// noSuchCommand accepts no arguments: an argument is the name of a verb that does not exist.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if similar := cmd.SuggestionsFor(args[0]); len(similar) > 0 {
		return cmdutil.UsageErrorf("unknown command %q, did you mean %s", args[0], strings.Join(similar, " or "))
	}
	if hint := kubectlHint(args[0]); hint != "" {
		return cmdutil.UsageErrorf("unknown command %q; %s", args[0], hint)
	}
	return cmdutil.UsageErrorf("unknown command %q", args[0])
}

// kubectlHint returns the kubectl command for a verb that only kubectl has, "" for other verbs.
func kubectlHint(verb string) string {
	switch verb {
	case "delete", "edit", "patch", "label", "annotate":
		return "use: kubectl " + verb + " job NAME"
	case "suspend", "resume":
		return fmt.Sprintf(`use: kubectl patch job NAME -p '{"spec":{"suspend":%t}}'`, verb == "suspend")
	}
	return ""
}
