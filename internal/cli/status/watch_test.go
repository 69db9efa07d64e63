package status

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
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
		if got := strings.Join(strings.Fields(lines[i])[:len(strings.Fields(want))], " "); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
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
	if code := s.End(); code != cmdutil.ExitInterrupted {
		t.Errorf("exit %d", code)
	}
	for i, want := range []string{"a Running 1/10", "b Running 1/10", "b Deleted 1/10", "a Running 2/10", "c Running 0/10"} {
		if got := strings.Join(strings.Fields(lines[i])[:3], " "); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	if len(lines) != 5 {
		t.Errorf("rows are printed twice:\n%s", s.Out.String())
	}
}

// Requirements: CLI-07
func TestExpiredAnswerIsSilent(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := watching(t, api, clitest.NewEnv(), "--no-headers")
	s.WaitLines(1)
	api.SetRefuse(func(r *http.Request) *clitest.Status {
		if r.URL.Query().Get("watch") == "true" && r.URL.Query().Get("resourceVersion") == "101" {
			return &clitest.Status{Code: 410, Reason: "Expired", Message: "too old"}
		}
		return nil
	})
	api.Expire()
	api.DropWatches()
	clitest.WaitFor(t, func() bool { return api.Opened() > 1 }, func() string { return s.ErrOut.String() })
	api.Put(clitest.SimpleJob("ns1", "a", 2))
	s.WaitOut("2/10")
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || s.ErrOut.String() != "" {
		t.Errorf("exit %d, stderr %q", code, s.ErrOut.String())
	}
}

// hangUp accepts connections at an address, and closes them without a response.
func hangUp(t *testing.T, address string, connections int) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	for range connections {
		connection, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = connection.Close()
	}
}

// Requirements: CLI-07
func TestFollowSurvivesAServerRestart(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := watching(t, api, clitest.NewEnv(), "a", "--no-headers")
	s.WaitLines(1)
	api.Stop()
	s.WaitErr("Lost")
	hangUp(t, api.Address, 3)
	api.Put(clitest.SimpleJob("ns1", "a", 2))
	api.Put(clitest.SimpleJob("ns1", "other", 2))
	api.Start(api.Address)
	s.WaitErr("Reconnected")
	s.WaitOut("2/10")
	api.Put(clitest.SimpleJob("ns1", "a", 3))
	s.WaitOut("3/10")
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted {
		t.Errorf("exit %d", code)
	}
	notes := s.ErrOut.String()
	if strings.Count(notes, "\n") != 2 || strings.Count(notes, "Lost") != 1 || strings.Count(notes, "Reconnected") != 1 {
		t.Errorf("stderr %q", notes)
	}
	if got := strings.Count(s.Out.String(), "\n"); got != 3 {
		t.Errorf("%d rows:\n%s", got, s.Out.String())
	}
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

// impatient returns an environment in which Jobs that may not be watched are reread immediately.
func impatient() cmdutil.Env {
	env := clitest.NewEnv()
	env.Ticker = func(d time.Duration) (<-chan time.Time, func()) {
		beats := make(chan time.Time, 1)
		if d == feed.UnwatchedRetry {
			beats <- env.Now()
		}
		return beats, func() {}
	}
	return env
}

func TestFollowRefusalEnds(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	env := impatient()
	env.Backoff.RefusalGrace = 0
	s := watching(t, api, env)
	api.SetRefuse(func(*http.Request) *clitest.Status {
		return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "jobs.batch is forbidden"}
	})
	api.DropWatches()
	if code := s.End(); code != cmdutil.ExitError {
		t.Errorf("exit %d", code)
	}
	if got := s.ErrOut.String(); !strings.Contains(got, "watch") || !strings.Contains(got, "can-i") {
		t.Errorf("stderr %q", got)
	}
}

func TestFollowRefusalOfStartingServerPasses(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := watching(t, api, impatient())
	api.SetRefuse(func(*http.Request) *clitest.Status {
		return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "RBAC is not ready"}
	})
	api.DropWatches()
	s.WaitErr("Requests to the API server fail, retrying: you may not list jobs")
	api.SetRefuse(nil)
	s.WaitErr("Requests to the API server succeed again.")
	s.Interrupt()
	s.End()
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
	if code := s.End(); code != cmdutil.ExitInterrupted {
		t.Errorf("exit %d", code)
	}
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

func TestFollowRecreatedJobIsNew(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := watching(t, api, clitest.NewEnv(), "--no-headers")
	s.WaitLines(1)
	again := clitest.SimpleJob("ns1", "a", 1)
	again.SetUID("another")
	api.Put(again)
	s.WaitLines(2)
	s.Interrupt()
	s.End()
}
