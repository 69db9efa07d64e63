package cmdutil

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Execute runs args on a tree of commands. The returned error is explained, and has not been printed.
func Execute(ctx context.Context, root *cobra.Command, args []string) error {
	// cobra's errors have no type of their own: every error before a verb starts is a usage error.
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
	err = ExplainError(err)
	if usage, is := errors.AsType[*UserError](err); is && usage.kind == KindUsage && usage.Hint == "" {
		return NewUserError(KindUsage, usage.cause, usage.What, "see: "+cmd.CommandPath()+" --help")
	}
	return err
}

// DetailsAnnotation is the annotation for text that the reference adds to a command's help.
const DetailsAnnotation = "batchjob.dev/details"

// Details returns the annotations of a command with text for the reference only, as its help has to fit a screen.
func Details(text string) map[string]string { return map[string]string{DetailsAnnotation: text} }

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

// RunVerb runs another verb after cmd, with the connection flags that cmd was given.
func RunVerb(cmd *cobra.Command, verb string, args ...string) error {
	next, _, err := cmd.Root().Find([]string{verb})
	if err != nil {
		return fmt.Errorf("verb %s: %w", verb, err)
	}
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	NewKubeFlags().AddFlags(connection)
	cmd.Flags().Visit(func(given *pflag.Flag) {
		if connection.Lookup(given.Name) == nil {
			return
		}
		if list, ok := given.Value.(pflag.SliceValue); ok {
			for _, value := range list.GetSlice() {
				args = append(args, "--"+given.Name+"="+value)
			}
			return
		}
		args = append(args, "--"+given.Name+"="+given.Value.String())
	})
	if err := next.ParseFlags(args); err != nil {
		return err
	}
	next.SetContext(cmd.Context())
	return next.RunE(next, next.Flags().Args())
}
