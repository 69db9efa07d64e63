package cli

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// hangingVerbs are command lines of all verbs that send requests and do not follow Jobs, with the first request. FILE is a
// manifest of another Job.
var hangingVerbs = []struct{ args, request string }{
	{"status", `list jobs in namespace "ns1"`},
	{"status train", `get job "train" in namespace "ns1"`},
	{"status cronjob/nightly", `list jobs in namespace "ns1"`},
	{"status -A", "list jobs in all namespaces"},
	{"why train", `get job "train" in namespace "ns1"`},
	{"why", `list jobs in namespace "ns1"`},
	{"what-if train --set backoffLimit=5", `get job "train" in namespace "ns1"`},
	{"logs train", `get job "train" in namespace "ns1"`},
	{"logs train -f", `get job "train" in namespace "ns1"`},
	{"logs pod/train-a", `get pod "train-a" in namespace "ns1"`},
	{"bundle train -f -", `get job "train" in namespace "ns1"`},
	{"watch train --plain", `get job "train" in namespace "ns1"`},
	{"create -f FILE", `create jobs in namespace "ns1"`},
	{"clean", `list jobs in namespace "ns1"`},
	{"clean train --yes --cascade=background", `get job "train" in namespace "ns1"`},
	{"retry train", `get job "train" in namespace "ns1"`},
	{"simulate -f FILE --from train", `get job "train" in namespace "ns1"`},
}

// silentVerbs send no requests, or report in another way that the API server is silent: wait, and verbs that follow Jobs, see
// TestFollowingReportsASilentServer. run does without its first requests, see TestRunOnASilentServer.
var silentVerbs = []string{"run", "version", "lint", "demo", "wait", "controller", "options", "completion", "help"}

// hanging runs a verb on an API server that hangs from its request number before+1 on, counted from 0.
type hanging struct {
	*clitest.Session
	t     *testing.T
	clock *clitest.Clock
	hung  chan struct{}
}

func hang(t *testing.T, args string, before int) *hanging {
	t.Helper()
	api, h := clitest.NewExplained(t), &hanging{t: t, clock: clitest.NewClock(), hung: make(chan struct{})}
	served := make(chan int, 1)
	served <- 0
	api.API.SetRefuse(func(r *http.Request) *clitest.Status {
		n := <-served
		served <- n + 1
		if n == before {
			t.Cleanup(api.API.Hang())
			close(h.hung)
		}
		api.API.Await(r)
		return nil
	})
	env := h.clock.Env()
	env.Backoff.Patience = 3 * time.Second
	file := clitest.WriteManifest(t, strings.ReplaceAll(simpleManifest, "train", "other"))
	h.Session = program.Start(t, api.API, env, strings.Fields(strings.ReplaceAll(args, "FILE", file))...)
	return h
}

// whenEnded returns a channel that gets the exit code when the verb ends.
func (h *hanging) whenEnded() <-chan int {
	ended := make(chan int, 1)
	go func() { ended <- h.End() }()
	return ended
}

// advanceUntil advances the clock until ok returns true.
func (h *hanging) advanceUntil(ok func() bool) {
	h.t.Helper()
	clitest.WaitFor(h.t, func() bool {
		h.clock.Advance(time.Second)
		return ok()
	}, h.ErrOut.String)
}

// Requirements: CLI-70
func TestARequestThatHangsIsReportedAndEnds(t *testing.T) {
	tested := slices.Clone(silentVerbs)
	for _, verb := range hangingVerbs {
		name, _, _ := strings.Cut(verb.args, " ")
		tested = append(tested, name)
		t.Run(verb.args, func(t *testing.T) {
			h := hang(t, verb.args, 0)
			<-h.hung
			for range 15 {
				h.clock.Advance(time.Second)
			}
			_, server, _ := strings.Cut(h.ErrOut.String(), " at ")
			server, _, _ = strings.Cut(server, " to answer")
			notice := fmt.Sprintf("Waiting for the API server at %s to answer: %s\n", server, verb.request)
			if got := h.ErrOut.String(); got != notice {
				t.Fatalf("after 15 s: %q, want %q", got, notice)
			}
			ended := h.whenEnded()
			h.advanceUntil(func() bool { return len(ended) > 0 })
			code, got := <-ended, h.ErrOut.String()
			failure := fmt.Sprintf("no answer from the API server at %s within 1m15s: %s; check the network", server, verb.request)
			if code != cmdutil.ExitError || strings.Count(got, notice) != 1 || !strings.Contains(got, failure) || !strings.Contains(got, "--request-timeout") {
				t.Errorf("exit %d, stderr %q", code, got)
			}
		})
	}
	for _, verb := range NewCommand().Commands() {
		if !slices.Contains(tested, verb.Name()) {
			t.Errorf("what does %s do if the API server hangs?", verb.Name())
		}
	}
}

// Requirements: CLI-70
func TestALaterRequestThatHangsIsReportedAndEnds(t *testing.T) {
	for _, verb := range hangingVerbs {
		for before := 1; before < 4; before++ {
			t.Run(fmt.Sprintf("%s, after %d requests", verb.args, before), func(t *testing.T) {
				h := hang(t, verb.args, before)
				ended := h.whenEnded()
				select {
				case <-ended: // There are no more requests.
					return
				case <-h.hung:
				}
				h.advanceUntil(func() bool { return isReported(h.ErrOut.String()) })
				if strings.HasSuffix(verb.args, "-f") || strings.HasPrefix(verb.args, "watch") { // It waits for the API server.
					h.Interrupt()
				}
				h.advanceUntil(func() bool { return len(ended) > 0 })
				if got := h.ErrOut.String(); strings.Contains(got, "Waiting for") && strings.Contains(got, "No answer") {
					t.Errorf("reported twice: %q", got)
				}
			})
		}
	}
}

func isReported(errOut string) bool {
	return strings.Contains(errOut, "Waiting for the API server at ") || strings.Contains(errOut, "No answer from the API server for ")
}

// A check of a permission that gets no answer is left out, and the creation has a limit of its own.
// Requirements: CLI-70, RUN-14
func TestRunOnASilentServer(t *testing.T) {
	h := hang(t, "run -f FILE", 0)
	ended := h.whenEnded()
	h.advanceUntil(func() bool { return len(ended) > 0 })
	got := h.ErrOut.String()
	if code := <-ended; code != cmdutil.ExitError || !isReported(got) || !strings.Contains(got, "cannot find out whether job.batch/other was created") {
		t.Errorf("exit %d, stderr %q", code, got)
	}
}

// A verb that follows Jobs reports in one way that the API server is silent, also if its first request hangs.
// Requirements: CLI-07, CLI-70
func TestASilentServerIsReportedOnceWhenFollowingBegins(t *testing.T) {
	for _, args := range []string{"wait train", "status -w"} {
		h := hang(t, args, 0)
		ended := h.whenEnded()
		h.advanceUntil(func() bool { return len(ended) > 0 })
		got := h.ErrOut.String()
		if code := <-ended; code != cmdutil.ExitError || strings.Count(got, "No answer from the API server for") != 1 || strings.Contains(got, "Waiting for") {
			t.Errorf("%s: exit %d, stderr %q", args, code, got)
		}
	}
}
