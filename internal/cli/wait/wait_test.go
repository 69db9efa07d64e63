package wait

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func waiting(t *testing.T, api *clitest.API, args ...string) *clitest.Session {
	t.Helper()
	s := program.Start(t, api, clitest.NewEnv(), append([]string{"wait"}, args...)...)
	clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, func() string { return "no watch: " + s.ErrOut.String() })
	return s
}

// Requirements: CLI-03
func TestWaitReportsJobsThatHaveEnded(t *testing.T) {
	api := clitest.NewAPI(t, clitest.CompleteJob("good"), clitest.CompleteJob("fine"), clitest.FailedJob("bad"), clitest.FailedJob("worse"), clitest.SimpleJob("ns1", "running", 3))
	const good, bad = "job.batch/good Complete in 32s\n", "job.batch/bad Failed: PodFailurePolicy_OOM: rule \"OOM\" of its podFailurePolicy matched, “out of \\x1b[1mmemory”; 1 of 10 pods succeeded\n"
	for _, tc := range []struct {
		args string
		code int
		out  string
		err  string
	}{
		{"good", cmdutil.ExitDone, good, ""},
		{"bad", cmdutil.ExitJobFailed, bad, ""},
		{"good bad", cmdutil.ExitJobFailed, bad + good, ""},
		{"bad good", cmdutil.ExitJobFailed, bad + good, ""},
		{"good bad --for=finished", cmdutil.ExitJobFailed, bad + good, ""},
		{"good --for=condition=Complete", cmdutil.ExitDone, good, ""},
		{"job good", cmdutil.ExitDone, good, ""},
		{"good fine --for=complete", cmdutil.ExitDone, "job.batch/fine Complete in 32s\n" + good, ""},
		{"good bad --for=complete", cmdutil.ExitJobFailed, bad + good, ""},
		{"bad running --for=complete -q", cmdutil.ExitJobFailed, bad, "Not waiting for 1 more: job.batch/bad has failed, so not all can complete.\n"},
		{"bad worse --for=failed", cmdutil.ExitDone, bad + strings.Replace(bad, "bad", "worse", 1), ""},
		{"bad running good --for=failed -q", cmdutil.ExitError, bad + good, "error: cannot fail because it is already complete: job.batch/good\n"},
		{"good absent", cmdutil.ExitError, "", "error: job \"absent\" not found in namespace \"ns1\"; list what exists with: kubectl get jobs.batch -n ns1\n"},
		{"-l app=nothing", cmdutil.ExitError, "", "error: no Job matches -l app=nothing in namespace \"ns1\"\n"},
		{"-l app=good", cmdutil.ExitDone, good, ""},
		{"-l app=good -A", cmdutil.ExitDone, "job.batch/good -n ns1 Complete in 32s\n", ""},
		{"good bad running --timeout=0 -q", cmdutil.ExitTimeout, bad + good, "error: not finished yet: job.batch/running Running, 3/10 done\n"},
		{"good --timeout=0", cmdutil.ExitDone, good, ""},
	} {
		program.Run(t, api, append([]string{"wait"}, strings.Fields(tc.args)...)...).Is(t, tc.code, tc.out, tc.err)
	}
}

// Requirements: CLI-03
func TestWaitEndsWhenTheOutcomeIsCertain(t *testing.T) {
	other := clitest.SimpleJob("ns1", "a", 1)
	other.SetUID("another")
	other = clitest.WithCondition(other, "Complete", "", "")
	for _, tc := range []struct {
		name  string
		args  string
		steps func(api *clitest.API)
		code  int
		want  string // in stdout or stderr
	}{
		{"complete", "a", func(api *clitest.API) { api.Put(clitest.CompleteJob("a")) }, cmdutil.ExitDone, "job.batch/a Complete in 32s\n"},
		{"failed", "a", func(api *clitest.API) { api.Put(clitest.FailedJob("a")) }, cmdutil.ExitJobFailed, "job.batch/a Failed: PodFailurePolicy_OOM"},
		{"all are waited for", "a b", func(api *clitest.API) { api.Put(clitest.FailedJob("a")); api.Put(clitest.CompleteJob("b")) }, cmdutil.ExitJobFailed, "job.batch/b Complete"},
		{"complete gives up", "a b --for=complete", func(api *clitest.API) { api.Put(clitest.FailedJob("a")) }, cmdutil.ExitJobFailed, "Not waiting for 1 more"},
		{"failed gives up", "a b --for=failed", func(api *clitest.API) { api.Put(clitest.CompleteJob("b")) }, cmdutil.ExitError, "error: cannot fail because it is already complete: job.batch/b\n"},
		{"deleted", "a b", func(api *clitest.API) { api.Remove(clitest.SimpleJob("ns1", "a", 1)) }, cmdutil.ExitError, "error: job.batch/a was deleted before it finished\n"},
		{"deleted as it ended", "a", func(api *clitest.API) { api.Remove(clitest.CompleteJob("a")) }, cmdutil.ExitDone, "job.batch/a Complete"},
		{"deleted after it ended", "a b", func(api *clitest.API) {
			api.Put(clitest.CompleteJob("a"))
			api.Remove(clitest.CompleteJob("a"))
			api.Put(clitest.CompleteJob("b"))
		}, cmdutil.ExitDone, "job.batch/b Complete"},
		{"recreated", "a", func(api *clitest.API) { api.Put(other) }, cmdutil.ExitError, "error: job.batch/a was deleted before it finished, and another was created\n"},
		{"unselected", "-l app=a", func(api *clitest.API) { api.Remove(clitest.SimpleJob("ns1", "a", 1)) }, cmdutil.ExitError, "or its labels were changed"},
		{"late ones do not count", "-l app=a", func(api *clitest.API) {
			late := clitest.WithCondition(clitest.SimpleJob("ns1", "late", 0), "Failed", "x", "y")
			late.SetLabels(map[string]string{"app": "a"})
			api.Put(late)
			api.Put(clitest.CompleteJob("a"))
		}, cmdutil.ExitDone, "job.batch/a Complete"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1), clitest.SimpleJob("ns1", "b", 1))
			s := waiting(t, api, strings.Fields(tc.args)...)
			tc.steps(api)
			assert.Equal(t, s.End(), tc.code)
			assert.Contains(t, s.Out.String()+s.ErrOut.String(), tc.want)
		})
	}
}

// CLI-03: a decided outcome is shown, but does not end the wait.
func TestWaitPrintsLinesWithoutATerminal(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	s := waiting(t, api, "a")
	same := clitest.SimpleJob("ns1", "a", 1)
	same.SetAnnotations(map[string]string{"x": "y"})
	api.Put(same)
	failing := clitest.WithCondition(clitest.SimpleJob("ns1", "a", 1), "FailureTarget", "BackoffLimitExceeded", "too many")
	for field, n := range map[string]int64{"active": 2, "failed": 3, "terminating": 2} {
		_ = unstructured.SetNestedField(failing.Object, n, "status", field)
	}
	api.Put(failing)
	s.WaitErr("Failing")
	api.Put(clitest.WithCondition(failing, "Failed", "BackoffLimitExceeded", "too many"))
	assert.Equal(t, s.End(), cmdutil.ExitJobFailed)
	want := "a  Running, 1/10 done, 5m\n" +
		"a  Failing, 1/10 done, 2 active, 3 pods failed, stopping 2 pods, reason BackoffLimitExceeded, 5m\n"
	assert.Equal(t, s.ErrOut.String(), want, "stderr")
	if got := s.Out.String(); got != "job.batch/a Failed: BackoffLimitExceeded: its failures exceeded backoffLimit, which is 6 now; 1 of 10 pods succeeded\n" {
		t.Errorf("stdout %q", got)
	}
}

// screen returns what a terminal that never scrolls shows after s.
func screen(s string) string {
	var lines []string
	var line []rune
	column := 0
	for _, r := range s {
		switch r {
		case '\r':
			column = 0
		case '\n':
			lines, line, column = append(lines, strings.TrimRight(string(line), " ")), nil, 0
		default:
			for len(line) <= column {
				line = append(line, ' ')
			}
			line[column] = r
			column++
		}
	}
	return strings.Join(append(lines, strings.TrimRight(string(line), " ")), "\n")
}

// Requirements: CLI-07
func TestWaitShowsProgressOnATerminal(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1), clitest.SimpleJob("ns1", "bee", 1))
	env := clitest.NewEnv()
	var now lockedTime
	now.set(clitest.Now())
	beats := make(chan time.Time)
	env.Now = now.get
	env.Terminal = func(io.Writer) int { return 62 }
	env.Ticker = func(d time.Duration) (<-chan time.Time, func()) {
		if d != time.Second {
			return nil, func() {}
		}
		return beats, func() {}
	}
	s := program.Start(t, api, env, "wait", "a", "bee")
	shows := func(want string) {
		t.Helper()
		clitest.WaitFor(t, func() bool { return screen(s.ErrOut.String()) == want }, func() string { return "screen: " + screen(s.ErrOut.String()) + "\nwant:   " + want })
	}
	shows("0 of 2 finished; a  Running, 1/10 done, 5m")
	now.set(clitest.Now().Add(90 * time.Second))
	beats <- now.get()
	shows("0 of 2 finished; a  Running, 1/10 done, 6m30s")
	busy := clitest.SimpleJob("ns1", "a", 1)
	_ = unstructured.SetNestedField(busy.Object, int64(12), "status", "active")
	api.Put(busy)
	shows("0 of 2 finished; a  Running, 1/10 done, 12 active, 6m30s")
	api.Put(clitest.WithCondition(busy, "FailureTarget", "VeryLongReasonThatDoesNotFit", ""))
	shows("0 of 2 finished; a  Failing, 1/10 done, 12 active, stopping t")
	api.Put(clitest.WithCondition(busy, "Failed", "Why", "message"))
	shows("1 of 2 finished (1 failed); bee  Running, 1/10 done, 6m30s")
	api.Stop()
	clitest.WaitFor(t, func() bool {
		lines := strings.Split(screen(s.ErrOut.String()), "\n")
		return len(lines) == 2 && strings.HasPrefix(lines[0], "Lost connection to the API server") && strings.HasPrefix(lines[1], "1 of 2")
	}, func() string { return screen(s.ErrOut.String()) })
	api.Put(clitest.CompleteJob("bee"))
	api.Start(api.Address)
	assert.Equal(t, s.End(), cmdutil.ExitJobFailed)
	if last := screen(s.ErrOut.String()); !strings.HasSuffix(last, "Reconnected to the API server.\n") {
		t.Errorf("the line is left behind:\n%q", last)
	}
	for _, written := range strings.FieldsFunc(s.ErrOut.String(), func(r rune) bool { return r == '\r' || r == '\n' }) {
		if len(written) >= 62 && !strings.HasPrefix(written, "Lost connection") {
			t.Errorf("wider than the terminal: %q", written)
		}
	}
	if got := s.Out.String(); got != "job.batch/a Failed: Why, “message”; 1 of 10 pods succeeded\njob.batch/bee Complete in 32s\n" {
		t.Errorf("stdout %q", got)
	}
}

// The duration of a Job is known up to the last response (issue 17.2).
// Requirements: CLI-07
func TestWaitStopsItsClockWhileTheServerIsSilent(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	clock := clitest.NewClock()
	env := clock.Env()
	env.Backoff.Patience = 3 * time.Second
	env.Terminal = func(io.Writer) int { return 80 }
	s := program.Start(t, api, env, "wait", "a")
	advance := func(until func(written string) bool) {
		t.Helper()
		clitest.WaitFor(t, func() bool {
			clock.Advance(50 * time.Millisecond)
			return until(s.ErrOut.String())
		}, s.ErrOut.String)
	}
	text := func(want string) func(string) bool {
		return func(written string) bool { return strings.Contains(written, want) }
	}
	advance(text("a  Running, 1/10 done, 5m1s"))
	resume := api.Hang()
	advance(text("No answer from the API server"))
	drawn := strings.Count(s.ErrOut.String(), "\r")
	advance(func(written string) bool { return strings.Count(written, "\r") > drawn+30 })
	if got := s.ErrOut.String(); strings.Contains(got[strings.Index(got, "No answer"):], "done, 5m2") {
		t.Errorf("the clock runs on:\n%s", screen(got))
	}
	resume()
	advance(text("The API server answers again.\n"))
	advance(text("a  Running, 1/10 done, 6m"))
	s.Interrupt()
	s.End()
}

// Requirements: CLI-07
func TestWaitSurvivesLostConnections(t *testing.T) {
	for name, disturb := range map[string]func(t *testing.T, api *clitest.API, s *clitest.Session){
		"restart": func(_ *testing.T, api *clitest.API, s *clitest.Session) {
			api.Stop()
			s.WaitErr("Lost connection")
			api.Put(clitest.CompleteJob("a"))
			api.Start(api.Address)
		},
		"expired": func(_ *testing.T, api *clitest.API, s *clitest.Session) {
			api.SetRefuse(func(*http.Request) *clitest.Status {
				return &clitest.Status{Code: 503, Reason: "ServiceUnavailable", Message: "starting"}
			})
			api.DropWatches()
			s.WaitErr("Requests to the API server fail, retrying: the API server answered: starting")
			api.Put(clitest.CompleteJob("a"))
			api.Expire()
			api.SetRefuse(nil)
		},
		"watch ends": func(t *testing.T, api *clitest.API, _ *clitest.Session) {
			api.DropWatches()
			clitest.WaitFor(t, func() bool { return api.Opened() > 1 }, func() string { return "no second watch" })
			api.Put(clitest.CompleteJob("a"))
		},
		"throttled": func(t *testing.T, api *clitest.API, s *clitest.Session) {
			api.SetRefuse(func(*http.Request) *clitest.Status {
				return &clitest.Status{Code: 429, Reason: "TooManyRequests", Message: "slow down"}
			})
			api.DropWatches()
			s.WaitErr("Requests to the API server fail, retrying: the API server answered: slow down")
			api.SetRefuse(nil)
			clitest.WaitFor(t, func() bool { return api.Opened() > 1 }, func() string { return "no second watch" })
			api.Put(clitest.CompleteJob("a"))
		},
		"deleted meanwhile": func(_ *testing.T, api *clitest.API, s *clitest.Session) {
			api.Stop()
			s.WaitErr("Lost connection")
			api.Remove(clitest.SimpleJob("ns1", "a", 1))
			api.Expire()
			api.Start(api.Address)
		},
		"deleted and created anew meanwhile": func(_ *testing.T, api *clitest.API, s *clitest.Session) {
			api.Stop()
			s.WaitErr("Lost connection")
			other := clitest.CompleteJob("a")
			other.SetUID("another")
			api.Remove(clitest.CompleteJob("a"))
			api.Put(other)
			api.Expire()
			api.Start(api.Address)
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
			s := waiting(t, api, "a", "--for=complete")
			disturb(t, api, s)
			want, out := cmdutil.ExitDone, "job.batch/a Complete in 32s\n"
			if strings.HasPrefix(name, "deleted") {
				want, out = cmdutil.ExitError, ""
			}
			s.Result().Want(t, want, out)
		})
	}
}

func TestWaitInterrupted(t *testing.T) {
	s := waiting(t, clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1)), "a", "--timeout=1h", "-q")
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || s.Out.String()+s.ErrOut.String() != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.Out.String(), s.ErrOut.String())
	}
}

// The test ends the time limit: before the API server has answered, and while the command watches.
// Requirements: CLI-03
func TestWaitEndsAtItsTimeout(t *testing.T) {
	good := "job.batch/good Complete in 32s\n"
	for _, tc := range []struct {
		name  string
		until func(api *clitest.API, s *clitest.Session) bool
		out   string
		err   string
	}{
		{"no answer", nil, "", "error: timed out after 5m0s: no answer from the API server\n"},
		{"watching", func(api *clitest.API, s *clitest.Session) bool { return api.Opened() > 0 && s.Out.String() == good }, good, "error: timed out after 5m0s: job.batch/running Running, 3/10 done\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := clitest.NewAPI(t, clitest.CompleteJob("good"), clitest.SimpleJob("ns1", "running", 3))
			fires, stopped := make(chan func(), 1), make(chan time.Duration, 1)
			env := clitest.NewEnv()
			env.Timer = func(d time.Duration, fire func()) func() {
				if d != 5*time.Minute {
					return func() {}
				}
				if tc.until == nil {
					fire()
				}
				fires <- fire
				return func() { stopped <- d }
			}
			s := program.Start(t, api, env, "wait", "good", "running", "--timeout=5m", "-q")
			fire := <-fires
			if tc.until != nil {
				clitest.WaitFor(t, func() bool { return tc.until(api, s) }, s.ErrOut.String)
				fire()
			}
			s.Result().Is(t, cmdutil.ExitTimeout, tc.out, tc.err)
			assert.Equal(t, <-stopped, 5*time.Minute, "the limit")
		})
	}
}

// A Job that ended before the timeout decides the result, even if the time runs out while its failure is explained.
// Requirements: CLI-03
func TestWaitTimeoutAfterTheEndDoesNotCount(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	fires := make(chan func(), 1)
	env := clitest.TimerEnv(5*time.Minute, func(fire func()) { fires <- fire })
	s := program.Start(t, api, env, "wait", "a", "--timeout=5m", "-q")
	clitest.WaitFor(t, func() bool { return api.Opened() > 0 }, s.ErrOut.String)
	fire := <-fires
	api.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			fire()
		}
		return nil
	})
	api.Put(clitest.FailedJob("a"))
	if code := s.End(); code != cmdutil.ExitJobFailed || !strings.HasPrefix(s.Out.String(), "job.batch/a Failed: ") || s.ErrOut.String() != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.Out.String(), s.ErrOut.String())
	}
}

func TestWaitTimeoutListsSome(t *testing.T) {
	var jobs []*unstructured.Unstructured
	for i := range 13 {
		job := clitest.SimpleJob("ns1", fmt.Sprintf("job-%02d", i), 0)
		job.SetLabels(map[string]string{"app": "x"})
		jobs = append(jobs, job)
	}
	got := program.Run(t, clitest.NewAPI(t, jobs...), "wait", "-l", "app=x", "--timeout=0", "-q")
	if got.Code != cmdutil.ExitTimeout || strings.Count(got.ErrOut, "\n") != 11 || !strings.HasSuffix(got.ErrOut, "error: not finished yet: 3 more\n") {
		t.Errorf("exit %d, stderr:\n%s", got.Code, got.ErrOut)
	}
}

func TestWaitUsage(t *testing.T) {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	program.Rejects(t, nil, "wait", map[string]string{
		"": "", "-A": "", "-A name": "", "--all name": "", "-A --all name": "", "a -o wide": "", "a --for=": "", "a --for=delete=x": "", "a --for=condition=": "",
		"a --for=jsonpath=": "", "a --for=jsonpath={.a": "", "-l a=b name": "", "-l a=b,,": "", "a --for=ready": "", "a --timeout=5": "", "pod/x": "",
	})
}

func TestWaitCompletion(t *testing.T) {
	program.Completes(t, clitest.NewAPI(t, clitest.SimpleJob("ns1", "alpha", 0)), map[string]string{
		"wait|": "alpha :4", "wait|-A|": " :4", "wait|--all|": " :4",
		"wait|a|--for|":  "finished complete failed delete condition=Suspended condition=SuccessCriteriaMet condition=FailureTarget jsonpath= :4",
		"wait|a|--for|c": "complete condition=Suspended condition=SuccessCriteriaMet condition=FailureTarget :4",
		"wait|a|-o|j":    "json jsonpath jsonpath-as-json jsonpath-file :4",
	})
}

// lockedTime is a clock that a test sets.
type lockedTime struct{ nanos atomic.Int64 }

func (l *lockedTime) set(t time.Time) { l.nanos.Store(t.UnixNano()) }
func (l *lockedTime) get() time.Time  { return time.Unix(0, l.nanos.Load()).UTC() }

func TestWaitInterruptedOnTerminalLeavesNoLine(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 1))
	env := clitest.NewEnv()
	env.Terminal = func(io.Writer) int { return 80 }
	s := program.Start(t, api, env, "wait", "a")
	s.WaitErr("a  Running")
	s.Interrupt()
	if code := s.End(); code != cmdutil.ExitInterrupted || screen(s.ErrOut.String()) != "" {
		t.Errorf("exit %d, screen %q", code, screen(s.ErrOut.String()))
	}
}

// Without a terminal, a line for each pod that becomes ready would fill the log.
// Requirements: CLI-03
func TestWaitPrintsNoLineForReadyPodsAlone(t *testing.T) {
	job := func(succeeded, ready int64) *unstructured.Unstructured {
		job := clitest.SimpleJob("ns1", "a", succeeded)
		status := job.Object["status"].(map[string]any)
		status["active"], status["ready"] = int64(2), ready
		return job
	}
	api := clitest.NewAPI(t, job(0, 0))
	s := waiting(t, api, "a")
	s.WaitErr("a  Running, 0/10 done, 2 active (0 ready)")
	api.Put(job(0, 1))
	api.Put(job(0, 2))
	api.Put(job(1, 2))
	s.WaitErr("a  Running, 1/10 done, 2 active (2 ready)")
	s.Interrupt()
	s.End()
	assert.Equal(t, strings.Count(s.ErrOut.String(), "0/10 done"), 1, s.ErrOut.String(), "lines")
}
