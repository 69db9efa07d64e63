package run

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// train is the manifest of an Indexed Job with three indexes.
const train = `apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  backoffLimitPerIndex: 0
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
`

const other = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: other}\nspec:\n  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}\n"

// Requirements: RUN-01
func TestRunFollowsToTheEnd(t *testing.T) {
	server := newServer(t)
	s := server.run(train)
	server.Pods.Put(clitest.RunningPod("a", 0, 1))
	server.Pods.Write("train-a/main", "one")
	s.WaitOut("[index 0 attempt 1] one\n")
	server.finish("train", "Complete", "CompletionsReached", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	server.Pods.Write("train-a/main", "two")
	s.WaitOut("two\n")
	server.Pods.WithLog(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)))
	s.Result().Want(t, cmdutil.ExitDone, "[index 0 attempt 1] one\n[index 0 attempt 1] two\n",
		"job.batch/train created\n", "train  Running, 0/3 done", "job.batch/train Complete in ")
	assert.SlicesEqual(t, server.Named(), []string{"create train"})
	if job := server.Job("train"); job.Object["spec"].(map[string]any)["managedBy"] != nil {
		t.Errorf("%v", job.Object)
	}
}

// failTrain fails index 1 with a termination message, which ends the Job.
func (s *server) failTrain(message string) {
	pod := clitest.FailedPod("b", 1, 1)
	ended := pod.Status.ContainerStatuses[0].State.Terminated
	ended.Message = message
	ended.StartedAt.Time, ended.FinishedAt.Time = clitest.Now(), clitest.Now().Add(1500*time.Millisecond)
	pod.Spec.NodeName = "n1"
	s.Pods.WithLog(pod, "boom")
	s.finish("train", "Failed", "FailedIndexes", map[string]any{"failed": int64(1), "succeeded": int64(2), "completedIndexes": "0,2", "failedIndexes": "1"})
}

// Requirements: RUN-02
func TestFailureIsExplained(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train+other))
	s.WaitErr("other  Running")
	server.failTrain("")
	s.WaitErr("job.batch/train Failed: FailedIndexes")
	server.finish("other", "Complete", "", nil)
	s.Result().Want(t, cmdutil.ExitJobFailed, "[train index 1 attempt 1] boom\n", "job.batch/train Failed: FailedIndexes", "job.batch/other Complete", "✗ train failed after ", "Container main exited with code 1", "boom", "--full: ")
}

// Requirements: RUN-05
func TestLogsFailedAndNone(t *testing.T) {
	for choice, want := range map[string]string{"failed": "[index 1 attempt 1] boom\n", "none": ""} {
		server := newServer(t)
		s := server.start("-f", clitest.WriteManifest(t, train), "--logs", choice, "-q")
		clitest.WaitFor(t, func() bool { return server.Job("train") != nil }, s.ErrOut.String)
		server.Pods.WithLog(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)), "fine")
		server.failTrain("")
		s.Result().Want(t, cmdutil.ExitJobFailed, want, "job.batch/train created\n", "✗ train failed after ")
	}
}

// Requirements: RUN-03
func TestNothingIsCreatedForABadManifest(t *testing.T) {
	for name, c := range map[string]struct {
		manifest string
		args     string
		code     int
		wantText string
	}{
		"empty":               {"# nothing\n", "", cmdutil.ExitUsage, "no Jobs"},
		"another kind":        {configMap("c"), "", cmdutil.ExitError, "not a ConfigMap of v1; use: kubectl create -f"},
		"only another kind":   {configMap("c"), "--all-kinds", cmdutil.ExitError, "run follows Jobs, and there is none, only a ConfigMap; use: kubectl batchjob create -f"},
		"a CronJob":           {"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c}\nspec: {schedule: '* * * * *', jobTemplate: {spec: {}}}\n", "", cmdutil.ExitError, "run follows Jobs, and there is none, only a CronJob; use: kubectl batchjob create -f"},
		"another namespace":   {strings.Replace(train, "train}", "train, namespace: x}", 1), "-n ns1", cmdutil.ExitError, "does not match the namespace"},
		"one is not readable": {train + "---\n{", "", cmdutil.ExitError, "error: "},
		"no report possible":  {train, "--junit /nonexistent/r.xml", cmdutil.ExitError, "cannot write --junit"},
		"a folder as report":  {train, "--junit /", cmdutil.ExitError, "/ is not a regular file"},
		"bad logs":            {train, "--logs=some", cmdutil.ExitUsage, "must be one of: all, failed, none"},
		"bad cancel":          {train, "--on-cancel=stop", cmdutil.ExitUsage, "must be one of: keep, suspend, delete"},
		"memory, no retry":    {train, "--on-oom=memory=x2", cmdutil.ExitUsage, "--on-oom is for --retry"},
		"bad memory":          {train, "--retry=1 --on-oom=x2", cmdutil.ExitUsage, "--on-oom=x2: use memory=x2 or memory=+4Gi,max=32Gi"},
		"no raise":            {train, "--retry=1 --on-oom=memory=x1", cmdutil.ExitUsage, "--on-oom=memory=x1: x1 does not raise it"},
		"bad stall limit":     {train, "--fail-if-unscheduled=-1m", cmdutil.ExitUsage, "--fail-if-unscheduled=-1m0s: must be 0 or more"},
		"bad retry":           {train, "--retry=-1", cmdutil.ExitUsage, "--retry=-1: must be 0 or more"},
		"bad timeout":         {train, "--timeout=0s", cmdutil.ExitUsage, "--timeout=0s: must be more than 0"},
		"bad requests":        {train, "--max-log-requests=0", cmdutil.ExitUsage, "must be 1 or more"},
	} {
		server := newServer(t)
		got := program.Run(t, server.API, append([]string{"run", "-f", clitest.WriteManifest(t, c.manifest)}, strings.Fields(c.args)...)...)
		if got.Code != c.code || !strings.Contains(got.ErrOut, c.wantText) || len(server.Named()) > 0 {
			t.Errorf("%s: exit %d, %q, wrote %q", name, got.Code, got.ErrOut, server.Named())
		}
	}
	program.Run(t, nil, "run").Want(t, cmdutil.ExitUsage, "", "name a file with -f")
}

// Without the permission to read logs, the Jobs are followed, and one line reports it.
// Requirements: RUN-04
func TestLogsThatMayNotBeRead(t *testing.T) {
	for _, resource := range []string{"/log", "/pods"} {
		server := newServer(t)
		server.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if strings.HasSuffix(r.URL.Path, resource) {
				return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no logs for you"}
			}
			return nil
		})
		s := server.run(train, "--junit", filepath.Join(t.TempDir(), "r.xml"))
		server.failTrain("")
		s.Result().Want(t, cmdutil.ExitJobFailed, "", "No logs are printed: the API server denied the request: no logs for you")
		assert.Equal(t, strings.Count(s.ErrOut.String(), "No logs are printed"), 1, s.ErrOut.String(), "notes")
	}
}

// Requirements: RUN-06
func TestTimeout(t *testing.T) {
	for _, rm := range []bool{false, true} {
		server := newServer(t)
		fires := make(chan func(), 10)
		env := clitest.TimerEnv(5*time.Minute, func(fire func()) { fires <- fire })
		args := []string{"run", "-f", clitest.WriteManifest(t, train), "--timeout=5m", "-q"}
		if rm {
			args = append(args, "--rm")
		}
		s := program.Start(t, server.API, env, args...)
		clitest.WaitFor(t, func() bool { return server.API.Opened() > 0 }, s.ErrOut.String)
		(<-fires)()
		left := "job.batch/train keeps running; delete it with: kubectl delete job train -n ns1\n"
		if rm {
			left = "Deleted job.batch/train.\n"
		}
		s.Result().Want(t, cmdutil.ExitTimeout, "", "job.batch/train", left, "error: timed out after 5m0s: job.batch/train Running, 0/3 done\n")
		if exists := server.Job("train") != nil; exists == rm {
			t.Errorf("--rm=%t, and the Job exists: %t", rm, exists)
		}
	}
}

// Requirements: RUN-07
func TestCancel(t *testing.T) {
	for args, want := range map[string]struct{ write, wantText string }{
		"":                      {"", "Interrupted: job.batch/train keeps running; delete it with: kubectl delete job train -n ns1\n"},
		"--rm --on-cancel=keep": {"", "Interrupted: job.batch/train keeps running"},
		"--on-cancel=suspend":   {"patch train", "Interrupted: suspended job.batch/train; resume it with: kubectl patch job train -n ns1 -p '{\"spec\":{\"suspend\":false}}'\n"},
		"--on-cancel=delete":    {"delete train", "Deleted job.batch/train.\n"},
		"--rm":                  {"delete train", "Deleted job.batch/train.\n"},
	} {
		server := newServer(t)
		report := filepath.Join(t.TempDir(), "r.xml")
		s := server.run(train, append(strings.Fields(args), "--junit", report)...)
		server.Pods.Put(clitest.RunningPod("a", 0, 1))
		s.Interrupt()
		s.Result().Want(t, cmdutil.ExitInterrupted, "", want.wantText)
		assert.Equal(t, strings.Join(server.Named()[1:], " "), want.write, args)
		if text := read(t, report); !strings.Contains(text, `<error type="Interrupted"`) || !strings.Contains(text, "<skipped ") {
			t.Errorf("%s", text)
		}
	}
}

// If the API server does not answer a cleanup, it ends after ten seconds, and the Jobs that are left are printed.
// Requirements: RUN-07
func TestCleanupIsBounded(t *testing.T) {
	server := newServer(t)
	deletion := make(chan struct{})
	server.Around = func(call string, _ *http.Request, serve func()) {
		if call == "delete jobs" {
			<-deletion
		}
		serve()
	}
	env := clitest.TimerEnv(cleanupTime, func(fire func()) { go fire() })
	s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, train), "--on-cancel=delete")
	s.WaitErr("train  Running")
	s.Interrupt()
	s.Result().Want(t, cmdutil.ExitInterrupted, "", "error: cannot delete job.batch/train, which is left as it is", "delete it with: kubectl delete job train -n ns1")
	close(deletion)
}

// A retry runs the missing indexes, and its result is the result of the command.
// Requirements: RUN-09
func TestRetry(t *testing.T) {
	server := newServer(t)
	report := filepath.Join(t.TempDir(), "r.xml")
	s := server.run(train, "--retry=1", "--rm", "--junit", report)
	server.failTrain("")
	s.WaitErr("job.batch/train-retry-1 created (retry 1 of 1). It runs index 1; the other 2 indexes count as done.\n")
	s.WaitOut("boom") // Logs of different pods are in no particular order.
	retried := ofJob(clitest.TrainPod("c", 1, 1, corev1.PodSucceeded, clitest.Exited(0)), "train-retry-1")
	server.Pods.WithLog(retried, "better")
	server.finish("train-retry-1", "Complete", "", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	s.Result().Want(t, cmdutil.ExitDone, "[train index 1 attempt 1] boom\n[train-retry-1 index 1 attempt 1] better\n",
		"job.batch/train Failed", "train-retry-1 created", "job.batch/train-retry-1 Complete", "Deleted job.batch/train, job.batch/train-retry-1.\n")
	if want := []string{"create train", "create train-retry-1", "patch train-retry-1/status", "patch train-retry-1", "delete train", "delete train-retry-1"}; !slices.Equal(server.Named(), want) {
		t.Errorf("%q", server.Named())
	}
	if text := read(t, report); !strings.Contains(text, "<system-out>Failed in train: Container main exited with code 1</system-out>") || !strings.Contains(text, `failures="0"`) {
		t.Errorf("%s", text)
	}
}

// ofJob returns the pod with another Job as its owner.
func ofJob(pod *corev1.Pod, job string) *corev1.Pod {
	pod.Labels["job"] = job
	pod.OwnerReferences[0].Name, pod.OwnerReferences[0].UID = job, types.UID("ns1-"+job)
	return pod
}

// Requirements: RUN-09
func TestRetriesEnd(t *testing.T) {
	server := newServer(t)
	s := server.run(train, "--retry=1")
	server.failTrain("")
	s.WaitErr("train-retry-1 created")
	server.finish("train-retry-1", "Failed", "FailedIndexes", map[string]any{"failedIndexes": "1", "completedIndexes": "0,2"})
	s.Result().Want(t, cmdutil.ExitJobFailed, "[train index 1 attempt 1] boom\n", "job.batch/train-retry-1 Failed")

	server = newServer(t)
	server.Deny("patch jobs")
	s = server.run(train, "--retry=1")
	server.failTrain("")
	s.Result().Want(t, cmdutil.ExitJobFailed, "[train index 1 attempt 1] boom\n",
		"Cannot retry job.batch/train: you may not patch jobs in namespace \"ns1\", and without it every index would run again\n")
}

// run finds out whether a Job was stored before it continues, so that no Job runs unwatched, and none runs twice.
// Requirements: RUN-14
func TestCreationWithoutAnAnswerIsMadeOnce(t *testing.T) {
	generated := strings.Replace(other, "name: other", "generateName: other-", 1)
	for what, c := range map[string]struct {
		manifest string
		answers  []int
		stored   bool
		posts    int
	}{
		"stored":                     {other, []int{504}, true, 1},
		"stored, says a broken etcd": {other, []int{500}, true, 1},
		"not stored":                 {other, []int{504, 502}, false, 3},
		"of a generated name":        {generated, []int{504}, true, 1},
		"generated and not stored":   {generated, []int{502}, false, 2},
	} {
		server := newServer(t)
		server.first = true
		for _, code := range c.answers {
			server.outage = append(server.outage, clitest.Status{Code: code, Message: "no answer"})
		}
		if c.stored {
			server.stores = func(string) {}
		}
		s := server.start("-f", clitest.WriteManifest(t, c.manifest), "--rm")
		s.WaitErr(" created\n")
		written := server.Named()
		name, _ := strings.CutPrefix(written[0], "create ")
		s.WaitErr(name + "  Running")
		server.finish(name, "Complete", "", map[string]any{"succeeded": int64(1)})
		s.Result().Want(t, cmdutil.ExitDone, "", "Deleted job.batch/"+name)
		if len(written) != c.posts || len(slices.Compact(written)) != 1 || (c.manifest == generated) != (len(name) == len("other-")+5) {
			t.Errorf("%s: %q", what, written)
		}
	}
}

// client-go repeats a request by itself if the response has Retry-After.
// Requirements: RUN-14
func TestCreationThatWasRepeatedIsFollowed(t *testing.T) {
	for _, manifest := range []string{other, strings.Replace(other, "name: other", "generateName: other-", 1)} {
		server := newServer(t)
		server.first, server.retryAfter = true, true
		server.outage = []clitest.Status{{Code: 500, Message: "later"}}
		server.stores = func(string) {}
		s := server.start("-f", clitest.WriteManifest(t, manifest))
		s.WaitErr(" created\n")
		written := server.Named()
		name, _ := strings.CutPrefix(written[0], "create ")
		server.finish(name, "Complete", "", map[string]any{"succeeded": int64(1)})
		s.Result().Want(t, cmdutil.ExitDone, "", "job.batch/"+name+" Complete in ")
		assert.SlicesEqual(t, written, []string{"create " + name, "create " + name})
	}
}

// A Job that admission has rejected was not stored, so run does not look for it.
// Requirements: RUN-14
func TestFailingWebhookIsReportedAtOnce(t *testing.T) {
	server := newServer(t)
	server.first = true
	server.outage = []clitest.Status{{Code: 500, Reason: "InternalError", Message: `Internal error occurred: failed calling webhook "x.example.com": connection refused`}}
	s := server.start("-f", clitest.WriteManifest(t, other))
	s.Result().Want(t, cmdutil.ExitError, "", "failed calling webhook")
	assert.SlicesEqual(t, server.Named(), []string{"create other"})
}

// A Job of the same name that another client creates meanwhile is not ours, and is not deleted.
// Requirements: RUN-14
func TestCreationThatSomebodyElseMadeIsNotFollowed(t *testing.T) {
	server := newServer(t)
	server.first, server.outage = true, []clitest.Status{{Code: 504, Message: "no answer"}}
	server.stores = func(name string) {
		job := server.Job(name)
		job.SetAnnotations(map[string]string{retry.RequestAnnotation: "another"})
		server.API.Put(job)
	}
	s := server.start("-f", clitest.WriteManifest(t, other), "--rm")
	s.Result().Want(t, cmdutil.ExitError, "", "already exists")
	if got := server.Named(); !slices.Equal(got, []string{"create other", "create other"}) || server.Job("other") == nil {
		t.Errorf("%q", got)
	}
}

// If the API server stops answering, the error says that the Job may exist, and how to find out.
// Requirements: RUN-14
func TestCreationThatIsNeverAnswered(t *testing.T) {
	server := newServer(t)
	server.first, server.outage = true, []clitest.Status{{Code: 504, Message: "no answer"}}
	expired := make(chan func(), 1)
	env := clitest.TimerEnv(answerTime, func(fire func()) { expired <- fire })
	server.stores = func(string) {
		server.API.Mu.Lock()
		defer server.API.Mu.Unlock()
		server.API.Refuse = func(*http.Request) *clitest.Status {
			(<-expired)()
			return &clitest.Status{Code: 503, Message: "etcd"}
		}
	}
	s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, other))
	s.Result().Want(t, cmdutil.ExitError, "", "cannot find out whether job.batch/other was created: ", "kubectl get job other -n ns1")
}

// If the API server stores the Job and never responds, the error says that the Job may exist: when our own limit ends the
// request, which is no interruption, and when the time after Ctrl-C ends.
// Requirements: RUN-14
func TestHangingCreationNamesTheJob(t *testing.T) {
	for limit, code := range map[time.Duration]int{answerTime: cmdutil.ExitError, cleanupTime: cmdutil.ExitInterrupted} {
		server := newServer(t)
		stored := make(chan struct{})
		server.answers("other", func(r *http.Request) {
			close(stored)
			<-r.Context().Done()
		})
		env := clitest.TimerEnv(limit, func(fire func()) {
			go func() {
				<-stored
				fire()
			}()
		})
		s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, other))
		if <-stored; code == cmdutil.ExitInterrupted {
			s.Interrupt()
		}
		s.Result().Want(t, code, "", "error: cannot find out whether job.batch/other was created: no answer from the API server; look for it with: kubectl get job other -n ns1\n")
	}
}

// A retry waits for the end of an outage, reported by the API server or by a proxy.
// Requirements: RUN-09, RUN-10
func TestRetryWaitsForTheEndOfAnOutage(t *testing.T) {
	server := newServer(t)
	server.outage = []clitest.Status{{Code: 503, Reason: "ServiceUnavailable", Message: "etcd"}, {Code: 502, Message: "Bad Gateway"}, {Code: 504, Reason: "Timeout", Message: "too slow"}}
	s := server.run(train, "--retry=1")
	server.failTrain("")
	s.WaitErr("train-retry-1 created")
	server.finish("train-retry-1", "Complete", "", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	s.Result().Want(t, cmdutil.ExitDone, "[train index 1 attempt 1] boom\n", "Requests to the API server fail, retrying: the API server answered: etcd", "succeed again", "job.batch/train-retry-1 Complete")
	assert.Equal(t, strings.Count(strings.Join(server.Named(), "\n"), "create train-retry-1"), 4, server.Named(), "attempts")
}

// A retry that was stored although its response was lost becomes the attempt, whatever it has done since; no second
// one is created.
// Requirements: RUN-09, RUN-10
func TestRetryWithoutAnAnswerIsMadeOnce(t *testing.T) {
	failed := map[string]any{"failed": int64(1)}
	for what, c := range map[string]struct {
		answer    int
		meanwhile func(*server, string)
		code      int
	}{
		"runs":      {504, func(*server, string) {}, cmdutil.ExitDone},
		"an error":  {500, func(s *server, name string) { s.finish(name, "Complete", "", map[string]any{"succeeded": int64(1)}) }, cmdutil.ExitDone},
		"completed": {504, func(s *server, name string) { s.finish(name, "Complete", "", map[string]any{"succeeded": int64(1)}) }, cmdutil.ExitDone},
		"failed":    {504, func(s *server, name string) { s.finish(name, "Failed", "BackoffLimitExceeded", failed) }, cmdutil.ExitJobFailed},
	} {
		server := newServer(t)
		server.outage = []clitest.Status{{Code: c.answer, Message: "no answer"}}
		server.stores = func(name string) { c.meanwhile(server, name) }
		s := server.run(other, "--retry=1")
		server.finish("other", "Failed", "BackoffLimitExceeded", failed)
		s.WaitErr("other-retry-1 created (retry 1 of 1)")
		if what == "runs" {
			server.finish("other-retry-1", "Complete", "", map[string]any{"succeeded": int64(1)})
		}
		s.Result().Want(t, c.code, "", "job.batch/other-retry-1 created")
		assert.SlicesEqual(t, server.Named(), []string{"create other", "create other-retry-1"}, what)
	}
}

// A request that is stored late conflicts with the next one, which has the same ID.
// Requirements: RUN-09, RUN-10
func TestRetryThatArrivesLateIsFollowed(t *testing.T) {
	server := newServer(t)
	server.outage, server.delays = []clitest.Status{{Code: 503, Message: "later"}}, true
	s := server.retryOther()
	s.WaitErr("other-retry-1 created (retry 1 of 1)")
	server.finish("other-retry-1", "Complete", "", map[string]any{"succeeded": int64(1)})
	s.Result().Want(t, cmdutil.ExitDone, "", "job.batch/other-retry-1 Complete")
	assert.SlicesEqual(t, server.Named(), []string{"create other", "create other-retry-1", "create other-retry-1"})
}

// Requirements: RUN-07, RUN-10
func TestInterruptedOutageNamesTheRetry(t *testing.T) {
	server := newServer(t)
	for range 1000 {
		server.outage = append(server.outage, clitest.Status{Code: 503, Message: "later"})
	}
	s := server.retryOther()
	s.WaitErr("Requests to the API server fail, retrying")
	s.Interrupt()
	s.Result().Want(t, cmdutil.ExitInterrupted, "", "job.batch/other-retry-1 may have been created; see whether it was with: kubectl get job other-retry-1 -n ns1")
}

// A retry whose creation is interrupted once it is stored is subject to --on-cancel, too.
// Requirements: RUN-07, RUN-09
func TestInterruptedRetryIsCanceled(t *testing.T) {
	server := newServer(t)
	stored := make(chan struct{})
	server.answers("other-retry-1", func(r *http.Request) {
		close(stored)
		<-r.Context().Done()
	})
	lingers := sync.Once{} // Later limits are for deletions.
	env := clitest.TimerEnv(cleanupTime, func(fire func()) { lingers.Do(func() { go fire() }) })
	s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, other), "--retry=1", "--on-cancel=delete")
	s.WaitErr("other  Running")
	server.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	<-stored
	s.Interrupt()
	s.Result().Want(t, cmdutil.ExitInterrupted, "", "job.batch/other-retry-1 was created, and runs.\n", "Deleted job.batch/other, job.batch/other-retry-1.\n")
}

// A retry that another client has created meanwhile is not followed.
// Requirements: RUN-09
func TestRetryOfAnotherUserIsNotFollowed(t *testing.T) {
	server := newServer(t)
	server.outage = []clitest.Status{{Code: 503, Message: "later"}}
	server.stores = func(name string) {
		job := server.Job(name)
		annotations := job.GetAnnotations()
		annotations[retry.RequestAnnotation] = "another"
		job.SetAnnotations(annotations)
		server.API.Put(job)
	}
	s := server.retryOther()
	s.Result().Want(t, cmdutil.ExitJobFailed, "", "Cannot retry job.batch/other: ")
	assert.SlicesEqual(t, server.Named(), []string{"create other", "create other-retry-1"})
}

// Jobs may be in several namespaces, and several retries run beside other Jobs.
// Requirements: RUN-01, RUN-09
func TestSeveralNamespaces(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train+strings.Replace(other, "other}", "other, namespace: ns2}", 1)), "--retry=2", "--logs=none", "--on-cancel=suspend")
	s.WaitErr("ns2/other  Running")
	server.failTrain("")
	s.WaitErr("job.batch/train-retry-1 -n ns1 created (retry 1 of 2)")
	server.finish("train-retry-1", "Failed", "FailedIndexes", map[string]any{"failedIndexes": "1", "completedIndexes": "0,2"})
	s.WaitErr("job.batch/train-retry-2 -n ns1 created (retry 2 of 2)")
	server.finish("train-retry-2", "Complete", "", map[string]any{"completedIndexes": "0-2"})
	s.WaitErr("job.batch/train-retry-2 -n ns1 Complete")
	s.Interrupt()
	s.Result().Want(t, cmdutil.ExitInterrupted, "", "Interrupted: suspended job.batch/other -n ns2; resume it with: kubectl patch job other -n ns2")
	if suspended, _, _ := unstructured.NestedBool(server.Job("ns2/other").Object, "spec", "suspend"); !suspended {
		t.Error("not suspended")
	}
}

// failingWriter is a stdout that fails.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// If logs cannot be printed, the command ends, and reports that the Job keeps running.
// Requirements: RUN-05
func TestStdoutFails(t *testing.T) {
	server := newServer(t)
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, server.API.URL()))
	var errOut leash.Output
	done := make(chan error, 1)
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(train), Out: failingWriter{}, ErrOut: &errOut}
		done <- program.Execute(t.Context(), []string{"run", "-f", "-"}, streams, clitest.NewEnv())
	}()
	clitest.WaitFor(t, func() bool { return strings.Contains(errOut.String(), "train  Running") }, errOut.String)
	server.Pods.Put(clitest.RunningPod("a", 0, 1))
	server.Pods.Write("train-a/main", "one")
	err := <-done
	if cmdutil.ExitCode(err) != cmdutil.ExitError || !strings.Contains(err.Error(), "no space left") || !strings.Contains(errOut.String(), "job.batch/train keeps running") {
		t.Errorf("%v\n%s", err, errOut.String())
	}
}

// On a terminal, the progress is a line with a bar that makes room for logs.
// Requirements: RUN-01
func TestProgressOnATerminal(t *testing.T) {
	for locale, bar := range map[string]string{"C.UTF-8": "████████▒▒▒▒▒▒······", "C": "########======......"} {
		t.Setenv("LC_ALL", locale)
		t.Setenv("TERM", "xterm")
		server := newServer(t)
		env := clitest.NewEnv()
		env.Terminal = func(io.Writer) int { return 80 }
		s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, train))
		s.WaitErr("  train  Running, 0/3 done")
		job := server.Job("train")
		job.Object["status"] = map[string]any{"succeeded": int64(1), "active": int64(1), "completedIndexes": "0"}
		server.API.Put(job)
		line := bar + "  train  Running, 1/3 done, 1 active"
		s.WaitErr("\r" + line)
		server.Pods.WithLog(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)), "one")
		s.WaitOut("one\n")
		s.WaitErr("\r" + strings.Repeat(" ", utf8.RuneCountInString(line)) + "\r")
		server.finish("train", "Complete", "", nil)
		s.Result().Prints(t, cmdutil.ExitDone, "one\n")
	}
}

// run waits for a lost connection.
// Requirements: RUN-10
func TestLostConnection(t *testing.T) {
	server := newServer(t)
	s := server.run(train)
	server.Pods.Put(clitest.RunningPod("a", 0, 1))
	server.Pods.Write("train-a/main", "one")
	s.WaitOut("one\n")
	server.API.Stop()
	server.Pods.Cut()
	s.WaitErr("Lost connection")
	server.Pods.Put(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)))
	server.Pods.Write("train-a/main", "two")
	server.Pods.End("train-a/main")
	server.finish("train", "Complete", "", nil)
	server.API.Start(server.API.Address)
	s.Result().Want(t, cmdutil.ExitDone, "[index 0 attempt 1] one\n[index 0 attempt 1] two\n", "Lost connection", "Complete")
}

// At most --max-log-requests logs are open at a time, and no line is lost.
// Requirements: RUN-05
func TestLogsOfAThousandPods(t *testing.T) {
	server := newServer(t)
	s := server.run(strings.ReplaceAll(train, ": 3", ": 1000"), "--max-log-requests=7")
	for i := range 1000 {
		pod := clitest.TrainPod(fmt.Sprintf("p%04d", i), i, 1, corev1.PodSucceeded, clitest.Exited(0))
		server.Pods.WithLog(pod, "line")
	}
	server.finish("train", "Complete", "", nil)
	if code := s.End(); code != cmdutil.ExitDone {
		t.Fatalf("exit %d, %s", code, s.ErrOut.String())
	}
	lines := strings.Split(strings.TrimSpace(s.Out.String()), "\n")
	slices.Sort(lines)
	if len(slices.Compact(lines)) != 1000 || server.Pods.Most > 7 {
		t.Errorf("%d lines, %d logs at a time", len(lines), server.Pods.Most)
	}
}

// Requirements: RUN-11
func TestCompletion(t *testing.T) {
	program.Completes(t, nil, map[string]string{"run|--logs|": "all failed none :4", "run|--on-cancel|": "keep suspend delete :4"})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NoError(t, err)
	return string(data)
}

// run gives up if no Job can continue: after ten minutes, with the explanation and its own exit code.
// Requirements: RUN-15
func TestRunGivesUpOnAStalledJob(t *testing.T) {
	server := newServer(t)
	report := filepath.Join(t.TempDir(), "r.xml")
	clock := clitest.NewClock()
	s := program.Start(t, server.API, clock.Env(), "run", "-f", clitest.WriteManifest(t, train), "--junit", report, "-q")
	clitest.WaitFor(t, func() bool { return server.API.Opened() > 0 }, s.ErrOut.String)
	clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return strings.Contains(s.ErrOut.String(), "error:") }, s.ErrOut.String)
	s.Result().Want(t, cmdutil.ExitStalled, "", "job.batch/train keeps running; delete it with: kubectl delete job train -n ns1\n",
		"error: job.batch/train has been stalled for 10m: nothing has run this Job", "; see: kubectl batchjob why train\n")
	assert.Contains(t, read(t, report), `type="Stalled"`)
}

// A stalled Job does not end the command while the retry of another Job is being created; it does once the retry has ended.
// Requirements: RUN-09, RUN-15
func TestStalledJobDoesNotEndAnotherRetry(t *testing.T) {
	server, clock := newServer(t), clitest.NewClock()
	stored, answer := make(chan struct{}), make(chan struct{})
	server.answers("other-retry-1", func(r *http.Request) {
		close(stored)
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	})
	s := program.Start(t, server.API, clock.Env(), "run", "-f", clitest.WriteManifest(t, train+other), "--retry=1", "--logs=none", "--request-timeout=0")
	s.WaitErr("train  Running")
	s.WaitErr("other  Running")
	server.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	<-stored
	checks := func() int { return len(server.Queries("/events")) }
	isOver := func() bool { return strings.Contains(s.ErrOut.String(), "error:") }
	for range 2 * int(stalledAfter/(10*time.Second)) {
		before := checks()
		clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return checks() > before || isOver() }, s.ErrOut.String)
	}
	if isOver() {
		t.Fatal(s.ErrOut.String())
	}
	close(answer)
	s.WaitErr("job.batch/other-retry-1 created (retry 1 of 1)")
	server.finish("other-retry-1", "Complete", "", map[string]any{"succeeded": int64(1)})
	s.WaitErr("job.batch/other-retry-1 Complete")
	clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return isOver() }, s.ErrOut.String)
	s.Result().Want(t, cmdutil.ExitStalled, "", "error: job.batch/train has been stalled for 10m: nothing has run this Job")
}

// A Job that ended during an outage does not leave its connection lost, which would stop the clock of the other Jobs.
// Requirements: RUN-10
func TestEndDuringAnOutageRestoresTheConnection(t *testing.T) {
	server := newServer(t)
	server.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if r.URL.Query().Get("fieldSelector") == "metadata.name=train" {
			return &clitest.Status{Code: 503, Reason: "ServiceUnavailable", Message: "etcd"}
		}
		return nil
	})
	s := server.start("-f", clitest.WriteManifest(t, train+other), "--logs=none")
	s.WaitErr("other  Running")
	s.WaitErr("Requests to the API server fail")
	server.finish("train", "Complete", "", nil)
	server.API.SetRefuse(nil)
	s.WaitErr("Requests to the API server succeed again.\n")
	s.WaitErr("job.batch/train Complete")
	server.finish("other", "Complete", "", nil)
	s.Result().Want(t, cmdutil.ExitDone, "", "succeed again", "job.batch/other Complete")
}
