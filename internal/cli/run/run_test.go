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

// expect checks how a session ends: its exit code, stdout, and parts of stderr in order.
func expect(t *testing.T, s *clitest.Session, code int, out string, errOut ...string) {
	t.Helper()
	if got := s.End(); got != code || s.Out.String() != out {
		t.Errorf("exit %d, want %d\nstdout %q\nwant   %q\nstderr:\n%s", got, code, s.Out.String(), out, s.ErrOut.String())
	}
	rest := s.ErrOut.String()
	for _, part := range errOut {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Errorf("stderr lacks, in order, %q:\n%s", part, s.ErrOut.String())
		}
		rest = after
	}
}

// Requirements: RUN-01
func TestRunFollowsToTheEnd(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train))
	s.WaitErr("train  Running")
	server.Pods.Put(clitest.RunningPod("a", 0, 1))
	server.Pods.Write("train-a/main", "one")
	s.WaitOut("[index 0 attempt 1] one\n")
	server.finish("train", "Complete", "CompletionsReached", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	server.Pods.Write("train-a/main", "two")
	s.WaitOut("two\n")
	server.Pods.Put(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)))
	server.Pods.End("train-a/main")
	expect(t, s, cmdutil.ExitDone, "[index 0 attempt 1] one\n[index 0 attempt 1] two\n",
		"job.batch/train created\n", "train  Running, 0/3 done", "job.batch/train Complete in ")
	if got := server.written(); !slices.Equal(got, []string{"POST train"}) {
		t.Errorf("%q", got)
	}
	if job := server.job("train"); job.Object["spec"].(map[string]any)["managedBy"] != nil {
		t.Errorf("%v", job.Object)
	}
}

// If a Job cannot be created as requested, nothing is created.
//
// Requirements: MGB-17, RUN-03
func TestRunCreatesNothingForADeadController(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train), "--managed-by=batchjob.dev/controller")
	expect(t, s, cmdutil.ExitError, "", "controller batchjob.dev/controller does not seem to be running (it has no Lease); nothing was created; start it")
	if got := server.written(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	s = server.start("-f", clitest.WriteManifest(t, train), "--managed-by=batchjob.dev/controller", "--force")
	s.WaitErr("job.batch/train created")
	server.finish("train", "Complete", "CompletionsReached", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	expect(t, s, cmdutil.ExitDone, "", "job.batch/train Complete in ")
}

// failTrain fails index 1, which ends the Job.
func (s *server) failTrain() {
	pod := clitest.FailedPod("b", 1, 1)
	ended := pod.Status.ContainerStatuses[0].State.Terminated
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
	server.failTrain()
	s.WaitErr("job.batch/train Failed: FailedIndexes")
	server.finish("other", "Complete", "", nil)
	expect(t, s, cmdutil.ExitJobFailed, "[train index 1 attempt 1] boom\n", "job.batch/train Failed: FailedIndexes", "job.batch/other Complete", "✗ train failed after ", "Container main exited with code 1", "boom", "--full: ")
}

// Requirements: RUN-05
func TestLogsFailedAndNone(t *testing.T) {
	for choice, want := range map[string]string{"failed": "[index 1 attempt 1] boom\n", "none": ""} {
		server := newServer(t)
		s := server.start("-f", clitest.WriteManifest(t, train), "--logs", choice, "-q")
		clitest.WaitFor(t, func() bool { return server.job("train") != nil }, s.ErrOut.String)
		server.Pods.WithLog(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)), "fine")
		server.failTrain()
		expect(t, s, cmdutil.ExitJobFailed, want, "job.batch/train created\n", "✗ train failed after ")
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
		if got.Code != c.code || !strings.Contains(got.ErrOut, c.wantText) || len(server.written()) > 0 {
			t.Errorf("%s: exit %d, %q, wrote %q", name, got.Code, got.ErrOut, server.written())
		}
	}
	if got := program.Run(t, nil, "run"); got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, "name a file with -f") {
		t.Errorf("%d %s", got.Code, got.ErrOut)
	}
}

// If a Job cannot be created, none is left.
// Requirements: RUN-03
func TestAllJobsOrNone(t *testing.T) {
	server := newServer(t)
	server.exists = "other"
	got := program.Run(t, server.API, "run", "-f", clitest.WriteManifest(t, train+other))
	if got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, `job.batch/other already exists`) || !strings.Contains(got.ErrOut, "Deleted job.batch/train.\n") ||
		strings.Contains(got.ErrOut, "created") {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
	if want := []string{"POST train", "POST other", "DELETE train"}; !slices.Equal(server.written(), want) || server.job("train") != nil {
		t.Errorf("%q", server.written())
	}
}

// Requirements: RUN-04
func TestMissingPermissions(t *testing.T) {
	for forbidden, args := range map[string]string{"create jobs": "", "list jobs": "", "delete jobs": "--rm", "patch jobs": "--on-cancel=suspend"} {
		server := newServer(t)
		server.forbid = []string{forbidden}
		verb, _, _ := strings.Cut(forbidden, " ")
		got := program.Run(t, server.API, append([]string{"run", "-f", clitest.WriteManifest(t, train)}, strings.Fields(args)...)...)
		want := fmt.Sprintf("error: you may not %s jobs in namespace \"ns1\"; nothing was created", verb)
		if got.Code != cmdutil.ExitError || !strings.HasPrefix(got.ErrOut, want) || !strings.Contains(got.ErrOut, "kubectl auth can-i "+verb+" jobs") || len(server.written()) > 0 {
			t.Errorf("%s: exit %d, %s, wrote %q", forbidden, got.Code, got.ErrOut, server.written())
		}
	}
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
		s := server.start("-f", clitest.WriteManifest(t, train), "--junit", filepath.Join(t.TempDir(), "r.xml"))
		s.WaitErr("train  Running")
		server.failTrain()
		expect(t, s, cmdutil.ExitJobFailed, "", "No logs are printed: the API server denied the request: no logs for you")
		if n := strings.Count(s.ErrOut.String(), "No logs are printed"); n != 1 {
			t.Errorf("%d notes:\n%s", n, s.ErrOut.String())
		}
	}
}

// Requirements: RUN-06
func TestTimeout(t *testing.T) {
	for _, rm := range []bool{false, true} {
		server := newServer(t)
		env := clitest.NewEnv()
		fires := make(chan func(), 10)
		env.Timer = func(d time.Duration, fire func()) func() {
			if d == 5*time.Minute {
				fires <- fire
			}
			return func() {}
		}
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
		expect(t, s, cmdutil.ExitTimeout, "", "job.batch/train", left, "error: timed out after 5m0s: job.batch/train Running, 0/3 done\n")
		if exists := server.job("train") != nil; exists == rm {
			t.Errorf("--rm=%t, and the Job exists: %t", rm, exists)
		}
	}
}

// Requirements: RUN-07
func TestCancel(t *testing.T) {
	for args, want := range map[string]struct{ write, wantText string }{
		"":                      {"", "Interrupted: job.batch/train keeps running; delete it with: kubectl delete job train -n ns1\n"},
		"--rm --on-cancel=keep": {"", "Interrupted: job.batch/train keeps running"},
		"--on-cancel=suspend":   {"PATCH train", "Interrupted: suspended job.batch/train; resume it with: kubectl patch job train -n ns1 -p '{\"spec\":{\"suspend\":false}}'\n"},
		"--on-cancel=delete":    {"DELETE train", "Deleted job.batch/train.\n"},
		"--rm":                  {"DELETE train", "Deleted job.batch/train.\n"},
	} {
		server := newServer(t)
		report := filepath.Join(t.TempDir(), "r.xml")
		s := server.start(append([]string{"-f", clitest.WriteManifest(t, train), "--junit", report}, strings.Fields(args)...)...)
		s.WaitErr("train  Running")
		server.Pods.Put(clitest.RunningPod("a", 0, 1))
		s.Interrupt()
		expect(t, s, cmdutil.ExitInterrupted, "", want.wantText)
		if got := strings.Join(server.written()[1:], " "); got != want.write {
			t.Errorf("%s: wrote %q", args, got)
		}
		if text := read(t, report); !strings.Contains(text, `<error type="Interrupted"`) || !strings.Contains(text, "<skipped ") {
			t.Errorf("%s", text)
		}
	}
}

// If the API server does not answer a cleanup, it ends after ten seconds, and the Jobs that are left are printed.
// Requirements: RUN-07
func TestCleanupIsBounded(t *testing.T) {
	server := newServer(t)
	server.deletion = make(chan struct{})
	env := clitest.NewEnv()
	env.Timer = func(d time.Duration, fire func()) func() {
		if d == cleanupTime {
			go fire()
		}
		return func() {}
	}
	s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, train), "--on-cancel=delete")
	s.WaitErr("train  Running")
	s.Interrupt()
	expect(t, s, cmdutil.ExitInterrupted, "", "error: cannot delete job.batch/train, which is left as it is", "delete it with: kubectl delete job train -n ns1")
	close(server.deletion)
}

// Requirements: RUN-08
func TestRemove(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train), "--rm")
	s.WaitErr("train  Running")
	server.finish("train", "Complete", "", nil)
	expect(t, s, cmdutil.ExitDone, "", "Complete", "Deleted job.batch/train.\n")
}

// Requirements: RUN-02
func TestDeletedMeanwhile(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train))
	s.WaitErr("train  Running")
	server.remove("train")
	expect(t, s, cmdutil.ExitError, "", "error: job.batch/train was deleted before it finished\n")
}

// A Job may be gone before the first watch event.
// Requirements: RUN-02
func TestDeletedAtOnce(t *testing.T) {
	server := newServer(t)
	server.vanish = true
	s := server.start("-f", clitest.WriteManifest(t, train))
	expect(t, s, cmdutil.ExitError, "", "error: job.batch/train was deleted before it finished\n")
}

// A retry runs the missing indexes, and its result is the result of the command.
// Requirements: RUN-09
func TestRetry(t *testing.T) {
	server := newServer(t)
	report := filepath.Join(t.TempDir(), "r.xml")
	s := server.start("-f", clitest.WriteManifest(t, train), "--retry=1", "--rm", "--junit", report)
	s.WaitErr("train  Running")
	server.failTrain()
	s.WaitErr("job.batch/train-retry-1 created (retry 1 of 1). It runs index 1; the other 2 indexes count as done.\n")
	s.WaitOut("boom") // Logs of different pods are in no particular order.
	retried := ofJob(clitest.TrainPod("c", 1, 1, corev1.PodSucceeded, clitest.Exited(0)), "train-retry-1")
	server.Pods.WithLog(retried, "better")
	server.finish("train-retry-1", "Complete", "", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	expect(t, s, cmdutil.ExitDone, "[train index 1 attempt 1] boom\n[train-retry-1 index 1 attempt 1] better\n",
		"job.batch/train Failed", "train-retry-1 created", "job.batch/train-retry-1 Complete", "Deleted job.batch/train, job.batch/train-retry-1.\n")
	if want := []string{"POST train", "POST train-retry-1", "PATCH train-retry-1/status", "PATCH train-retry-1", "DELETE train", "DELETE train-retry-1"}; !slices.Equal(server.written(), want) {
		t.Errorf("%q", server.written())
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
	s := server.start("-f", clitest.WriteManifest(t, train), "--retry=1")
	s.WaitErr("train  Running")
	server.failTrain()
	s.WaitErr("train-retry-1 created")
	server.finish("train-retry-1", "Failed", "FailedIndexes", map[string]any{"failedIndexes": "1", "completedIndexes": "0,2"})
	expect(t, s, cmdutil.ExitJobFailed, "[train index 1 attempt 1] boom\n", "job.batch/train-retry-1 Failed")

	server = newServer(t)
	server.forbid = []string{"patch jobs"}
	s = server.start("-f", clitest.WriteManifest(t, train), "--retry=1")
	s.WaitErr("train  Running")
	server.failTrain()
	expect(t, s, cmdutil.ExitJobFailed, "[train index 1 attempt 1] boom\n",
		"Cannot retry job.batch/train: you may not patch jobs in namespace \"ns1\", and without it every index would run again\n")
}

// run finds out whether a Job was stored before it continues, so that no Job runs unwatched, and none runs twice.
//
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
		written := server.written()
		name, _ := strings.CutPrefix(written[0], "POST ")
		s.WaitErr(name + "  Running")
		server.finish(name, "Complete", "", map[string]any{"succeeded": int64(1)})
		expect(t, s, cmdutil.ExitDone, "", "Deleted job.batch/"+name)
		if len(written) != c.posts || len(slices.Compact(written)) != 1 || (c.manifest == generated) != (len(name) == len("other-")+5) {
			t.Errorf("%s: %q", what, written)
		}
	}
}

// client-go repeats a request by itself if the response has Retry-After.
//
// Requirements: RUN-14
func TestCreationThatWasRepeatedIsFollowed(t *testing.T) {
	for _, manifest := range []string{other, strings.Replace(other, "name: other", "generateName: other-", 1)} {
		server := newServer(t)
		server.first, server.retryAfter = true, true
		server.outage = []clitest.Status{{Code: 500, Message: "later"}}
		server.stores = func(string) {}
		s := server.start("-f", clitest.WriteManifest(t, manifest))
		s.WaitErr(" created\n")
		written := server.written()
		name, _ := strings.CutPrefix(written[0], "POST ")
		server.finish(name, "Complete", "", map[string]any{"succeeded": int64(1)})
		expect(t, s, cmdutil.ExitDone, "", "job.batch/"+name+" Complete in ")
		if !slices.Equal(written, []string{"POST " + name, "POST " + name}) {
			t.Errorf("%q", written)
		}
	}
}

// A Job that admission has rejected was not stored, so run does not look for it.
//
// Requirements: RUN-14
func TestFailingWebhookIsReportedAtOnce(t *testing.T) {
	server := newServer(t)
	server.first = true
	server.outage = []clitest.Status{{Code: 500, Reason: "InternalError", Message: `Internal error occurred: failed calling webhook "x.example.com": connection refused`}}
	s := server.start("-f", clitest.WriteManifest(t, other))
	expect(t, s, cmdutil.ExitError, "", "failed calling webhook")
	if got := server.written(); !slices.Equal(got, []string{"POST other"}) {
		t.Errorf("%q", got)
	}
}

// A Job of the same name that another client creates meanwhile is not ours, and is not deleted.
//
// Requirements: RUN-14
func TestCreationThatSomebodyElseMadeIsNotFollowed(t *testing.T) {
	server := newServer(t)
	server.first, server.outage = true, []clitest.Status{{Code: 504, Message: "no answer"}}
	server.stores = func(name string) {
		job := server.job(name)
		job.SetAnnotations(map[string]string{retry.RequestAnnotation: "another"})
		server.API.Put(job)
	}
	s := server.start("-f", clitest.WriteManifest(t, other), "--rm")
	expect(t, s, cmdutil.ExitError, "", "already exists")
	if got := server.written(); !slices.Equal(got, []string{"POST other", "POST other"}) || server.job("other") == nil {
		t.Errorf("%q", got)
	}
}

// If the API server stops answering, the error says that the Job may exist, and how to find out.
//
// Requirements: RUN-14
func TestCreationThatIsNeverAnswered(t *testing.T) {
	server := newServer(t)
	server.first, server.outage = true, []clitest.Status{{Code: 504, Message: "no answer"}}
	env, expired := clitest.NewEnv(), make(chan func(), 1)
	env.Timer = func(d time.Duration, fire func()) func() {
		if d == answerTime {
			expired <- fire
		}
		return func() {}
	}
	server.stores = func(string) {
		server.API.Mu.Lock()
		defer server.API.Mu.Unlock()
		server.API.Refuse = func(*http.Request) *clitest.Status {
			(<-expired)()
			return &clitest.Status{Code: 503, Message: "etcd"}
		}
	}
	s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, other))
	expect(t, s, cmdutil.ExitError, "", "cannot find out whether job.batch/other was created: ", "kubectl get job other -n ns1")
}

// If the API server stores the Job and never responds, the error says that the Job may exist: when our own limit ends the
// request, which is no interruption, and when the time after Ctrl-C ends.
//
// Requirements: RUN-14
func TestHangingCreationNamesTheJob(t *testing.T) {
	for limit, code := range map[time.Duration]int{answerTime: cmdutil.ExitError, cleanupTime: cmdutil.ExitInterrupted} {
		server := newServer(t)
		stored := make(chan struct{})
		server.answers = func(r *http.Request, _ string) {
			close(stored)
			<-r.Context().Done()
		}
		env := clitest.NewEnv()
		env.Timer = func(d time.Duration, fire func()) func() {
			if d == limit {
				go func() {
					<-stored
					fire()
				}()
			}
			return func() {}
		}
		s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, other))
		if <-stored; code == cmdutil.ExitInterrupted {
			s.Interrupt()
		}
		expect(t, s, code, "", "error: cannot find out whether job.batch/other was created: no answer from the API server; look for it with: kubectl get job other -n ns1\n")
	}
}

// A retry waits for the end of an outage, reported by the API server or by a proxy.
// Requirements: RUN-09, RUN-10
func TestRetryWaitsForTheEndOfAnOutage(t *testing.T) {
	server := newServer(t)
	server.outage = []clitest.Status{{Code: 503, Reason: "ServiceUnavailable", Message: "etcd"}, {Code: 502, Message: "Bad Gateway"}, {Code: 504, Reason: "Timeout", Message: "too slow"}}
	s := server.start("-f", clitest.WriteManifest(t, train), "--retry=1")
	s.WaitErr("train  Running")
	server.failTrain()
	s.WaitErr("train-retry-1 created")
	server.finish("train-retry-1", "Complete", "", map[string]any{"succeeded": int64(3), "completedIndexes": "0-2"})
	expect(t, s, cmdutil.ExitDone, "[train index 1 attempt 1] boom\n", "Requests to the API server fail, retrying: the API server answered: etcd", "succeed again", "job.batch/train-retry-1 Complete")
	if n := strings.Count(strings.Join(server.written(), "\n"), "POST train-retry-1"); n != 4 {
		t.Errorf("%d attempts: %q", n, server.written())
	}
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
		s := server.start("-f", clitest.WriteManifest(t, other), "--retry=1")
		s.WaitErr("other  Running")
		server.finish("other", "Failed", "BackoffLimitExceeded", failed)
		s.WaitErr("other-retry-1 created (retry 1 of 1)")
		if what == "runs" {
			server.finish("other-retry-1", "Complete", "", map[string]any{"succeeded": int64(1)})
		}
		expect(t, s, c.code, "", "job.batch/other-retry-1 created")
		if want := []string{"POST other", "POST other-retry-1"}; !slices.Equal(server.written(), want) {
			t.Errorf("%s: %q", what, server.written())
		}
	}
}

// A request that is stored late conflicts with the next one, which has the same ID.
//
// Requirements: RUN-09, RUN-10
func TestRetryThatArrivesLateIsFollowed(t *testing.T) {
	server := newServer(t)
	server.outage, server.delays = []clitest.Status{{Code: 503, Message: "later"}}, true
	s := server.start("-f", clitest.WriteManifest(t, other), "--retry=1")
	s.WaitErr("other  Running")
	server.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	s.WaitErr("other-retry-1 created (retry 1 of 1)")
	server.finish("other-retry-1", "Complete", "", map[string]any{"succeeded": int64(1)})
	expect(t, s, cmdutil.ExitDone, "", "job.batch/other-retry-1 Complete")
	if want := []string{"POST other", "POST other-retry-1", "POST other-retry-1"}; !slices.Equal(server.written(), want) {
		t.Errorf("%q", server.written())
	}
}

// Requirements: RUN-07, RUN-10
func TestInterruptedOutageNamesTheRetry(t *testing.T) {
	server := newServer(t)
	for range 1000 {
		server.outage = append(server.outage, clitest.Status{Code: 503, Message: "later"})
	}
	s := server.start("-f", clitest.WriteManifest(t, other), "--retry=1")
	s.WaitErr("other  Running")
	server.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	s.WaitErr("Requests to the API server fail, retrying")
	s.Interrupt()
	expect(t, s, cmdutil.ExitInterrupted, "", "job.batch/other-retry-1 may have been created; see whether it was with: kubectl get job other-retry-1 -n ns1")
}

// A retry whose creation is interrupted once it is stored is subject to --on-cancel, too.
//
// Requirements: RUN-07, RUN-09
func TestInterruptedRetryIsCanceled(t *testing.T) {
	server := newServer(t)
	stored := make(chan struct{})
	server.answers = func(r *http.Request, name string) {
		if name == "other-retry-1" {
			close(stored)
			<-r.Context().Done()
		}
	}
	env, lingers := clitest.NewEnv(), sync.Once{}
	env.Timer = func(d time.Duration, fire func()) func() {
		if d == cleanupTime {
			lingers.Do(func() { go fire() }) // Later limits are for deletions.
		}
		return func() {}
	}
	s := program.Start(t, server.API, env, "run", "-f", clitest.WriteManifest(t, other), "--retry=1", "--on-cancel=delete")
	s.WaitErr("other  Running")
	server.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	<-stored
	s.Interrupt()
	expect(t, s, cmdutil.ExitInterrupted, "", "job.batch/other-retry-1 was created, and runs.\n", "Deleted job.batch/other, job.batch/other-retry-1.\n")
}

// A retry that another client has created meanwhile is not followed.
// Requirements: RUN-09
func TestRetryOfAnotherUserIsNotFollowed(t *testing.T) {
	server := newServer(t)
	server.outage = []clitest.Status{{Code: 503, Message: "later"}}
	server.stores = func(name string) {
		job := server.job(name)
		annotations := job.GetAnnotations()
		annotations[retry.RequestAnnotation] = "another"
		job.SetAnnotations(annotations)
		server.API.Put(job)
	}
	s := server.start("-f", clitest.WriteManifest(t, other), "--retry=1")
	s.WaitErr("other  Running")
	server.finish("other", "Failed", "BackoffLimitExceeded", map[string]any{"failed": int64(1)})
	expect(t, s, cmdutil.ExitJobFailed, "", "Cannot retry job.batch/other: ")
	if want := []string{"POST other", "POST other-retry-1"}; !slices.Equal(server.written(), want) {
		t.Errorf("%q", server.written())
	}
}

// Jobs may be in several namespaces, and several retries run beside other Jobs.
// Requirements: RUN-01, RUN-09
func TestSeveralNamespaces(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train+strings.Replace(other, "other}", "other, namespace: ns2}", 1)), "--retry=2", "--logs=none", "--on-cancel=suspend")
	s.WaitErr("ns2/other  Running")
	server.failTrain()
	s.WaitErr("job.batch/train-retry-1 -n ns1 created (retry 1 of 2)")
	server.finish("train-retry-1", "Failed", "FailedIndexes", map[string]any{"failedIndexes": "1", "completedIndexes": "0,2"})
	s.WaitErr("job.batch/train-retry-2 -n ns1 created (retry 2 of 2)")
	server.finish("train-retry-2", "Complete", "", map[string]any{"completedIndexes": "0-2"})
	s.WaitErr("job.batch/train-retry-2 -n ns1 Complete")
	s.Interrupt()
	expect(t, s, cmdutil.ExitInterrupted, "", "Interrupted: suspended job.batch/other -n ns2; resume it with: kubectl patch job other -n ns2")
	if suspended, _, _ := unstructured.NestedBool(server.job("other").Object, "spec", "suspend"); !suspended {
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
		job := server.job("train")
		job.Object["status"] = map[string]any{"succeeded": int64(1), "active": int64(1), "completedIndexes": "0"}
		server.API.Put(job)
		line := bar + "  train  Running, 1/3 done, 1 active"
		s.WaitErr("\r" + line)
		server.Pods.WithLog(clitest.TrainPod("a", 0, 1, corev1.PodSucceeded, clitest.Exited(0)), "one")
		s.WaitOut("one\n")
		s.WaitErr("\r" + strings.Repeat(" ", utf8.RuneCountInString(line)) + "\r")
		server.finish("train", "Complete", "", nil)
		if code := s.End(); code != cmdutil.ExitDone || !strings.Contains(s.Out.String(), "one\n") {
			t.Errorf("exit %d, %q", code, s.Out.String())
		}
	}
}

// run waits for a lost connection.
// Requirements: RUN-10
func TestLostConnection(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, train))
	s.WaitErr("train  Running")
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
	expect(t, s, cmdutil.ExitDone, "[index 0 attempt 1] one\n[index 0 attempt 1] two\n", "Lost connection", "Complete")
}

// At most --max-log-requests logs are open at a time, and no line is lost.
// Requirements: RUN-05
func TestLogsOfAThousandPods(t *testing.T) {
	server := newServer(t)
	s := server.start("-f", clitest.WriteManifest(t, strings.ReplaceAll(train, ": 3", ": 1000")), "--max-log-requests=7")
	s.WaitErr("train  Running")
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
	for args, want := range map[string]string{"run|--logs|": "all failed none", "run|--on-cancel|": "keep suspend delete"} {
		if words, _ := program.Complete(t, strings.Split(args, "|")...); strings.Join(words, " ") != want {
			t.Errorf("%s: %q", args, words)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// run gives up if no Job can continue: after ten minutes, with the explanation and its own exit code.
//
// Requirements: RUN-15
func TestRunGivesUpOnAStalledJob(t *testing.T) {
	server := newServer(t)
	report := filepath.Join(t.TempDir(), "r.xml")
	clock := clitest.NewClock()
	s := program.Start(t, server.API, clock.Env(), "run", "-f", clitest.WriteManifest(t, train), "--junit", report, "-q")
	clitest.WaitFor(t, func() bool { return server.API.Opened() > 0 }, s.ErrOut.String)
	clitest.WaitFor(t, func() bool { clock.Advance(10 * time.Second); return strings.Contains(s.ErrOut.String(), "error:") }, s.ErrOut.String)
	expect(t, s, cmdutil.ExitStalled, "", "job.batch/train keeps running; delete it with: kubectl delete job train -n ns1\n",
		"error: job.batch/train has been stalled for 10m: nothing has run this Job", "; see: kubectl batchjob why train\n")
	if xml := read(t, report); !strings.Contains(xml, `type="Stalled"`) {
		t.Error(xml)
	}
}

// A stalled Job does not end the command while the retry of another Job is being created; it does once the retry has ended.
//
// Requirements: RUN-09, RUN-15
func TestStalledJobDoesNotEndAnotherRetry(t *testing.T) {
	server, clock := newServer(t), clitest.NewClock()
	stored, answer := make(chan struct{}), make(chan struct{})
	server.answers = func(r *http.Request, name string) {
		if name != "other-retry-1" {
			return
		}
		close(stored)
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	}
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
	expect(t, s, cmdutil.ExitStalled, "", "error: job.batch/train has been stalled for 10m: nothing has run this Job")
}

// A Job that ended during an outage does not leave its connection lost, which would stop the clock of the other Jobs.
//
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
	expect(t, s, cmdutil.ExitDone, "", "succeed again", "job.batch/other Complete")
}
