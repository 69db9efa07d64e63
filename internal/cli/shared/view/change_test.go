package view

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Z suspends a Job and ctrl+d deletes it, after a confirmation, and only the Job that was shown.
// Requirements: VIE-09
func TestViewChangesJobs(t *testing.T) {
	for _, tc := range []struct{ keys, write, body, review string }{
		{"Z", "patch train", `"suspend":true`, "ns1 patch jobs"},
		{"\x04", "delete train", `"propagationPolicy":"Background"`, "ns1 delete jobs"},
	} {
		job := clitest.SimpleJob("ns1", "train", 1)
		job.SetUID("uid-of-train")
		api := clitest.NewWrites(t, job)
		s := startView(t, api.API)
		s.pressUntil(tc.keys, func() bool { return len(api.Reviews()) > 0 })
		if got := api.Named(); got != nil {
			t.Errorf("without a confirmation, it wrote %v", got)
		}
		s.pressUntil("y", func() bool { return len(api.Named()) > 0 })
		s.end()
		assert.Equal(t, strings.Join(api.Named(), ", "), tc.write)
		if got := api.Bodies()[0]; !strings.Contains(got, "uid-of-train") || !strings.Contains(got, tc.body) {
			t.Errorf("it sent %s", got)
		}
		assert.Equal(t, api.Reviews()[0], tc.review)
	}
}

// Requirements: VIE-09
func TestReadOnlyViewChangesNothing(t *testing.T) {
	api := clitest.NewWrites(t, clitest.SimpleJob("ns1", "train", 1))
	s := startView(t, api.API, "--read-only")
	s.pressUntil("\r", func() bool { return asked(api, "metadata.name%3Dtrain") })
	s.press("Zy\x04y\x7fZy\x04y")
	s.end()
	if api.Reviews() != nil || api.Named() != nil {
		t.Errorf("it asked for %v, and wrote %v", api.Reviews(), api.Named())
	}
}
