package view

import (
	"fmt"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// InteractiveFlag is --interactive, and --read-only.
type InteractiveFlag struct {
	wanted   bool
	readOnly bool
	noted    sync.Once
}

// AddTo adds the flags to a command.
func (f *InteractiveFlag) AddTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wanted, "interactive", true, "Open the interactive view if stdin and stdout are a terminal; --interactive=false prints instead.")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "Leave out the key of the interactive view that writes to the cluster (R, retry).")
}

// Viewer returns the view that the flags ask for.
func (f *InteractiveFlag) Viewer(env cmdutil.Env, display cmdutil.Display) *Viewer {
	return &Viewer{Env: env, Display: display, ReadOnly: f.readOnly}
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
