package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// executeCommand runs args on a tree of commands. The returned error is explained, and has not been printed.
func executeCommand(ctx context.Context, root *cobra.Command, args []string) error {
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

// newRoot returns a root command without verbs.
func newRoot(env environment) *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-batchjob",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl batchjob"},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.ErrOut)
	return root
}
