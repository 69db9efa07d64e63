package pods

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The short form of a cause starts with the part that distinguishes it from others.
func TestShortCauseBeginsWithTheDifference(t *testing.T) {
	main := cause.Exit{Container: "main", ExitCode: 137, Reason: "OOMKilled"}
	for want, c := range map[string]FailureText{
		"":                                   {},
		"exit 137 OOMKilled (main)":          {&cause.Failure{Exit: main}, "Container main exited with code 137 (OOMKilled)"},
		"exit 137 OOMKilled, deleted (main)": {&cause.Failure{Exit: main, Deleting: true}, ""},
		"condition DisruptionTarget":         {&cause.Failure{Condition: "DisruptionTarget"}, ""},
		"Container main was lost":            {nil, "Container main was lost"},
	} {
		assert.Equal(t, c.short(), want)
	}
}
