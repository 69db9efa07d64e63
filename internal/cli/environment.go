package cli

import (
	"io"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
)

// environment is what verbs take from the outside world beside their flags.
type environment struct {
	genericiooptions.IOStreams

	now   func() time.Time
	retry feed.Retry // of a lost connection

	terminal func(io.Writer) int                                       // columns, 0 for none; nil asks the system
	ticker   func(time.Duration) (beats <-chan time.Time, stop func()) // nil for time's own
	timer    func(d time.Duration, fire func()) (stop func())          // nil for time's own
}

// newEnvironment returns that of a process.
func newEnvironment(streams genericiooptions.IOStreams) environment {
	return environment{
		IOStreams: streams,
		now:       time.Now,
		retry:     feed.Retry{First: 500 * time.Millisecond, Max: 10 * time.Second, RefusalGrace: 30 * time.Second},
	}
}
