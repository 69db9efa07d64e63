package cli

import (
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// following is a running verb that follows the Job train, which has one running pod.
type following struct {
	*clitest.Session
	t       *testing.T
	objects *clitest.Objects
	api     *clitest.API
	pods    *clitest.Pods
	clock   *clitest.Clock
}

// follow starts a verb as a user to whom the API server refuses requests.
func follow(t *testing.T, args string, refuse func(*http.Request) *clitest.Status, change func(*cmdutil.Env)) *following {
	t.Helper()
	objects := clitest.NewObjects(t, clitest.LogsJob())
	objects.Pods.Put(clitest.RunningPod("a", 1, 1))
	objects.Pods.Write("train-a/main", "one")
	objects.API.SetRefuse(refuse)
	clock := clitest.NewClock()
	env := clock.Env()
	if change != nil {
		change(&env)
	}
	session := program.Start(t, objects.API, env, strings.Fields(args)...)
	return &following{Session: session, t: t, objects: objects, api: objects.API, pods: objects.Pods, clock: clock}
}

// until advances the clock until stdout or stderr contains the text.
func (f *following) until(text string) {
	f.t.Helper()
	clitest.WaitFor(f.t, func() bool {
		f.clock.Advance(50 * time.Millisecond)
		return strings.Contains(f.Out.String()+f.ErrOut.String(), text)
	}, func() string {
		return "waiting for " + text + "\nout:\n" + f.Out.String() + "\nerr:\n" + f.ErrOut.String()
	})
}

// untilFollowing waits until Jobs are watched, and something was printed.
func (f *following) untilFollowing() {
	f.t.Helper()
	clitest.WaitFor(f.t, func() bool {
		f.clock.Advance(50 * time.Millisecond)
		return f.api.Opened() > 0 && f.Out.String()+f.ErrOut.String() != ""
	}, f.ErrOut.String)
}

// finish completes the Job.
func (f *following) finish() {
	f.pods.Put(clitest.TrainPod("a", 1, 1, "Succeeded", clitest.Exited(0)))
	f.pods.End("train-a/main")
	f.api.Put(clitest.WithCondition(clitest.LogsJob(), "Complete", "", ""))
}

// end advances the clock, and returns the exit code of a verb that ends by itself; it interrupts a verb for which
// shown is set, after that text is printed.
func (f *following) end(shown string) int {
	f.t.Helper()
	if shown != "" {
		f.until(shown)
		f.Interrupt()
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Millisecond):
				f.clock.Advance(50 * time.Millisecond)
			}
		}
	}()
	return f.End()
}

func forbidden(what string) *clitest.Status {
	return &clitest.Status{Code: 403, Reason: "Forbidden", Message: what}
}

// onlyJobs refuses all requests but to get and list Jobs.
func onlyJobs(r *http.Request) *clitest.Status {
	if strings.Contains(r.URL.Path, "/jobs") && r.URL.Query().Get("watch") == "" {
		return nil
	}
	return forbidden("no RBAC rule for " + path.Base(r.URL.Path))
}

func refusePath(suffix string) func(*http.Request) *clitest.Status {
	return func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, suffix) {
			return forbidden("no RBAC rule")
		}
		return nil
	}
}

// followingVerbs are the verbs that follow a Job, with the text that shows its completion; "" for verbs that end
// then.
var followingVerbs = []struct{ args, shown string }{
	{"wait train", ""},
	{"status train -w", "Complete"},
	{"watch train --plain --exit-status", ""},
	{"logs train -f", ""},
}

const unwatchedJobs = "No permission to watch jobs in namespace \"ns1\": they are read every 5s instead. " +
	"Check it with: kubectl auth can-i watch jobs.batch -n ns1\n"

// A user who may only get and list Jobs sees their changes (issue 17.1).
// Requirements: CLI-08
func TestJobsThatMayNotBeWatchedAreRead(t *testing.T) {
	for _, verb := range followingVerbs {
		f := follow(t, verb.args, onlyJobs, nil)
		if strings.HasPrefix(verb.args, "logs") {
			f.Result().Want(t, cmdutil.ExitError, "", "no RBAC rule for pods")
			continue
		}
		f.until(unwatchedJobs)
		f.finish()
		f.end("Complete")
		if notes := f.ErrOut.String(); strings.Contains(notes, "onnect") || strings.Count(notes, "No permission") > 1 {
			t.Errorf("%s: stderr %q", verb.args, notes)
		}
	}
}

// Logs of pods that may not be watched are read, too.
// Requirements: CLI-08
func TestPodsThatMayNotBeWatchedAreRead(t *testing.T) {
	f := follow(t, "logs train -f", func(r *http.Request) *clitest.Status {
		if r.URL.Query().Get("watch") == "true" {
			return forbidden("no RBAC rule")
		}
		return nil
	}, nil)
	f.until(unwatchedJobs)
	f.until(strings.NewReplacer("jobs.batch", "pods", "jobs", "pods").Replace(unwatchedJobs))
	f.pods.WithLog(clitest.FailedPod("late", 2, 1), "from a later pod")
	f.until("from a later pod")
	f.finish()
	if code := f.end(""); code != cmdutil.ExitDone || strings.Contains(f.ErrOut.String(), "onnect") {
		t.Errorf("exit %d, stderr %q", code, f.ErrOut.String())
	}
}

// Following a Job requires neither events nor logs.
// Requirements: CLI-08
func TestFollowingNeedsNoEventsAndNoLogs(t *testing.T) {
	for _, refused := range []string{"/events", "/log"} {
		for _, verb := range followingVerbs {
			f := follow(t, verb.args, refusePath(refused), nil)
			want := cmdutil.ExitDone
			switch {
			case verb.shown != "":
				want = cmdutil.ExitInterrupted
			case refused == "/log" && strings.HasPrefix(verb.args, "logs"):
				want = cmdutil.ExitError
				f.until("no RBAC rule")
			case strings.HasPrefix(verb.args, "logs"):
				f.until("one")
			default:
				f.until("Running")
			}
			f.finish()
			if code := f.end(verb.shown); code != want || strings.Contains(f.ErrOut.String(), "onnect") {
				t.Errorf("%s without %s: exit %d, stderr %q", verb.args, refused, code, f.ErrOut.String())
			}
		}
	}
}

// A token that expires and is renewed interrupts nothing, and is not reported as a lost connection.
// Requirements: CLI-07
func TestFollowingSurvivesAnExpiredToken(t *testing.T) {
	for _, verb := range followingVerbs {
		f := follow(t, verb.args, nil, nil)
		f.untilFollowing()
		f.api.SetRefuse(func(*http.Request) *clitest.Status {
			return &clitest.Status{Code: 401, Reason: "Unauthorized", Message: "Unauthorized"}
		})
		f.api.DropWatches()
		f.until("Requests to the API server fail, retrying: the API server rejected your credentials (Unauthorized); log in again")
		f.pods.WithLog(clitest.FailedPod("b", 2, 1), "from a pod that begins meanwhile")
		f.api.SetRefuse(nil)
		f.until("Requests to the API server succeed again.")
		f.finish()
		code := f.end(verb.shown)
		notes := f.ErrOut.String()
		if code != cmdutil.ExitDone && verb.shown == "" || strings.Contains(notes, "onnect") || strings.Count(notes, "succeed again") != 1 {
			t.Errorf("%s: exit %d, stderr %q", verb.args, code, notes)
		}
	}
}

// An API server that accepts requests and never answers is reported once, although no connection fails (issue 17.2), and also if
// requests reach their timeout.
// Requirements: CLI-07
func TestFollowingReportsASilentServer(t *testing.T) {
	impatient := func(env *cmdutil.Env) { env.Backoff.Patience = 3 * time.Second }
	for _, verb := range followingVerbs {
		f := follow(t, verb.args, nil, impatient)
		f.untilFollowing()
		resume := f.api.Hang()
		f.until("No answer from the API server for 5s")
		for range 200 {
			f.clock.Advance(time.Second)
		}
		resume()
		f.until("The API server answers again.\n")
		f.finish()
		code := f.end(verb.shown)
		notes := f.ErrOut.String()
		if code != cmdutil.ExitDone && verb.shown == "" || strings.Contains(notes, "onnect") || strings.Contains(notes, "Waiting for") ||
			strings.Count(notes, "No answer") != 1 || strings.Count(notes, "answers again") != 1 {
			t.Errorf("%s: exit %d, stderr %q", verb.args, code, notes)
		}
	}
}

// A log that is opened while the token has expired is read once the token is renewed (issue 17.1).
// Requirements: CLI-07
func TestLogOpenedWithAnExpiredTokenIsTriedAgain(t *testing.T) {
	f := follow(t, "logs train -f", func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/log") {
			return &clitest.Status{Code: 401, Reason: "Unauthorized", Message: "Unauthorized"}
		}
		return nil
	}, nil)
	f.until("Requests to the API server fail, retrying: the API server rejected your credentials (Unauthorized)")
	f.api.SetRefuse(nil)
	f.until("one")
	f.finish()
	if code := f.end(""); code != cmdutil.ExitDone || strings.Count(f.ErrOut.String(), "\n") != 2 {
		t.Errorf("exit %d, stderr %q", code, f.ErrOut.String())
	}
}
