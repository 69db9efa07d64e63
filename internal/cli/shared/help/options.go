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

// outputFlags returns the flags that belong to --output, and are the same in all verbs.
func outputFlags() []string {
	return []string{"allow-missing-template-keys", "field-manager", "show-managed-fields", "template"}
}

// isGlobal reports whether the help of verbs omits a flag.
func isGlobal(f *pflag.Flag) bool {
	return GroupOf(f) == KubectlFlags || f.Name == "help" || slices.Contains(outputFlags(), f.Name)
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
			_, err := io.WriteString(cmd.OutOrStdout(), globalFlags(root))
			return err
		},
	}
}

func globalFlags(root *cobra.Command) string {
	groups, seen := map[FlagGroup][]*pflag.Flag{}, map[string]bool{"help": true}
	EachCommand(root, func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if isGlobal(f) && !f.Hidden && !seen[f.Name] {
				seen[f.Name] = true
				groups[GroupOf(f)] = append(groups[GroupOf(f)], f)
			}
		})
	})
	var b strings.Builder
	fmt.Fprintln(&b, "  -h, --help  Show the help of a command.")
	inFull().write(&b, "Of commands that talk to a cluster, as in kubectl", byName(groups[KubectlFlags]))
	inFull().write(&b, "Of commands that print or create objects", byName(groups[OwnFlags]))
	return b.String()
}

func byName(flags []*pflag.Flag) []*pflag.Flag {
	slices.SortFunc(flags, func(a, b *pflag.Flag) int { return strings.Compare(a.Name, b.Name) })
	return flags
}
