package version

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// Options are the flags of the version verb.
type Options struct {
	genericiooptions.IOStreams
	output string
}

func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{IOStreams: env.IOStreams}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Long:  "Print the version of this program, its Git commit, Go version and platform.\nThe cluster is not asked.",
		Example: `  # For a person
  kubectl batchjob version

  # For a script
  kubectl batchjob version -o json`,
		Args:              cmdutil.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := o.Validate(); err != nil {
				return err
			}
			return o.Run(cmdutil.CurrentVersion())
		},
	}
	cmd.Flags().Bool("client", true, "Of this program only. It is always so, and there for those who are used to it.")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "Output format. One of: (json, yaml).")
	cmdutil.MustCompleteFlag(cmd, "output", cobra.FixedCompletions(versionFormats(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func versionFormats() []string { return []string{"json", "yaml"} }

// Validate checks the flags.
func (o *Options) Validate() error {
	switch o.output {
	case "", "json", "yaml":
		return nil
	}
	return cmdutil.UnknownOutput(o.output, versionFormats())
}

// Run prints info.
func (o *Options) Run(info cmdutil.VersionInfo) error {
	if o.output != "" {
		return cmdutil.WriteDocument(o.Out, o.output, info)
	}
	return writeVersion(o.Out, info)
}

func writeVersion(w io.Writer, info cmdutil.VersionInfo) error {
	_, err := fmt.Fprintf(w, "Version:    %s\nGit commit: %s\nGo version: %s\nPlatform:   %s\n",
		info.Version, info.GitCommit, info.GoVersion, info.Platform)
	return err
}
