package cmdutil

import (
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/internal/serverclock"
)

// Env holds everything that verbs get from the outside world besides their flags.
type Env struct {
	genericiooptions.IOStreams

	Now    func() time.Time
	Server *serverclock.Clock // set by answers of the API server; nil if Now does not depend on them
	Retry  feed.Retry         // after the connection is lost

	Terminal func(io.Writer) int                                       // columns, 0 for none; nil asks the system
	Ticker   func(time.Duration) (beats <-chan time.Time, stop func()) // nil for time's own
	Timer    func(d time.Duration, fire func()) (stop func())          // nil for time's own
}

// NewEnv returns the Env of a process.
func NewEnv(streams genericiooptions.IOStreams) Env {
	clock := serverclock.New(time.Now)
	return Env{
		IOStreams: streams,
		Now:       clock.Now,
		Server:    clock,
		Retry:     feed.Retry{First: 500 * time.Millisecond, Max: 10 * time.Second, RefusalGrace: 30 * time.Second, Patience: 3 * time.Second},
	}
}

// Editor returns the command that opens a file for editing, chosen as by kubectl.
func Editor() []string {
	for _, name := range []string{"KUBE_EDITOR", "EDITOR"} {
		if command := strings.Fields(os.Getenv(name)); len(command) > 0 {
			return command
		}
	}
	return []string{"vi"}
}
