package watch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Issue 6: bad flags are usage errors that say what to do.
func TestWatchUsage(t *testing.T) {
	program.Rejects(t, nil, "watch", map[string]string{
		"a -A":                      "by name across all namespaces",
		"a -l x=y":                  "name cannot be provided when a selector",
		"--from f a":                "omit names",
		"--from f -A":               "omit names",
		"--from f -l x=y":           "omit names",
		"--from f --record g":       "cannot be used together",
		"--from f --exit-status":    "--exit-status and --from cannot be used together",
		"--speed 2":                 "--speed requires --from",
		"--from f --speed=-1":       "must be between 0",
		"--color blue":              "--color=blue: must be one of: ",
		"pod/a":                     "is not a Job",
		"--from f --speed nonsense": "invalid argument",
		"--interactive=perhaps":     "invalid argument",
	})
}

// liveEnvironment returns a test environment whose clock advances: a live source paces itself by it.
func liveEnvironment() cmdutil.Env {
	env := clitest.NewEnv()
	began := time.Now()
	env.Now = func() time.Time { return clitest.Now().Add(time.Since(began)) }
	return env
}

// untimed removes the time of day from each line.
func untimed(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(line, "  ")
		b.WriteString(rest)
	}
	return b.String()
}

// Issue 6.7: with --plain, or without a terminal, each change is a line.
func TestWatchPlain(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 3), clitest.SimpleJob("ns1", "b", 1))
	s := program.Start(t, api, liveEnvironment(), "watch")
	clitest.WaitFor(t, func() bool { return strings.Contains(s.Out.String(), "b  Running") }, s.Out.String)
	api.Put(clitest.FailedJob("a"))
	clitest.WaitFor(t, func() bool { return strings.Contains(s.Out.String(), "a  Failed") }, s.Out.String)
	api.Remove(clitest.SimpleJob("ns1", "b", 1))
	clitest.WaitFor(t, func() bool { return strings.Contains(s.Out.String(), "b  Deleted") }, s.Out.String)
	s.Interrupt()
	assert.Equal(t, s.End(), cmdutil.ExitInterrupted)
	want := "a  Running, 3/10 done\nb  Running, 1/10 done\na  Failed, 1/10 done, reason PodFailurePolicy_OOM\nb  Deleted, was Running, 1/10 done\n"
	assert.Equal(t, untimed(s.Out.String()), want, s.Out.String(), "stdout")
}

// A Job that does not exist is an error before anything is drawn.
func TestWatchUnknownJob(t *testing.T) {
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 3))
	got := program.Run(t, api, "watch", "absent")
	got.Want(t, cmdutil.ExitError, "", `job "absent" not found in namespace "ns1"`)
	api = clitest.NewAPI(t, clitest.SimpleJob("ns1", "train", 3))
	if got = program.Run(t, api, "watch", "tarin"); !strings.Contains(got.ErrOut, "did you mean train?") {
		t.Errorf("%q", got.ErrOut)
	}
}

// Issue 6.5: a recording is played without a cluster, and files are not overwritten.
func TestWatchRecordAndReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "watch.jsonl")
	api := clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 3))
	s := program.Start(t, api, liveEnvironment(), "watch", "--record", file, "--exit-status")
	clitest.WaitFor(t, func() bool { return strings.Contains(s.Out.String(), "Running") }, s.ErrOut.String)
	api.Put(clitest.FailedJob("a"))
	assert.Equal(t, s.End(), cmdutil.ExitJobFailed, s.ErrOut.String())
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the recording is %v, %v", info, err)
	}
	got := program.Run(t, nil, "watch", "--from", file, "--speed", "0")
	want := strings.ReplaceAll(s.Out.String(), "  a  ", "  ns1/a  ")
	if got.Code != cmdutil.ExitDone || untimed(got.Out) != untimed(want) {
		t.Errorf("replay: exit %d\n%s%s\nwant\n%s", got.Code, got.Out, got.ErrOut, want)
	}
	program.Run(t, api, "watch", "--record", file).Want(t, cmdutil.ExitError, "", "already exists")
	for _, bad := range []string{filepath.Join(t.TempDir(), "none"), "watch_test.go"} {
		program.Run(t, nil, "watch", "--from", bad).Want(t, cmdutil.ExitError, "", "error: --from")
	}
}

// script is a Source of given Snapshots, and then of an error.
type script struct {
	left []*snapshot.Snapshot
	end  error
}

func (s *script) Look(snapshot.Focus) {}

func (s *script) Next(context.Context, uint64) (*snapshot.Snapshot, error) {
	if len(s.left) == 0 {
		return nil, s.end
	}
	next := s.left[0]
	s.left = s.left[1:]
	return next, nil
}

// Issue 6.7: for one Job, problems and causes are printed, each once, with hostile text escaped; numbers are printed
// once per second, and the last ones at the end.
func TestPlainPrintsProblemsAndCausesOfOneJobOnce(t *testing.T) {
	at := clitest.Now()
	moment := func(after time.Duration, succeeded int32, change func(*snapshot.Snapshot)) *snapshot.Snapshot {
		s := &snapshot.Snapshot{
			Time: at.Add(after),
			Jobs: &snapshot.Jobs{Items: []explain.Outline{{Namespace: "ns", Name: "a", Status: "Running", Succeeded: succeeded, Active: 1}}},
			Job:  &snapshot.Job{Report: &explain.Report{Job: explain.Job{Namespace: "ns", Name: "a"}}},
		}
		if change != nil {
			change(s)
		}
		return s
	}
	rule, since := int32(2), metav1.NewTime(at)
	cause := func(n int32) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Job.Report.Causes = []explain.Cause{
				{Text: "main \x1b[31mended", Count: n, Ruling: explain.Ruling{Rule: &rule, RuleName: "OOM", Action: "FailIndex"}},
				{Text: "the Job stopped it", Stop: explain.Stop{Stopped: explain.StoppedSuspended}}, {Text: "the Job ended", Stop: explain.Stop{Consequence: true}},
			}
			s.Job.Report.Problems = []explain.Problem{{Kind: explain.ProblemUnschedulable, Text: map[int32]string{1: "1 pod waits", 2: "2 pods wait"}[n]}}
		}
	}
	source := &script{end: io.EOF, left: []*snapshot.Snapshot{
		moment(0, 1, nil),
		moment(300*time.Millisecond, 2, cause(1)),
		moment(600*time.Millisecond, 3, cause(2)),
		moment(1100*time.Millisecond, 4, func(s *snapshot.Snapshot) { s.Link = snapshot.Link{StaleSince: &at, Why: "refused\n\x07"} }),
		moment(1200*time.Millisecond, 5, func(s *snapshot.Snapshot) {
			s.Job.Report.Conditions = []explain.Condition{{Type: "Failed", Status: "True", Reason: "R", Message: "m", Since: &since}, {Type: "Suspended", Status: "False"}}
			s.Job.Report.Verdict = explain.Verdict{Outcome: reconcile.OutcomeFailed, Sentence: "It failed."}
		}),
	}}
	// Another Job with the name is printed from the beginning, including lines that are the same.
	again := moment(1300*time.Millisecond, 5, cause(1))
	again.Jobs.Items[0].UID, again.Job.Report.Job.UID = "another", "another"
	source.left = append(source.left, again)
	var out, errOut strings.Builder
	v := &plainView{out: &out, errOut: &errOut, now: clitest.Now, job: types.NamespacedName{Namespace: "ns", Name: "a"}}
	assert.NoError(t, v.follow(t.Context(), source, func(*snapshot.Snapshot) bool { return false }))
	want := `12:00:00  a  Running, 1/1 done, 1 active
12:00:00  a  problem: 1 pod waits
12:00:00  a  cause: main \x1b[31mended; rule 2 "OOM": FailIndex
12:00:01  a  Running, 4/1 done, 1 active
12:00:01  a  condition Failed: R: m
12:00:01  a  It failed.
12:00:01  a  Deleted, was Running, 4/1 done, 1 active
12:00:01  a  Running, 5/1 done, 1 active
12:00:01  a  problem: 1 pod waits
12:00:01  a  cause: main \x1b[31mended; rule 2 "OOM": FailIndex
`
	assert.Equal(t, out.String(), want, "stdout")
	wantErr := `12:00:01  Lost connection to the API server, retrying: refused\n\x07
12:00:01  Reconnected to the API server.
`
	assert.Equal(t, errOut.String(), wantErr, "stderr")
}

// observe and result decide the exit status from the Snapshots.
func TestWatchedEnd(t *testing.T) {
	job := func(name, uid string, outcome reconcile.Outcome) explain.Outline {
		return explain.Outline{Namespace: "ns", Name: name, UID: uid, Outcome: outcome}
	}
	list := func(jobs ...explain.Outline) *snapshot.Snapshot {
		return &snapshot.Snapshot{Jobs: &snapshot.Jobs{Items: jobs}}
	}
	gone := func(s *snapshot.Snapshot, jobs ...explain.Outline) *snapshot.Snapshot {
		s.Jobs.Gone = jobs
		return s
	}
	explained := func(outcome reconcile.Outcome) *snapshot.Snapshot {
		s := list(job("a", "1", reconcile.OutcomeComplete))
		s.Job = &snapshot.Job{Report: &explain.Report{Job: explain.Job{UID: "1"}, Verdict: explain.Verdict{Outcome: outcome}}}
		return s
	}
	behind := explained(reconcile.OutcomeSucceeding)
	for _, tc := range []struct {
		name  string
		names []string
		seen  []*snapshot.Snapshot
		done  bool
		code  int
	}{
		{"nothing yet", nil, []*snapshot.Snapshot{{}}, false, cmdutil.ExitInterrupted},
		{"no Jobs", nil, []*snapshot.Snapshot{list()}, false, cmdutil.ExitInterrupted},
		{"one runs", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeComplete), job("b", "2", reconcile.OutcomeOpen))}, false, cmdutil.ExitInterrupted},
		{"decided is not ended", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeFailing))}, false, cmdutil.ExitInterrupted},
		{"all complete", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeComplete))}, true, cmdutil.ExitDone},
		{"one failed", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeComplete), job("b", "2", reconcile.OutcomeFailed))}, true, cmdutil.ExitJobFailed},
		{"a name went before the first list", []string{"a", "b"}, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeComplete))}, true, cmdutil.ExitError},
		{"a name ended and went before the first list", []string{"a", "b"}, []*snapshot.Snapshot{gone(list(job("a", "1", reconcile.OutcomeComplete)), job("b", "2", reconcile.OutcomeFailed))}, true, cmdutil.ExitJobFailed},
		{"complete with the change that took it", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeOpen)), gone(list(), job("a", "1", reconcile.OutcomeComplete))}, true, cmdutil.ExitDone},
		{"failed with the change that took it", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeOpen)), gone(list(), job("a", "1", reconcile.OutcomeFailed))}, true, cmdutil.ExitJobFailed},
		{"another of the name had ended", nil, []*snapshot.Snapshot{list(job("a", "2", reconcile.OutcomeOpen)), gone(list(), job("a", "1", reconcile.OutcomeComplete))}, true, cmdutil.ExitError},
		{"failed, and complete when made anew", nil, []*snapshot.Snapshot{
			list(job("a", "1", reconcile.OutcomeFailed), job("b", "3", reconcile.OutcomeOpen)),
			list(job("a", "2", reconcile.OutcomeComplete), job("b", "3", reconcile.OutcomeComplete)),
		}, true, cmdutil.ExitJobFailed},
		{"ended, then deleted", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeFailed)), list()}, true, cmdutil.ExitJobFailed},
		{"deleted", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeOpen)), list()}, true, cmdutil.ExitError},
		{"created anew", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeOpen)), list(job("a", "2", reconcile.OutcomeComplete))}, true, cmdutil.ExitError},
		{"the explanation is older", nil, []*snapshot.Snapshot{behind}, false, cmdutil.ExitDone},
		{"the explanation follows", nil, []*snapshot.Snapshot{behind, explained(reconcile.OutcomeComplete)}, true, cmdutil.ExitDone},
		{"the explanation does not follow", nil, slices.Repeat([]*snapshot.Snapshot{behind}, maxBehind+1), true, cmdutil.ExitDone},
		{"ended, created anew", nil, []*snapshot.Snapshot{list(job("a", "1", reconcile.OutcomeFailed)), list(job("a", "2", reconcile.OutcomeOpen))}, false, cmdutil.ExitInterrupted},
	} {
		end := &exitStatus{names: tc.names, words: follow.Words{Past: "finished"}}
		done := false
		for _, s := range tc.seen {
			done = end.observe(s)
		}
		if code := cmdutil.ExitCode(end.result()); done != tc.done || code != tc.code {
			t.Errorf("%s: done %v, exit code %d, want %v, %d", tc.name, done, code, tc.done, tc.code)
		}
	}
	if !errors.Is((&exitStatus{}).result(), context.Canceled) {
		t.Error("leaving before the end is an interruption")
	}
}

// Issue 17, point 3: a stalled Job has a line of its own, with the cause; a missing permission is reported once.
// Requirements: CLI-06, CLI-08
func TestPlainShowsStalledJobs(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 0)
	job.Object["spec"].(map[string]any)["parallelism"] = int64(0)
	o := clitest.NewObjects(t, job, clitest.SimpleJob("ns1", "b", 1))
	o.RefusePath("/events", 403, "Forbidden")
	s := program.Start(t, o.API, liveEnvironment(), "watch")
	clitest.WaitFor(t, func() bool { return strings.Contains(s.ErrOut.String(), "stalled") }, s.ErrOut.String)
	o.API.Put(clitest.FailedJob("b"))
	clitest.WaitFor(t, func() bool { return strings.Contains(s.Out.String(), "b  Failed") }, s.Out.String)
	s.Interrupt()
	s.End()
	if !strings.HasPrefix(untimed(s.Out.String()), "a  Stalled, 0/10 done, reason NoParallelism\n") {
		t.Errorf("%s", s.Out.String())
	}
	if want := "Jobs that are stalled may be shown as Running: events could not be read: no permission to list events in namespace ns1. Check it with: kubectl auth can-i list events -n ns1\n"; s.ErrOut.String() != want {
		t.Errorf("%q", s.ErrOut.String())
	}
}

// The notice "No jobs found yet" is for Jobs that may come: after a deletion, only the line about the deletion is
// printed.
// Requirements: CLI-08
func TestPlainNotesOnceThatThereAreNoJobs(t *testing.T) {
	at := clitest.Now()
	of := func(after time.Duration, items ...explain.Outline) *snapshot.Snapshot {
		return &snapshot.Snapshot{Time: at.Add(after), Jobs: &snapshot.Jobs{Items: items}}
	}
	follow := func(snapshots ...*snapshot.Snapshot) (out, errOut string) {
		var o, e strings.Builder
		v := &plainView{out: &o, errOut: &e, now: clitest.Now}
		assert.NoError(t, v.follow(t.Context(), &script{end: io.EOF, left: snapshots}, func(*snapshot.Snapshot) bool { return false }))
		return o.String(), e.String()
	}
	job := explain.Outline{Namespace: "ns", Name: "a", Status: "Running"}
	out, errOut := follow(of(0, job), of(time.Second), of(2*time.Second))
	if !strings.HasSuffix(out, "12:00:01  a  Deleted, was Running, 0/1 done\n") || errOut != "" {
		t.Errorf("deleted: %q, %q", out, errOut)
	}
	if _, errOut = follow(of(0), of(time.Second)); errOut != "12:00:00  No jobs found yet.\n" {
		t.Errorf("none: %q", errOut)
	}
}
