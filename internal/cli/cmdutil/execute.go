package cmdutil

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

// Execute runs args on a tree of commands. The returned error is explained, and has not been printed.
func Execute(ctx context.Context, root *cobra.Command, args []string) error {
	// cobra's own errors have no type of their own: whatever happens before a verb starts is wrong usage.
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return nil
	}
	if !started {
		err = UsageErrorf("%v", err)
	}
	return withUsageHint(ExplainError(err), cmd)
}

func withUsageHint(err error, cmd *cobra.Command) error {
	var usage *UserError
	if errors.As(err, &usage) && usage.kind == KindUsage && usage.Hint == "" {
		return NewUserError(KindUsage, usage.cause, usage.What, "see: "+cmd.CommandPath()+" --help")
	}
	return err
}

// NewRoot returns a root command without verbs.
func NewRoot(env Env) *cobra.Command {
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
