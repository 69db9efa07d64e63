// Package version implements the verb version.
package version

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// Options are the flags of the version verb.
type Options struct {
	genericiooptions.IOStreams
	output cmdutil.DocumentFlag
}

// NewCommand returns the command version, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{IOStreams: env.IOStreams}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Long:  "Print the version of this program, its Git commit, Go version and platform.\nIt does not contact a cluster.",
		Example: `  # For a person
  kubectl batchjob version

  # For a script
  kubectl batchjob version -o json`,
		Args:              cmdutil.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := o.output.Validate(); err != nil {
				return err
			}
			return o.Run()
		},
	}
	cmd.Flags().Bool("client", true, "Accepted as in kubectl version; only the version of this program is ever printed.")
	o.output.AddTo(cmd)
	return cmd
}

// Run prints the version.
func (o *Options) Run() error {
	info := cmdutil.CurrentVersion()
	if o.output.IsSet() {
		return o.output.Write(o.Out, info)
	}
	_, err := fmt.Fprintf(o.Out, "Version:    %s\nGit commit: %s\nGo version: %s\nPlatform:   %s\n",
		info.Version, info.GitCommit, info.GoVersion, info.Platform)
	return err
}
