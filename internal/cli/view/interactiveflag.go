package view

import (
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// InteractiveFlag is --interactive.
type InteractiveFlag struct {
	wanted bool
	noted  sync.Once
}

// AddTo adds the flag to a command.
func (f *InteractiveFlag) AddTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wanted, "interactive", true, "Open the interactive view if stdin and stdout are a terminal; --interactive=false prints instead.")
}

// Possible reports whether there is a terminal for the interactive view. It prints a note if there is one that cannot
// show it.
func (f *InteractiveFlag) Possible(streams genericiooptions.IOStreams) bool {
	if !f.wanted || !onTerminal(streams.In) || !onTerminal(streams.Out) {
		return false
	}
	if os.Getenv("TERM") == "dumb" {
		f.noted.Do(func() {
			fmt.Fprintln(streams.ErrOut, "No interactive view, because TERM is dumb: printing plain text instead.")
		})
		return false
	}
	return true
}

func onTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
