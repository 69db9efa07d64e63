package retry

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// If the name exists, nothing is changed, and the message distinguishes another retry from any other Job.
// Requirements: RTY-06
func TestNameOfRetryExists(t *testing.T) {
	for _, c := range []struct {
		args, name string
		change     func(*unstructured.Unstructured)
		meanwhile  bool // the Job is created after the family was read
		text       string
	}{
		{args: "a", name: "a-retry-1", meanwhile: true, text: "job.batch/a-retry-1 exists already; choose another name with --name"},
		{args: "a --name other", name: "other", text: "job.batch/other exists already; choose another name with --name"},
		{args: "a --name other --dry-run=server", name: "other", text: "job.batch/other exists already; choose another name with --name"},
		{args: "a", name: "a-retry-1", change: isOf("a", "1"), meanwhile: true, text: "job.batch/a-retry-1 exists already: another retry of a has created it; see it with: kubectl batchjob status a-retry-1"},
	} {
		api := clitest.NewWrites(t, failedJob(t, "a"))
		existing := failedJob(t, c.name)
		if c.change != nil {
			c.change(existing)
		}
		if !c.meanwhile {
			api.API.Put(existing)
		}
		api.Around = func(_ string, _ *http.Request, serve func()) {
			if c.meanwhile {
				api.API.Put(existing)
			}
			serve()
		}
		wantRun(t, program.Run(t, api.API, append([]string{"retry"}, strings.Fields(c.args)...)...), cmdutil.ExitError, c.text)
		if calls := fmt.Sprint(api.Calls()); calls != "[create jobs]" || api.Job(c.name).GetUID() != existing.GetUID() {
			t.Errorf("%s: %s", c.args, calls)
		}
	}
}

// A retry of an earlier Job of the same name, or any other Job, may have the name: the next free number is used.
//
// Requirements: RTY-14
func TestNameOfAStrangerIsSkipped(t *testing.T) {
	earlier := failedJob(t, "a-retry-1", isOf("a", "1"))
	earlier.SetAnnotations(map[string]string{retry.UIDAnnotation: "uid-earlier", retry.AttemptAnnotation: "1"})
	api := clitest.NewWrites(t, failedJob(t, "a"), earlier, failedJob(t, "a-retry-2"))
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitDone, "job.batch/a-retry-3 created\n")
	made := api.Job("a-retry-3")
	if made.GetAnnotations()[retry.AttemptAnnotation] != "3" || made.GetAnnotations()[retry.UIDAnnotation] != "uid-a" {
		t.Errorf("%v", made.GetAnnotations())
	}
}

// However many names are taken, a retry checks only a few, and then uses a name with a hash. With --name, it checks
// none.
//
// Requirements: RTY-14
func TestNamesOfManyStrangers(t *testing.T) {
	jobs := []*unstructured.Unstructured{failedJob(t, "a")}
	for n := range 50 {
		jobs = append(jobs, failedJob(t, fmt.Sprintf("a-retry-%d", n+1)))
	}
	for flag, c := range map[string]struct {
		reads int
		text  string
	}{"--dry-run=server": {1 + retry.MaxTaken, `^job.batch/a-[0-9a-f]{8}-retry-1 created`}, "--name=b": {1, "^job.batch/b created"}} {
		api, reads := clitest.NewWrites(t, jobs...), atomic.Int32{}
		api.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/jobs/") {
				reads.Add(1)
			}
			return nil
		})
		got := program.Run(t, api.API, "retry", "a", flag)
		if !regexp.MustCompile(c.text).MatchString(got.Out) || int(reads.Load()) != c.reads {
			t.Errorf("%s: %d reads of Jobs, want %d; %s%s", flag, reads.Load(), c.reads, got.Out, got.ErrOut)
		}
	}
}

// A retry that was scaled down and is complete names the Job that lacks indexes.
//
// Requirements: RTY-26
func TestScaledDownRetryNamesTheLargerJob(t *testing.T) {
	small := failedJob(t, "a-retry-1", isOf("a", "1"), set(int64(4), "spec", "completions"), set("0-3", "status", "completedIndexes"),
		set("", "status", "failedIndexes"), set([]any{map[string]any{"type": "Complete", "status": "True"}}, "status", "conditions"))
	api := clitest.NewWrites(t, failedJob(t, "a"), small)
	wantRun(t, program.Run(t, api.API, "retry", "a-retry-1"), cmdutil.ExitError,
		"job.batch/a-retry-1 lacks nothing, but job.batch/a, which has more indexes, lacks index 4; run what is missing: kubectl batchjob retry a\n")
}

// A Job with a manual selector may have a name that is too long for a label; its retries are found anyway.
//
// Requirements: RTY-09, RTY-14
func TestRetryOfALongName(t *testing.T) {
	long := strings.Repeat("long-name-", 9) + "a"
	job := failedJob(t, long, set("NonIndexed", "spec", "completionMode"), set(true, "spec", "manualSelector"))
	api := clitest.NewWrites(t, job)
	wantRun(t, program.Run(t, api.API, "retry", long), cmdutil.ExitDone, "-retry-1 created\n")
	wantRun(t, program.Run(t, api.API, "retry", long), cmdutil.ExitError, "-retry-1 has not finished")
}

// A second retry replaces the Job of the first between two requests: the first reports it, and does not change the
// other Job.
// Requirements: RTY-06
func TestRetryIsOvertaken(t *testing.T) {
	for _, at := range []string{"patch jobs/status", "patch jobs"} {
		api := clitest.NewWrites(t, failedJob(t, "a"))
		api.Around = func(call string, _ *http.Request, serve func()) {
			if call == at {
				api.API.Remove(api.Job("a-retry-1"))
				api.API.Put(failedJob(t, "a-retry-1", isOf("a", "1")))
			}
			serve()
		}
		got := program.Run(t, api.API, "retry", "a", "--indexes", "2")
		wantRun(t, got, cmdutil.ExitError, "job.batch/a-retry-1 was deleted before it ran, perhaps by another retry")
		jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)
	}
}

// The Job of an interrupted retry is replaced, even if its controller updates it meanwhile, unless it keeps changing.
// Requirements: RTY-05, RTY-06
func TestInterruptedRetryIsReplaced(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"), failedJob(t, "a-retry-1", isOf("a", "1"), isPending))
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitDone, "Removed job.batch/a-retry-1, whose creation was interrupted.\n", "job.batch/a-retry-1 created\n")
	jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)

	api = clitest.NewWrites(t, failedJob(t, "a"), failedJob(t, "a-retry-1", isOf("a", "1"), isPending))
	wantRun(t, program.Run(t, api.API, "retry", "a-retry-1"), cmdutil.ExitError, "job.batch/a-retry-1 is a retry whose creation was interrupted, and runs nothing; retry a, which replaces it")
	api.Around = func(call string, _ *http.Request, serve func()) {
		if call == "delete jobs" {
			api.API.Put(api.Job("a-retry-1"))
		}
		serve()
	}
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitError, "another retry is creating job.batch/a-retry-1; try again")
	jobState{"a-retry-1", "held"}.want(t, api)

	writes := 0
	api.Around = func(call string, _ *http.Request, serve func()) {
		if call == "delete jobs" {
			if writes++; writes == 1 {
				api.API.Put(api.Job("a-retry-1"))
			}
		}
		serve()
	}
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitDone, "Removed job.batch/a-retry-1, whose creation was interrupted.\n", "job.batch/a-retry-1 created\n")
	jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)

	api = clitest.NewWrites(t, failedJob(t, "a"), failedJob(t, "a-retry-1", isOf("a", "1"), isPending))
	api.Deny("delete jobs")
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitError, "you may not delete jobs")
	jobState{"a-retry-1", "held"}.want(t, api)
}

// Ctrl-C before or after any of its requests leaves nothing, or a Job that runs nothing or the right indexes; the
// exit code and the output agree with that.
// Requirements: RTY-05
func TestCtrlCDuringRetry(t *testing.T) {
	const all, some = "", "0,1,3,5"
	for _, c := range []struct {
		at        string
		after     bool
		completed string
		state     string
	}{
		{"create jobs", false, some, "none"},
		{"create jobs", true, some, "none"},
		{"create jobs", true, all, "runs without "},
		{"patch jobs/status", false, some, "none"},
		{"patch jobs/status", true, some, "none"},
		{"patch jobs", false, some, "none"},
		{"patch jobs", true, some, "runs without 0,1,3,5"},
	} {
		t.Run(fmt.Sprintf("%s, after %v, without %s", c.at, c.after, c.completed), func(t *testing.T) {
			api := clitest.NewWrites(t, failedJob(t, "a", set(c.completed, "status", "completedIndexes")))
			interrupt := make(chan struct{})
			api.Around = func(call string, r *http.Request, serve func()) {
				if call != c.at {
					serve()
					return
				}
				if c.after {
					serve()
				}
				close(interrupt)
				<-r.Context().Done()
			}
			session := program.Start(t, api.API, clitest.NewEnv(), "retry", "a")
			<-interrupt
			session.Interrupt()
			if code := session.End(); code != cmdutil.ExitInterrupted || session.Out.String() != "" {
				t.Errorf("exit %d\n%s%s", code, session.Out.String(), session.ErrOut.String())
			}
			jobState{"a-retry-1", c.state}.want(t, api)
			if text := strings.Contains(session.ErrOut.String(), "job.batch/a-retry-1 was created, and runs.\n"); text != strings.HasPrefix(c.state, "runs") {
				t.Errorf("%s", session.ErrOut.String())
			}
		})
	}
}

// lose serves the call, and drops its response.
func lose(at string) func(call string, r *http.Request, serve func()) {
	return func(call string, _ *http.Request, serve func()) {
		if serve(); call == at {
			panic(http.ErrAbortHandler)
		}
	}
}

// refuse answers reads of the Job with an error, once the call was made.
func refuse(api *clitest.Writes, name, after string) {
	api.API.Refuse = func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/jobs/"+name) && slices.Contains(api.Calls(), after) {
			return &clitest.Status{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "etcd is gone"}
		}
		return nil
	}
}

// If the response to any of its requests is lost, the Job is found by the ID of its request, or removed, and the
// message is correct.
//
// Requirements: RTY-27
func TestRetryWithALostAnswer(t *testing.T) {
	const all, some = "", "0,1,3-5"
	for _, c := range []struct {
		at        string
		completed string
		code      int
		text      string
		state     string
	}{
		{"create jobs", some, cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "runs without 0,1,3-5"},
		{"create jobs", all, cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "runs without "},
		{"patch jobs/status", some, cmdutil.ExitError, "EOF", "none"},
		{"patch jobs", some, cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "runs without 0,1,3-5"},
	} {
		api := clitest.NewWrites(t, failedJob(t, "a", set(c.completed, "status", "completedIndexes")))
		api.Around = lose(c.at)
		wantRun(t, program.Run(t, api.API, "retry", "a"), c.code, c.text)
		jobState{"a-retry-1", c.state}.want(t, api)
	}
}

// If the Job cannot be read after a lost response, the message says only that it may run.
//
// Requirements: RTY-27
func TestRetryWithALostAnswerThatCannotBeRead(t *testing.T) {
	for at, text := range map[string]string{
		"create jobs":       "job.batch/a-retry-1 may have been created, or may still be; see it with: kubectl batchjob status a-retry-1 -n ns1",
		"patch jobs/status": "job.batch/a-retry-1 was created, and may be left suspended; it runs nothing; the next retry removes it",
		"patch jobs":        "job.batch/a-retry-1 was created, and it is not known whether it runs; see it with: kubectl batchjob status a-retry-1 -n ns1",
	} {
		api := clitest.NewWrites(t, failedJob(t, "a"))
		api.Around = lose(at)
		refuse(api, "a-retry-1", at)
		wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitError, text)
	}
	api := clitest.NewWrites(t, failedJob(t, "a")) // A rejected request leaves no doubt.
	api.Deny("create jobs")
	if got := program.Run(t, api.API, "retry", "a"); strings.Contains(got.ErrOut, "may have been created") {
		t.Errorf("%s", got.ErrOut)
	}
}

// A created Job is named even if it cannot be printed.
//
// Requirements: RTY-19, RTY-27
func TestUnprintableRetryIsNamed(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	wantRun(t, program.Run(t, api.API, "retry", "a", "-o", "go-template={{index .kind 99}}"), cmdutil.ExitError, "job.batch/a-retry-1 was created, but cannot be printed: ")
	jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)
}

// The controller of the Job may update its status while an interrupted retry removes it.
// Requirements: RTY-05
func TestInterruptedRetryMeetsTheController(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	api.Deny("patch jobs/status", "create selfsubjectaccessreviews")
	deletions := 0
	api.Around = func(call string, _ *http.Request, serve func()) {
		if call == "delete jobs" {
			if deletions++; deletions < 3 {
				api.API.Put(api.Job("a-retry-1"))
			}
		}
		serve()
	}
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitError, "you may not patch jobs/status")
	jobState{"a-retry-1", "none"}.want(t, api)
}

// A dry run stores nothing, and does not remove the Job of an interrupted retry.
// Requirements: RTY-16
func TestDryRunOfRetry(t *testing.T) {
	for _, c := range []struct{ args, out, calls string }{
		{"--dry-run=client", "job.batch/a-retry-1 created (dry run)\n", "[]"},
		{"--dry-run=server", "job.batch/a-retry-1 created (server dry run)\n", "[create jobs]"},
		{"--dry-run=client -o yaml", "\n  suspend: true\n", "[]"},
	} {
		api := clitest.NewWrites(t, failedJob(t, "a"), failedJob(t, "b"), failedJob(t, "b-retry-1", isOf("b", "1"), isPending))
		wantRun(t, program.Run(t, api.API, append([]string{"retry", "a"}, strings.Fields(c.args)...)...), cmdutil.ExitDone, c.out)
		jobState{"a-retry-1", "none"}.want(t, api)
		if calls := fmt.Sprint(api.Calls()); calls != c.calls {
			t.Errorf("%s: %s", c.args, calls)
		}
		program.Run(t, api.API, append([]string{"retry", "b"}, strings.Fields(c.args)...)...)
		jobState{"b-retry-1", "held"}.want(t, api)
	}
}

// A retry of a retry belongs to the first Job, and runs what neither has completed.
// Requirements: RTY-09
func TestRetryOfARetry(t *testing.T) {
	first := failedJob(t, "a-retry-1", isOf("a", "1"), set("0-3,5", "status", "completedIndexes"), set("4", "status", "failedIndexes"))
	for _, name := range []string{"a", "a-retry-1"} {
		api := clitest.NewWrites(t, failedJob(t, "a"), first)
		wantRun(t, program.Run(t, api.API, "retry", name), cmdutil.ExitDone, "job.batch/a-retry-2 created\n", "It runs index 4;")
		made := api.Job("a-retry-2")
		if made.GetLabels()[retry.OfLabel] != "a" || made.GetAnnotations()[retry.UIDAnnotation] != "uid-a" || made.GetAnnotations()[retry.AttemptAnnotation] != "2" {
			t.Errorf("%v %v", made.GetLabels(), made.GetAnnotations())
		}
	}
}

// --failed-only leaves out index 4, unless one of its pods has started.
// Requirements: RTY-02
func TestFailedOnly(t *testing.T) {
	job := failedJob(t, "a")
	for phase, runs := range map[corev1.PodPhase]string{corev1.PodPending: "It runs index 2;", corev1.PodFailed: "It runs 2 indexes (2,4);"} {
		api := clitest.NewWrites(t, job)
		pod := clitest.EndedPod(job, "a-4", 1, "")
		pod.Labels = map[string]string{"batch.kubernetes.io/job-name": "a"}
		pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "4"}
		pod.Status.Phase = phase
		api.Pods.Put(pod)
		wantRun(t, program.Run(t, api.API, "retry", "a", "--failed-only"), cmdutil.ExitDone, runs)
	}
}

// Labels and owners of other tools are dropped with a warning; a queue of Kueue starts the copy.
// Requirements: RTY-11, RTY-12
func TestRetryOfOthersJobs(t *testing.T) {
	job := failedJob(t, "a", func(job *unstructured.Unstructured) {
		job.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm", "kustomize.toolkit.fluxcd.io/name": "apps", "kueue.x-k8s.io/queue-name": "gpu"})
		job.SetAnnotations(map[string]string{"argocd.argoproj.io/tracking-id": "shop:batch/Job:ns1/a"})
		_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "train", "uid": "j"}}, "metadata", "ownerReferences")
	})
	api := clitest.NewWrites(t, job)
	api.Around = func(call string, _ *http.Request, serve func()) {
		serve()
		if made := api.Job("a-retry-1"); call != "patch jobs" && made.GetLabels()["kueue.x-k8s.io/queue-name"] != "" {
			t.Errorf("Kueue may start it after %s", call)
		}
	}
	wantRun(t, program.Run(t, api.API, "retry", "a"), cmdutil.ExitDone,
		"warning: JobSet/train does not own the new Job, and does not know about it\n",
		"warning: app.kubernetes.io/managed-by was left out: the tool that sets it would take the new Job for its own\n",
		"warning: kustomize.toolkit.fluxcd.io/name was left out", "warning: argocd.argoproj.io/tracking-id was left out",
		"Kueue starts it (queue gpu).")
	jobState{"a-retry-1", "queued without 0,1,3,5"}.want(t, api)
	if made := api.Job("a-retry-1"); fmt.Sprint(made.GetLabels()) != "map[batchjob.dev/retry-of:a kueue.x-k8s.io/queue-name:gpu]" || made.GetOwnerReferences() != nil {
		t.Errorf("%v %v", made.GetLabels(), made.GetOwnerReferences())
	}
}
