package status

import (
	"net/http"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// watching starts status -w and waits until its watch is open.
func watching(t *testing.T, api *clitest.API, env cmdutil.Env, args ...string) *clitest.Session {
	t.Helper()
	s := program.Start(t, api, env, append([]string{"status", "-w"}, args...)...)
	clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, func() string { return "no watch: " + s.ErrOut.String() })
	return s
}

func columnStarts(header string) []int {
	var starts []int
	for _, name := range []string{"STATUS", "DONE", "FAILED", "FAILED INDEXES", "TERMINATING", "WHY", "AGE"} {
		starts = append(starts, strings.Index(header, name))
	}
	return starts
}

// With -w, a single Job is a row of the table, too.
// Requirements: CLI-07
func TestWatchOfANamedJobShowsTheTable(t *testing.T) {
	s := watching(t, clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1)), clitest.NewEnv(), "a")
	s.WaitOut("DONE")
	s.Interrupt()
	assert.Equal(t, s.End(), cmdutil.ExitInterrupted)
}

// Requirements: CLI-07
func TestRowsFollowTheirJobs(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1), clitest.SimpleJob("ns1", "bee", 1))
	s := watching(t, api, clitest.NewEnv())
	s.WaitLines(3)
	api.Put(clitest.SimpleJob("ns1", "a", 1)) // no visible change
	api.Put(clitest.SimpleJob("ns1", "a", 2))
	api.Put(clitest.SimpleJob("ns1", "c", 0))
	api.Remove(clitest.SimpleJob("ns1", "bee", 1))
	api.Put(clitest.SimpleJob("ns2", "elsewhere", 0))
	api.Put(clitest.SimpleJob("ns1", "a", 3))
	lines := s.WaitLines(7)
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || s.ErrOut.String() != "" {
		t.Errorf("exit %d, stderr %q", code, s.ErrOut.String())
	}
	if len(lines) != 7 {
		t.Fatalf("%d lines:\n%s", len(lines), s.Out.String())
	}
	for i, want := range []string{"NAME STATUS", "a Running 1/10", "bee Running 1/10", "a Running 2/10", "c Running 0/10", "bee Deleted 1/10", "a Running 3/10"} {
		assert.Equal(t, strings.Join(strings.Fields(lines[i])[:len(strings.Fields(want))], " "), want, i)
		for _, start := range columnStarts(lines[0]) {
			if lines[i][start-1] != ' ' || lines[i][start] == ' ' {
				t.Errorf("line %d is not aligned at %d: %q", i, start, lines[i])
			}
		}
	}
}

// Requirements: CLI-07
func TestExpiredVersionListsAgain(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1), clitest.SimpleJob("ns1", "b", 1))
	s := watching(t, api, clitest.NewEnv(), "--no-headers")
	s.WaitLines(2)
	// During the outage, a changes, b is deleted, c is created, and the history expires.
	api.SetRefuse(func(*http.Request) *clitest.Status {
		return &clitest.Status{Code: 503, Reason: "ServiceUnavailable", Message: "starting"}
	})
	api.DropWatches()
	s.WaitErr("Requests to the API server fail, retrying: the API server answered: starting")
	api.Put(clitest.SimpleJob("ns1", "a", 2))
	api.Remove(clitest.SimpleJob("ns1", "b", 1))
	api.Put(clitest.SimpleJob("ns1", "c", 0))
	api.Expire()
	api.SetRefuse(nil)
	lines := s.WaitLines(5)
	s.Interrupt()
	assert.Equal(t, s.End(), cmdutil.ExitInterrupted)
	for i, want := range []string{"a Running 1/10", "b Running 1/10", "b Deleted 1/10", "a Running 2/10", "c Running 0/10"} {
		assert.Equal(t, strings.Join(strings.Fields(lines[i])[:3], " "), want, i)
	}
	assert.Equal(t, len(lines), 5, s.Out.String(), "rows are printed twice")
}

// An interruption while the connection is lost does not report that it is restored.
// Requirements: CLI-07
func TestFollowInterruptedWhileLost(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := watching(t, api, clitest.NewEnv())
	api.Stop()
	s.WaitErr("Lost")
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || strings.Contains(s.ErrOut.String(), "back") {
		t.Errorf("exit %d, stderr %q", code, s.ErrOut.String())
	}
}

func TestFollowShowsTheNamedJobsOnly(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1), clitest.SimpleJob("ns1", "b", 1), clitest.SimpleJob("ns1", "c", 1))
	s := watching(t, api, clitest.NewEnv(), "a", "c", "late", "-o", "name")
	s.WaitErr(`"late"`)
	api.Put(clitest.SimpleJob("ns1", "b", 2))
	api.Put(clitest.SimpleJob("ns1", "late", 0))
	api.Put(clitest.SimpleJob("ns1", "c", 2))
	s.WaitLines(4)
	s.Interrupt()
	assert.Equal(t, s.End(), cmdutil.ExitInterrupted)
	if got, want := s.Out.String(), "job.batch/a\njob.batch/c\njob.batch/late\njob.batch/c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFollowMissingJobEnds(t *testing.T) {
	got := program.Run(t, clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1)), "status", "-w", "missing")
	if got.Code != cmdutil.ExitError || cmdutil.KindOf(got.Err) != cmdutil.KindNotFound || got.Out != "" {
		t.Errorf("exit %d, kind %s, stdout %q", got.Code, cmdutil.KindOf(got.Err), got.Out)
	}
}

func TestFollowedObjectsAreWritten(t *testing.T) {
	api := clitest.NewAPI(t)
	for _, format := range []string{"json", "yaml"} {
		s := program.Start(t, api, clitest.NewEnv(), "status", "-w", "-o", format)
		clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, s.ErrOut.String)
		api.Put(clitest.SimpleJob("ns1", "a-"+format, 1))
		s.WaitOut("a-" + format)
		job := clitest.SimpleJob("ns1", "a-"+format, 1)
		job.SetAnnotations(map[string]string{"seen": "yes"}) // invisible in a table
		api.Put(job)
		s.WaitOut("seen")
		s.Interrupt()
		s.End()
		if got := strings.Count(s.Out.String(), "kind"); got < 2 || strings.Contains(s.Out.String(), "List") {
			t.Errorf("%s: %d objects in %s", format, got, s.Out.String())
		}
	}
}
