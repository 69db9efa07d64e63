package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func waiting(t *testing.T, api *fakeAPI, args ...string) *session {
	t.Helper()
	s := program.start(t, api, testEnvironment(), append([]string{"wait"}, args...)...)
	waitFor(t, func() bool { return api.opened() > 0 }, func() string { return "no watch: " + s.errOut.String() })
	return s
}

func TestWait_CLI_03_endedJobs(t *testing.T) {
	api := newFakeAPI(t, completeJob("good"), completeJob("fine"), failedJob("bad"), failedJob("worse"), simpleJob("ns1", "running", 3))
	const good, bad = "job.batch/good Complete in 32s\n", "job.batch/bad Failed: PodFailurePolicy_OOM: rule \"OOM\" of its podFailurePolicy ended it, “out of \\x1b[1mmemory”\n"
	for _, tc := range []struct {
		args string
		code int
		out  string
		err  string
	}{
		{"good", exitDone, good, ""},
		{"bad", exitJobFailed, bad, ""},
		{"good bad", exitJobFailed, bad + good, ""},
		{"bad good", exitJobFailed, bad + good, ""},
		{"good bad --for=finished", exitJobFailed, bad + good, ""},
		{"good --for=condition=Complete", exitDone, good, ""},
		{"job good", exitDone, good, ""},
		{"good fine --for=complete", exitDone, "job.batch/fine Complete in 32s\n" + good, ""},
		{"good bad --for=complete", exitJobFailed, bad + good, ""},
		{"bad running --for=complete -q", exitJobFailed, bad, "Not waiting for 1 more, because not all can be complete any more: job.batch/bad has failed.\n"},
		{"bad worse --for=failed", exitDone, bad + strings.Replace(bad, "bad", "worse", 1), ""},
		{"bad running good --for=failed -q", exitError, bad + good, "error: cannot fail any more, as it is complete: job.batch/good\n"},
		{"good absent", exitError, "", "error: job \"absent\" not found in namespace \"ns1\"; see what is there with: kubectl get jobs.batch -n ns1\n"},
		{"-l app=nothing", exitError, "", "error: no Job with labels app=nothing in namespace \"ns1\"\n"},
		{"-l app=good", exitDone, good, ""},
		{"-l app=good -A", exitDone, "job.batch/good -n ns1 Complete in 32s\n", ""},
		{"good bad running --timeout=0 -q", exitTimeout, bad + good, "error: not yet: job.batch/running Running, 3/10 done\n"},
		{"good --timeout=0", exitDone, good, ""},
	} {
		got := program.run(t, api, append([]string{"wait"}, strings.Fields(tc.args)...)...)
		if got.code != tc.code || got.out != tc.out || got.errOut != tc.err {
			t.Errorf("%s: exit %d\nstdout %q\nstderr %q", tc.args, got.code, got.out, got.errOut)
		}
	}
}

func TestWait_CLI_03_endsWhenTheOutcomeIsCertain(t *testing.T) {
	other := simpleJob("ns1", "a", 1)
	other.SetUID("another")
	other = withCondition(other, "Complete", "", "")
	for _, tc := range []struct {
		name  string
		args  string
		steps func(api *fakeAPI)
		code  int
		want  string // in either stream
	}{
		{"complete", "a", func(api *fakeAPI) { api.put(completeJob("a")) }, exitDone, "job.batch/a Complete in 32s\n"},
		{"failed", "a", func(api *fakeAPI) { api.put(failedJob("a")) }, exitJobFailed, "job.batch/a Failed: PodFailurePolicy_OOM"},
		{"all are waited for", "a b", func(api *fakeAPI) { api.put(failedJob("a")); api.put(completeJob("b")) }, exitJobFailed, "job.batch/b Complete"},
		{"complete gives up", "a b --for=complete", func(api *fakeAPI) { api.put(failedJob("a")) }, exitJobFailed, "Not waiting for 1 more"},
		{"failed gives up", "a b --for=failed", func(api *fakeAPI) { api.put(completeJob("b")) }, exitError, "error: cannot fail any more, as it is complete: job.batch/b\n"},
		{"deleted", "a b", func(api *fakeAPI) { api.remove(simpleJob("ns1", "a", 1)) }, exitError, "error: job.batch/a was deleted before it had ended\n"},
		{"deleted as it ended", "a", func(api *fakeAPI) { api.remove(completeJob("a")) }, exitDone, "job.batch/a Complete"},
		{"deleted after it ended", "a b", func(api *fakeAPI) {
			api.put(completeJob("a"))
			api.remove(completeJob("a"))
			api.put(completeJob("b"))
		}, exitDone, "job.batch/b Complete"},
		{"recreated", "a", func(api *fakeAPI) { api.put(other) }, exitError, "error: job.batch/a was deleted before it had ended, and another was created\n"},
		{"unselected", "-l app=a", func(api *fakeAPI) { api.remove(simpleJob("ns1", "a", 1)) }, exitError, "or its labels were changed"},
		{"late ones do not count", "-l app=a", func(api *fakeAPI) {
			late := withCondition(simpleJob("ns1", "late", 0), "Failed", "x", "y")
			late.SetLabels(map[string]string{"app": "a"})
			api.put(late)
			api.put(completeJob("a"))
		}, exitDone, "job.batch/a Complete"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "b", 1))
			s := waiting(t, api, strings.Fields(tc.args)...)
			tc.steps(api)
			if code := s.end(); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
			if both := s.out.String() + s.errOut.String(); !strings.Contains(both, tc.want) {
				t.Errorf("no %q in:\n%s", tc.want, both)
			}
		})
	}
}

// CLI-03: a decided outcome is shown, and is no end.
func TestWait_CLI_03_linesWithoutTerminal(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	s := waiting(t, api, "a")
	same := simpleJob("ns1", "a", 1)
	same.SetAnnotations(map[string]string{"x": "y"})
	api.put(same)
	failing := withCondition(simpleJob("ns1", "a", 1), "FailureTarget", "BackoffLimitExceeded", "too many")
	for field, n := range map[string]int64{"active": 2, "failed": 3, "terminating": 2} {
		_ = unstructured.SetNestedField(failing.Object, n, "status", field)
	}
	api.put(failing)
	s.waitErr("FailureTarget")
	api.put(withCondition(failing, "Failed", "BackoffLimitExceeded", "too many"))
	if code := s.end(); code != exitJobFailed {
		t.Errorf("exit %d", code)
	}
	want := "a  Running  1/10 done, 5m\n" +
		"a  FailureTarget  1/10 done, 2 active, 3 failed, failing: BackoffLimitExceeded, waits for 2 terminating pods, 5m\n"
	if got := s.errOut.String(); got != want {
		t.Errorf("stderr:\n%s\nwant:\n%s", got, want)
	}
	if got := s.out.String(); got != "job.batch/a Failed: BackoffLimitExceeded: failures and container restarts together are more than backoffLimit, 6, allows\n" {
		t.Errorf("stdout %q", got)
	}
}

// screen is what a terminal of one growing page shows after s.
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

func TestWait_CLI_07_progressOnTerminal(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "bee", 1))
	env := testEnvironment()
	var now lockedTime
	now.set(testNow())
	beats := make(chan time.Time)
	env.now = now.get
	env.terminal = func(io.Writer) int { return 62 }
	env.ticker = func(time.Duration) (<-chan time.Time, func()) { return beats, func() {} }
	s := program.start(t, api, env, "wait", "a", "bee")
	shows := func(want string) {
		t.Helper()
		waitFor(t, func() bool { return screen(s.errOut.String()) == want }, func() string { return "screen: " + screen(s.errOut.String()) + "\nwant:   " + want })
	}
	shows("0 of 2 finished; a  Running  1/10 done, 5m")
	now.set(testNow().Add(90 * time.Second))
	beats <- now.get()
	shows("0 of 2 finished; a  Running  1/10 done, 6m30s")
	busy := simpleJob("ns1", "a", 1)
	_ = unstructured.SetNestedField(busy.Object, int64(12), "status", "active")
	api.put(busy)
	shows("0 of 2 finished; a  Running  1/10 done, 12 active, 6m30s")
	api.put(withCondition(busy, "FailureTarget", "VeryLongReasonThatDoesNotFit", ""))
	shows("0 of 2 finished; a  FailureTarget  1/10 done, 12 active, fail")
	api.put(withCondition(busy, "Failed", "Why", "message"))
	shows("1 of 2 finished (1 failed); bee  Running  1/10 done, 6m30s")
	api.stop()
	waitFor(t, func() bool {
		lines := strings.Split(screen(s.errOut.String()), "\n")
		return len(lines) == 2 && strings.HasPrefix(lines[0], "The connection to the API server is lost") && strings.HasPrefix(lines[1], "1 of 2")
	}, func() string { return screen(s.errOut.String()) })
	api.put(completeJob("bee"))
	api.start(api.address)
	if code := s.end(); code != exitJobFailed {
		t.Errorf("exit %d", code)
	}
	if last := screen(s.errOut.String()); !strings.HasSuffix(last, "is back.\n") {
		t.Errorf("the line is left behind:\n%q", last)
	}
	for _, written := range strings.FieldsFunc(s.errOut.String(), func(r rune) bool { return r == '\r' || r == '\n' }) {
		if len(written) >= 62 && !strings.HasPrefix(written, "The connection") {
			t.Errorf("wider than the terminal: %q", written)
		}
	}
	if got := s.out.String(); got != "job.batch/a Failed: Why, “message”\njob.batch/bee Complete in 32s\n" {
		t.Errorf("stdout %q", got)
	}
}

func TestWait_CLI_07_survives(t *testing.T) {
	for name, disturb := range map[string]func(t *testing.T, api *fakeAPI, s *session){
		"restart": func(_ *testing.T, api *fakeAPI, s *session) {
			api.stop()
			s.waitErr("is lost")
			api.put(completeJob("a"))
			api.start(api.address)
		},
		"expired": func(_ *testing.T, api *fakeAPI, s *session) {
			api.setRefuse(func(*http.Request) *fakeStatus { return &fakeStatus{503, "ServiceUnavailable", "starting"} })
			api.dropWatches()
			s.waitErr("is lost")
			api.put(completeJob("a"))
			api.expire()
			api.setRefuse(nil)
		},
		"watch ends": func(t *testing.T, api *fakeAPI, _ *session) {
			api.dropWatches()
			waitFor(t, func() bool { return api.opened() > 1 }, func() string { return "no second watch" })
			api.put(completeJob("a"))
		},
		"throttled": func(t *testing.T, api *fakeAPI, s *session) {
			api.setRefuse(func(*http.Request) *fakeStatus { return &fakeStatus{429, "TooManyRequests", "slow down"} })
			api.dropWatches()
			s.waitErr("is lost")
			api.setRefuse(nil)
			waitFor(t, func() bool { return api.opened() > 1 }, func() string { return "no second watch" })
			api.put(completeJob("a"))
		},
		"deleted meanwhile": func(_ *testing.T, api *fakeAPI, s *session) {
			api.stop()
			s.waitErr("is lost")
			api.remove(simpleJob("ns1", "a", 1))
			api.expire()
			api.start(api.address)
		},
		"deleted and created anew meanwhile": func(_ *testing.T, api *fakeAPI, s *session) {
			api.stop()
			s.waitErr("is lost")
			other := completeJob("a")
			other.SetUID("another")
			api.remove(completeJob("a"))
			api.put(other)
			api.expire()
			api.start(api.address)
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(t, simpleJob("ns1", "a", 1))
			s := waiting(t, api, "a", "--for=complete")
			disturb(t, api, s)
			want, out := exitDone, "job.batch/a Complete in 32s\n"
			if strings.HasPrefix(name, "deleted") {
				want, out = exitError, ""
			}
			if code := s.end(); code != want || s.out.String() != out {
				t.Errorf("exit %d, stdout %q, stderr %q", code, s.out.String(), s.errOut.String())
			}
		})
	}
}

func TestWaitInterrupted(t *testing.T) {
	s := waiting(t, newFakeAPI(t, simpleJob("ns1", "a", 1)), "a", "--timeout=1h", "-q")
	s.interrupt()
	if code := s.end(); code != exitInterrupted || s.out.String()+s.errOut.String() != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, s.out.String(), s.errOut.String())
	}
}

// The time runs out when the test says so: before the API server has answered, and while the command watches.
func TestWait_CLI_03_timeout(t *testing.T) {
	good := "job.batch/good Complete in 32s\n"
	for _, tc := range []struct {
		name  string
		until func(api *fakeAPI, s *session) bool
		out   string
		err   string
	}{
		{"no answer", nil, "", "error: timed out after 5m0s: no answer from the API server\n"},
		{"watching", func(api *fakeAPI, s *session) bool { return api.opened() > 0 && s.out.String() == good }, good, "error: timed out after 5m0s: job.batch/running Running, 3/10 done\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := newFakeAPI(t, completeJob("good"), simpleJob("ns1", "running", 3))
			fires, stopped := make(chan func(), 1), make(chan time.Duration, 1)
			env := testEnvironment()
			env.timer = func(d time.Duration, fire func()) func() {
				if tc.until == nil {
					fire()
				}
				fires <- fire
				return func() { stopped <- d }
			}
			s := program.start(t, api, env, "wait", "good", "running", "--timeout=5m", "-q")
			fire := <-fires
			if tc.until != nil {
				waitFor(t, func() bool { return tc.until(api, s) }, s.errOut.String)
				fire()
			}
			if code := s.end(); code != exitTimeout || s.out.String() != tc.out || s.errOut.String() != tc.err {
				t.Errorf("exit %d\nstdout %q\nstderr %q", code, s.out.String(), s.errOut.String())
			}
			if d := <-stopped; d != 5*time.Minute {
				t.Errorf("the limit was %s", d)
			}
		})
	}
}

func TestWaitTimeoutListsSome(t *testing.T) {
	var jobs []*unstructured.Unstructured
	for i := range timeoutLines + 3 {
		job := simpleJob("ns1", fmt.Sprintf("job-%02d", i), 0)
		job.SetLabels(map[string]string{"app": "x"})
		jobs = append(jobs, job)
	}
	got := program.run(t, newFakeAPI(t, jobs...), "wait", "-l", "app=x", "--timeout=0", "-q")
	if got.code != exitTimeout || strings.Count(got.errOut, "\n") != timeoutLines+1 || !strings.HasSuffix(got.errOut, "error: not yet: 3 more\n") {
		t.Errorf("exit %d, stderr:\n%s", got.code, got.errOut)
	}
}

func TestWaitUsage(t *testing.T) {
	t.Setenv("KUBECONFIG", writeKubeconfig(t, "http://127.0.0.1:1"))
	for _, args := range []string{"", "-A", "-A name", "-l a=b name", "-l a=b,,", "a --for=ready", "a --timeout=5", "pod/x"} {
		got := program.run(t, nil, append([]string{"wait"}, strings.Fields(args)...)...)
		if got.code != exitUsage || strings.Count(got.errOut, "\n") != 1 || !strings.Contains(got.errOut, "kubectl batchjob wait --help") {
			t.Errorf("%s: exit %d, stderr %q", args, got.code, got.errOut)
		}
	}
}

func TestWaitCompletion(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "alpha", 0))
	for args, want := range map[string]string{"wait|": "alpha\n", "wait|-A|": "", "wait|a|--for|": "finished\ncomplete\nfailed\n"} {
		got := program.run(t, api, append([]string{"__complete"}, strings.Split(args, "|")...)...)
		if got.out != want+":4\n" {
			t.Errorf("%s: %q", args, got.out)
		}
	}
}

func TestProgressCell(t *testing.T) {
	n := func(i int32) *int32 { return &i }
	job := &batchv1.Job{Spec: batchv1.JobSpec{Completions: n(5), ManagedBy: new(string)}}
	*job.Spec.ManagedBy = "nobody"
	job.CreationTimestamp.Time = testNow().Add(-time.Minute)
	if got := progressCell(jobView{job: job, now: testNow()}); got != "0/5 done, managed by nobody (not reconciled)" {
		t.Error(got)
	}
	job.Status.Terminating = n(2)
	if got := progressCell(jobView{job: job, now: testNow()}); got != "0/5 done, 2 terminating" {
		t.Error(got)
	}
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: "True"}}
	job.Status.Terminating = n(1)
	if got := progressCell(jobView{job: job, now: testNow()}); got != "0/5 done, succeeding, waits for 1 terminating pod" {
		t.Error(got)
	}
}

// lockedTime is a clock that a test sets.
type lockedTime struct{ nanos atomic.Int64 }

func (l *lockedTime) set(t time.Time) { l.nanos.Store(t.UnixNano()) }
func (l *lockedTime) get() time.Time  { return time.Unix(0, l.nanos.Load()).UTC() }

func TestWaitInterruptedOnTerminalLeavesNoLine(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1))
	env := testEnvironment()
	env.terminal = func(io.Writer) int { return 80 }
	s := program.start(t, api, env, "wait", "a")
	s.waitErr("a  Running")
	s.interrupt()
	if code := s.end(); code != exitInterrupted || screen(s.errOut.String()) != "" {
		t.Errorf("exit %d, screen %q", code, screen(s.errOut.String()))
	}
}
