package view

import (
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// InteractiveFlag is --interactive.
type InteractiveFlag struct {
	wanted bool
}

// AddTo adds the flag to a command.
func (f *InteractiveFlag) AddTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wanted, "interactive", true, "Open the interactive view if stdin and stdout are a terminal; --interactive=false prints instead.")
}

// Possible reports whether there is a terminal for the interactive view.
func (f *InteractiveFlag) Possible(streams genericiooptions.IOStreams) bool {
	return f.wanted && onTerminal(streams.In) && onTerminal(streams.Out) && os.Getenv("TERM") != "dumb"
}

func onTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
