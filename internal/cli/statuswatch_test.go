package cli

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

// watching starts status -w and waits until its watch is open.
func watching(t *testing.T, api *fakeAPI, env environment, args ...string) *session {
	t.Helper()
	s := program.start(t, api, env, append([]string{"status", "-w"}, args...)...)
	waitFor(t, func() bool { return api.opened() > 0 }, func() string { return "no watch: " + s.errOut.String() })
	return s
}

func columnStarts(header string) []int {
	var starts []int
	for _, name := range []string{"STATUS", "COMPLETIONS", "ACTIVE(READY)", "MANAGED BY", "DURATION"} {
		starts = append(starts, strings.Index(header, name))
	}
	return starts
}

func TestFollow_CLI_07_rows(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "bee", 1))
	s := watching(t, api, testEnvironment())
	s.waitLines(3)
	api.put(simpleJob("ns1", "a", 1)) // nothing visible
	api.put(simpleJob("ns1", "a", 2))
	api.put(simpleJob("ns1", "c", 0))
	api.remove(simpleJob("ns1", "bee", 1))
	api.put(simpleJob("ns2", "elsewhere", 0))
	api.put(simpleJob("ns1", "a", 3))
	lines := s.waitLines(7)
	s.interrupt()
	if code := s.end(); code != exitInterrupted || s.errOut.String() != "" {
		t.Errorf("exit %d, stderr %q", code, s.errOut.String())
	}
	if len(lines) != 7 {
		t.Fatalf("%d lines:\n%s", len(lines), s.out.String())
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

func TestFollow_CLI_07_expiredVersionListsAgain(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "b", 1))
	s := watching(t, api, testEnvironment(), "--no-headers")
	s.waitLines(2)
	// While nobody watches: a changes, b goes, c comes; the history is lost.
	api.setRefuse(func(*http.Request) *fakeStatus { return &fakeStatus{503, "ServiceUnavailable", "starting"} })
	api.dropWatches()
	s.waitErr("lost")
	api.put(simpleJob("ns1", "a", 2))
	api.remove(simpleJob("ns1", "b", 1))
	api.put(simpleJob("ns1", "c", 0))
	api.expire()
	api.setRefuse(nil)
	lines := s.waitLines(5)
	s.interrupt()
	if code := s.end(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	for i, want := range []string{"a Running 1/10", "b Running 1/10", "b Deleted 1/10", "a Running 2/10", "c Running 0/10"} {
		if got := strings.Join(strings.Fields(lines[i])[:3], " "); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}
	if len(lines) != 5 {
		t.Errorf("rows are printed twice:\n%s", s.out.String())
	}
}

func TestFollow_CLI_07_expiredAnswerIsSilent(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	s := watching(t, api, testEnvironment(), "--no-headers")
	s.waitLines(1)
	api.setRefuse(func(r *http.Request) *fakeStatus {
		if r.URL.Query().Get("watch") == "true" && r.URL.Query().Get("resourceVersion") == "101" {
			return &fakeStatus{410, "Expired", "too old"}
		}
		return nil
	})
	api.expire()
	api.dropWatches()
	waitFor(t, func() bool { return api.opened() > 1 }, func() string { return s.errOut.String() })
	api.put(simpleJob("ns1", "a", 2))
	s.waitOut("2/10")
	s.interrupt()
	if code := s.end(); code != exitInterrupted || s.errOut.String() != "" {
		t.Errorf("exit %d, stderr %q", code, s.errOut.String())
	}
}

// hangUp takes so many connections at an address, and ends them without an answer.
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

func TestFollow_CLI_07_serverRestart(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	s := watching(t, api, testEnvironment(), "a", "--no-headers")
	s.waitLines(1)
	api.stop()
	s.waitErr("lost")
	hangUp(t, api.address, 3)
	api.put(simpleJob("ns1", "a", 2))
	api.put(simpleJob("ns1", "other", 2))
	api.start(api.address)
	s.waitErr("back")
	s.waitOut("2/10")
	api.put(simpleJob("ns1", "a", 3))
	s.waitOut("3/10")
	s.interrupt()
	if code := s.end(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	notes := s.errOut.String()
	if strings.Count(notes, "\n") != 2 || strings.Count(notes, "lost") != 1 || strings.Count(notes, "back") != 1 {
		t.Errorf("stderr %q", notes)
	}
	if got := strings.Count(s.out.String(), "\n"); got != 3 {
		t.Errorf("%d rows:\n%s", got, s.out.String())
	}
}

// Leaving while the connection is lost does not bring it back.
func TestFollowInterruptedWhileLost_CLI_07(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	s := watching(t, api, testEnvironment())
	api.stop()
	s.waitErr("lost")
	s.interrupt()
	if code := s.end(); code != exitInterrupted || strings.Contains(s.errOut.String(), "back") {
		t.Errorf("exit %d, stderr %q", code, s.errOut.String())
	}
}

func TestFollowRefusalEnds(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	env := testEnvironment()
	env.retry.RefusalGrace = 0
	s := watching(t, api, env)
	api.setRefuse(func(*http.Request) *fakeStatus { return &fakeStatus{403, "Forbidden", "jobs.batch is forbidden"} })
	api.dropWatches()
	if code := s.end(); code != exitError {
		t.Errorf("exit %d", code)
	}
	if got := s.errOut.String(); !strings.Contains(got, "watch") || !strings.Contains(got, "can-i") {
		t.Errorf("stderr %q", got)
	}
}

func TestFollowRefusalOfStartingServerPasses(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	s := watching(t, api, testEnvironment())
	api.setRefuse(func(*http.Request) *fakeStatus { return &fakeStatus{403, "Forbidden", "RBAC is not ready"} })
	api.dropWatches()
	s.waitErr("lost")
	api.setRefuse(nil)
	s.waitErr("back")
	s.interrupt()
	s.end()
}

func TestFollowSeveralNames(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "b", 1), simpleJob("ns1", "c", 1))
	s := watching(t, api, testEnvironment(), "a", "c", "late", "-o", "name")
	s.waitErr(`"late"`)
	api.put(simpleJob("ns1", "b", 2))
	api.put(simpleJob("ns1", "late", 0))
	api.put(simpleJob("ns1", "c", 2))
	s.waitLines(4)
	s.interrupt()
	if code := s.end(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	if got, want := s.out.String(), "job.batch/a\njob.batch/c\njob.batch/late\njob.batch/c\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFollowMissingJobEnds(t *testing.T) {
	got := program.run(t, newFakeAPI(t, simpleJob("ns1", "a", 1)), "status", "-w", "missing")
	if got.code != exitError || kindOf(got.err) != kindNotFound || got.out != "" {
		t.Errorf("exit %d, kind %s, stdout %q", got.code, kindOf(got.err), got.out)
	}
}

func TestFollowObjects(t *testing.T) {
	api := newFakeAPI(t)
	for _, format := range []string{"json", "yaml"} {
		s := program.start(t, api, testEnvironment(), "status", "-w", "-o", format)
		waitFor(t, func() bool { return api.opened() > 0 }, s.errOut.String)
		api.put(simpleJob("ns1", "a-"+format, 1))
		s.waitOut("a-" + format)
		job := simpleJob("ns1", "a-"+format, 1)
		job.SetAnnotations(map[string]string{"seen": "yes"}) // invisible in a table
		api.put(job)
		s.waitOut("seen")
		s.interrupt()
		s.end()
		if got := strings.Count(s.out.String(), "kind"); got < 2 || strings.Contains(s.out.String(), "List") {
			t.Errorf("%s: %d objects in %s", format, got, s.out.String())
		}
	}
}

func TestFollowRecreatedJobIsNew(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	s := watching(t, api, testEnvironment(), "--no-headers")
	s.waitLines(1)
	again := simpleJob("ns1", "a", 1)
	again.SetUID("another")
	api.put(again)
	s.waitLines(2)
	s.interrupt()
	s.end()
}
