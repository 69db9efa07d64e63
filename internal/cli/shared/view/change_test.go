package view

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Z suspends a Job and ctrl+d deletes it, after a confirmation, and only the Job that was shown.
// Requirements: VIE-09
func TestViewChangesJobs(t *testing.T) {
	for _, tc := range []struct{ keys, write, body, review string }{
		{"Z", "PATCH jobs/train", `"suspend":true`, "ns1 patch jobs"},
		{"\x04", "DELETE jobs/train", `"propagationPolicy":"Background"`, "ns1 delete jobs"},
	} {
		job := clitest.SimpleJob("ns1", "train", 1)
		job.SetUID("uid-of-train")
		api := newWritable(t, job)
		s := startView(t, api)
		s.pressUntil(tc.keys, func() bool { return len(api.reviewed()) > 0 })
		if got := api.written(); got != nil {
			t.Errorf("without a confirmation, it wrote %v", got)
		}
		s.pressUntil("y", func() bool { return len(api.written()) > 0 })
		s.end()
		if got := strings.Join(api.written(), ", "); got != tc.write {
			t.Errorf("it wrote %s, want %s", got, tc.write)
		}
		if got := api.bodies[0]; !strings.Contains(got, "uid-of-train") || !strings.Contains(got, tc.body) {
			t.Errorf("it sent %s", got)
		}
		if got := api.reviewed()[0]; got != tc.review {
			t.Errorf("it asked for %s", got)
		}
	}
}

// Requirements: VIE-09
func TestReadOnlyViewChangesNothing(t *testing.T) {
	api := newWritable(t, clitest.SimpleJob("ns1", "train", 1))
	s := startView(t, api, "--read-only")
	s.pressUntil("\r", func() bool { return api.requests("metadata.name%3Dtrain") > 0 })
	s.press("Zy\x04y\x7fZy\x04y")
	s.end()
	if api.reviewed() != nil || api.written() != nil {
		t.Errorf("it asked for %v, and wrote %v", api.reviewed(), api.written())
	}
}
