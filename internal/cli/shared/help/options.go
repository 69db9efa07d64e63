package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// optionsName is the command that lists the flags which the help of other commands omits.
const optionsName = "options"

// isGlobal reports whether the help of verbs omits a flag: it is the same in all verbs.
func isGlobal(f *pflag.Flag) bool {
	ofOutput := []string{"allow-missing-template-keys", "color", "field-manager", "show-managed-fields", "template", "validate"}
	return GroupOf(f) == KubectlFlags || f.Name == "help" || slices.Contains(ofOutput, f.Name)
}

// newOptions returns the command that lists the global flags of all commands below root.
func newOptions(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:                   optionsName,
		Short:                 "List the flags that most commands have",
		Long:                  "List the flags that most commands have. Their help leaves them out.",
		Example:               "  kubectl batchjob options",
		DisableFlagsInUseLine: true,
		Args:                  cobra.NoArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			kubectl, output := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
			EachCommand(root, func(cmd *cobra.Command) {
				cmd.Flags().VisitAll(func(f *pflag.Flag) {
					group := output
					if GroupOf(f) == KubectlFlags {
						group = kubectl
					}
					if isGlobal(f) && !f.Hidden && f.Name != "help" && group.Lookup(f.Name) == nil {
						group.AddFlag(f)
					}
				})
			})
			var b strings.Builder
			fmt.Fprintln(&b, "  -h, --help  Show the help of a command.")
			writeFlagList(&b, "Of commands that talk to a cluster, as in kubectl", kubectl, false)
			writeFlagList(&b, "Of commands that print or create objects", output, false)
			_, err := io.WriteString(cmd.OutOrStdout(), b.String())
			return err
		},
	}
}
