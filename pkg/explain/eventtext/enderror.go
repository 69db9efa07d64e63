package eventtext

import (
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// EndErrorIn returns the error in the termination message of a container that ended.
func EndErrorIn(c *input.Container) *meaning.KnownError {
	if input.IsStartFailure(c.Reason) {
		return meaning.StartErrorIn(c.Message)
	}
	return meaning.KnownErrorIn(c.ExitCode, c.Message)
}
