package view

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// interactiveVariable turns the interactive view off permanently, if it is false.
const interactiveVariable = "BATCHJOB_INTERACTIVE"

// ciVariables are set by CI systems, some of which have a terminal without a user.
var ciVariables = []string{"CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL", "CODEBUILD_BUILD_ID"}

// InteractiveFlag is --interactive, and --read-only.
type InteractiveFlag struct {
	wanted bool
	// given reports whether --interactive is on the command line, where it overrides the environment.
	given    func() bool
	readOnly bool
	noted    sync.Once
}

// AddTo adds the flags to a command.
func (f *InteractiveFlag) AddTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wanted, "interactive", true, "Open the view on a terminal.\nThat is if stdin and stdout are one; --interactive=false, or "+interactiveVariable+"=false in the environment, prints instead.")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "Disable retry, suspend and delete in the view.\nThese are the keys R, Z and ctrl+d.")
	f.given = func() bool { return cmd.Flags().Changed("interactive") }
}

// Viewer returns a Viewer configured by the flags.
func (f *InteractiveFlag) Viewer(env cmdutil.Env, display cmdutil.Display) *Viewer {
	return &Viewer{Env: env, Display: display, ReadOnly: f.readOnly}
}

// Possible reports whether there is a terminal for the interactive view, and a user who may want it. It prints a
// notice if the terminal cannot show it.
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
	return f.given != nil && f.given() || !isSwitchedOff(os.Getenv)
}

// isSwitchedOff reports whether the environment asks for text: by interactiveVariable, or by a variable of a CI
// system.
func isSwitchedOff(environ func(string) string) bool {
	if wanted, err := strconv.ParseBool(environ(interactiveVariable)); err == nil {
		return !wanted
	}
	return slices.ContainsFunc(ciVariables, func(name string) bool {
		value := environ(name)
		set, err := strconv.ParseBool(value)
		return value != "" && (err != nil || set)
	})
}

func onTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
