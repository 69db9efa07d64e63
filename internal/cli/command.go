package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// NewCommand returns the tree of all commands, for those who describe it. It reads and writes nothing.
func NewCommand() *cobra.Command {
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
	return newRootCommand(newEnvironment(streams))
}

// Verbs returns the commands of root in the order of its help, group by group.
func Verbs(root *cobra.Command) (verbs []*cobra.Command) {
	for _, group := range append(root.Groups(), &cobra.Group{}) {
		for _, verb := range inOrder(root, group.Title) {
			if verb.GroupID == group.ID && verb.IsAvailableCommand() {
				verbs = append(verbs, verb)
			}
		}
	}
	return verbs
}
