package view

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// N shows the Jobs of all namespaces instead of one, whose watch ends.
// Requirements: VIE-10
func TestViewChangesItsNamespace(t *testing.T) {
	api := newFakeLive(t)
	s := startView(t, api.api)
	s.pressUntil("N", func() bool { return api.requests("GET /api/v1/namespaces?") > 0 })
	s.pressUntil("g\r", func() bool { return api.requests("GET /apis/batch/v1/jobs?") > 0 })
	clitest.WaitFor(t, func() bool {
		return api.watching() == "jobs 1 pods 0 events 0" && api.requests("/apis/batch/v1/jobs?allowWatchBookmarks") > 0
	}, api.watching)
	s.end()
}

// Requirements: VIE-10
func TestNamesThatAreNoneAreRefused(t *testing.T) {
	for _, name := range []string{"a/b", "A", "..", "a b"} {
		live := &Live{connect: nil}
		if _, _, err := live.Namespaces().Open(name); err == nil {
			t.Errorf("%q is opened", name)
		}
	}
	if named := (&Live{choice: cmdutil.JobChoice{Names: []string{"train"}}}); named.Namespaces() != nil {
		t.Error("a view of Jobs by name changes its namespace")
	}
}
