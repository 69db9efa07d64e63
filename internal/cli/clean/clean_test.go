package clean

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// jobAt returns a Job in ns1 that was created and has ended so long ago; failed, or else complete.
func jobAt(name string, failed bool, ago time.Duration) *unstructured.Unstructured {
	job := clitest.CompleteJob(name)
	if failed {
		job = clitest.FailedJob(name)
	}
	at := clitest.Now().Add(-ago)
	job.SetCreationTimestamp(metav1.NewTime(at))
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	conditions[0].(map[string]any)["lastTransitionTime"] = at.Format(time.RFC3339)
	_ = unstructured.SetNestedSlice(job.Object, conditions, "status", "conditions")
	if !failed {
		_ = unstructured.SetNestedField(job.Object, at.Format(time.RFC3339), "status", "completionTime")
	}
	return job
}

const day = 24 * time.Hour

func owned(job *unstructured.Unstructured, apiVersion, kind, name string) *unstructured.Unstructured {
	yes := true
	job.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "uid-of-owner", Controller: &yes}})
	return job
}

// team returns an API with Jobs of all kinds; train-1 has two pods.
func team(t *testing.T) *clitest.Writes {
	t.Helper()
	ttl := jobAt("load-orders", false, 2*time.Hour)
	_ = unstructured.SetNestedField(ttl.Object, int64(86400), "spec", "ttlSecondsAfterFinished")
	release := jobAt("migrate", true, 30*day)
	release.SetAnnotations(map[string]string{"meta.helm.sh/release-name": "shop"})
	deleting := jobAt("deleting", true, 9*day)
	deleting.SetDeletionTimestamp(&metav1.Time{Time: clitest.Now()})
	api := clitest.NewWrites(t, jobAt("train-1", true, 10*day), jobAt("train-2", true, 9*day), jobAt("train-3", false, 8*day),
		owned(jobAt("nightly-29000001", false, 3*day), "batch/v1", "CronJob", "nightly"),
		owned(jobAt("nightly-29000002", true, 2*day), "batch/v1", "CronJob", "nightly"),
		owned(jobAt("workers-0", true, 20*day), "jobset.x-k8s.io/v1alpha2", "JobSet", "workers"),
		ttl, release, deleting, clitest.SimpleJob("ns1", "running", 3))
	for _, name := range []string{"train-1-a", "train-1-b"} {
		pod := clitest.EndedPod(api.Job("train-1"), name, 1, "")
		pod.Labels = map[string]string{"batch.kubernetes.io/job-name": "train-1"}
		api.Pods.Put(pod)
	}
	return api
}

// names returns the first words of the lines of a table, without its header.
func names(table string) string {
	var all []string
	for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		all = append(all, strings.Fields(line)[0])
	}
	return strings.Join(all, " ")
}

// Requirements: CLN-01, CLN-03
func TestCleanShowsFinishedJobsAndDeletesNothing(t *testing.T) {
	api := team(t)
	got := program.Run(t, api.API, "clean")
	const want = `NAME              STATUS    AGE  PODS  OWNER
load-orders       Complete  2h   0     TTL 1d
migrate           Failed    30d  0     Helm release shop
nightly-29000001  Complete  3d   0     CronJob/nightly
nightly-29000002  Failed    2d   0     CronJob/nightly
train-1           Failed    10d  2     -
train-2           Failed    9d   0     -
train-3           Complete  8d   0     -
`
	const notes = `Skipped 1 Job of JobSets: delete the JobSet instead.
7 Jobs with 2 pods and their logs: nothing was deleted; delete with --yes --cascade=background.
`
	if got.Code != cmdutil.ExitDone || got.Out != want || got.ErrOut != notes || len(api.Calls()) > 0 {
		t.Errorf("exit %d, calls %q\n%s%s", got.Code, api.Calls(), got.Out, got.ErrOut)
	}
}

// Requirements: CLN-02
func TestFlagsChooseFinishedJobs(t *testing.T) {
	for args, want := range map[string]string{
		"--failed":                    "migrate nightly-29000002 train-1 train-2",
		"--succeeded":                 "load-orders nightly-29000001 train-3",
		"--older-than 7d":             "migrate train-1 train-2 train-3",
		"--older-than 8d12h":          "migrate train-1 train-2",
		"--older-than 100h --failed":  "migrate train-1 train-2",
		"--keep 1":                    "nightly-29000001 train-1 train-2",
		"--keep 1 --failed":           "train-1",
		"--keep 2":                    "train-1",
		"--keep 1 --older-than 9d12h": "train-1",
		"-l app=train-2":              "train-2",
		"train-3 job/train-1":         "train-1 train-3",
	} {
		if got := program.Run(t, team(t).API, append([]string{"clean"}, strings.Fields(args)...)...); got.Code != cmdutil.ExitDone || names(got.Out) != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", args, got.Code, names(got.Out), want, got.ErrOut)
		}
	}
	timeless := jobAt("timeless", true, 9*day)
	unstructured.RemoveNestedField(timeless.Object, "status", "conditions")
	timeless = clitest.WithCondition(timeless, "Failed", "BackoffLimitExceeded", "")
	conditions, _, _ := unstructured.NestedSlice(timeless.Object, "status", "conditions")
	delete(conditions[0].(map[string]any), "lastTransitionTime")
	_ = unstructured.SetNestedSlice(timeless.Object, conditions, "status", "conditions")
	if got := program.Run(t, clitest.NewWrites(t, timeless).API, "clean", "--older-than", "1h"); got.Code != cmdutil.ExitDone || got.Out != "" {
		t.Errorf("a Job whose end is unknown: exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	none := program.Run(t, team(t).API, "clean", "--older-than", "400d")
	if none.Code != cmdutil.ExitDone || none.Out != "" || !strings.Contains(none.ErrOut, "No finished jobs to delete found in ns1 namespace.") {
		t.Errorf("exit %d, %q, %q", none.Code, none.Out, none.ErrOut)
	}
}

func TestPrefixIsANameWithoutItsLastNumberOrRandomSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"train-3": "train", "nightly-29000001": "nightly", "load-x7k2p": "load", "build-3f9a21c": "build", "train-retry-2": "train-retry",
		"train": "train", "load-orders": "load-orders", "a-b-c": "a-b-c", "facade-effaced": "facade-effaced", "-1": "-1", "7": "7",
	} {
		if got := prefixOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Requirements: CLN-02
func TestCleanRejectsFlagsThatContradict(t *testing.T) {
	program.Rejects(t, nil, "clean", map[string]string{
		"--failed --succeeded": "exclude each other",
		"--keep -1":            "must be 0 or more",
		"train --keep 1":       "omit the names",
		"--older-than 7":       "use a duration such as 12h or 7d",
		"--yes":                "--yes needs --cascade=background, which deletes",
		"--cascade=foreground": "must be background or orphan",
		"--older-than -7h":     "use a duration such as 12h or 7d",
		"--older-than 99999d":  "at most 36500d",
		"train -A":             "across all namespaces",
		"cronjob/nightly":      "is not a Job",
	})
}

// Requirements: CLN-03
func TestCleanDeletesWithYes(t *testing.T) {
	for flag, tc := range map[string]struct {
		policy metav1.DeletionPropagation
		end    string
	}{
		"--cascade=background": {metav1.DeletePropagationBackground, "Deleted 2 Jobs with 2 pods.\n"},
		"--cascade=orphan":     {metav1.DeletePropagationOrphan, "Deleted 2 Jobs.\n"},
	} {
		api := team(t)
		got := program.Run(t, api.API, "clean", "--failed", "--older-than", "9d", "-l", "app in (train-1,train-2)", "--yes", flag)
		if got.Code != cmdutil.ExitDone || got.Out != "job.batch/train-1 deleted\njob.batch/train-2 deleted\n" || got.ErrOut != tc.end {
			t.Errorf("%s: exit %d, %q, %q", flag, got.Code, got.Out, got.ErrOut)
		}
		if api.Job("train-1") != nil || api.Job("train-2") != nil || api.Job("train-3") == nil || !slices.Equal(api.Policies(), []metav1.DeletionPropagation{tc.policy, tc.policy}) {
			t.Errorf("%s: %q, %q", flag, api.Calls(), api.Policies())
		}
	}
}

// Requirements: CLN-03
func TestCleanAsksOnATerminal(t *testing.T) {
	for answer, deleted := range map[string]bool{"y\n": true, "Yes\n": true, "\n": false, "n\n": false, "": false, "yet\n": false} {
		api := team(t)
		t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, api.API.URL()))
		env, out, errOut := clitest.NewEnv(), &bytes.Buffer{}, &bytes.Buffer{}
		env.Terminal = func(io.Writer) int { return 80 }
		streams := genericiooptions.IOStreams{In: strings.NewReader(answer), Out: out, ErrOut: errOut}
		err := program.Execute(t.Context(), []string{"clean", "train-1"}, streams, env)
		if err != nil || !strings.Contains(out.String(), "train-1  Failed") || !strings.Contains(errOut.String(), "Delete 1 Job with 2 pods and their logs? y/N ") {
			t.Errorf("%q: %v, %q, %q", answer, err, out.String(), errOut.String())
		}
		if gone := api.Job("train-1") == nil; gone != deleted || strings.Contains(errOut.String(), "Nothing was deleted.") == deleted {
			t.Errorf("%q: gone %t, %q", answer, gone, errOut.String())
		}
	}
}

// Requirements: CLN-04
func TestNamedJobsThatHaveNotFinishedStay(t *testing.T) {
	api := team(t)
	got := program.Run(t, api.API, "clean", "running", "deleting", "absent", "train-1", "--yes", "--cascade=background")
	if got.Code != cmdutil.ExitError || got.Out != "job.batch/train-1 deleted\n" || !slices.Equal(api.Calls(), []string{"delete jobs"}) ||
		!strings.Contains(got.ErrOut, "job.batch/running has not finished, and is left as it is") || !strings.Contains(got.ErrOut, `job "absent" not found`) {
		t.Errorf("exit %d, %q, %q, %q", got.Code, got.Out, got.ErrOut, api.Calls())
	}
}

// Requirements: CLN-04
func TestJobsThatCannotBeDeletedAreLinesAndTheOthersGo(t *testing.T) {
	gone := func(api *clitest.Writes) { api.API.Remove(api.Job("train-1")) }
	for name, tc := range map[string]struct {
		around func(api *clitest.Writes, w http.ResponseWriter, serve func())
		want   string
	}{
		"already deleted": {func(api *clitest.Writes, _ http.ResponseWriter, serve func()) { gone(api); serve() }, "error: job.batch/train-1 was already deleted\n"},
		"replaced": {func(api *clitest.Writes, _ http.ResponseWriter, serve func()) {
			other := api.Job("train-1")
			other.SetUID("another")
			api.API.Put(other)
			serve()
		}, "error: job.batch/train-1 was replaced by another Job, which is left as it is\n"},
	} {
		t.Run(name, func(t *testing.T) {
			api := team(t)
			api.Around = func(_ string, r *http.Request, serve func()) {
				if strings.HasSuffix(r.URL.Path, "/train-1") {
					tc.around(api, nil, serve)
				} else {
					serve()
				}
			}
			got := program.Run(t, api.API, "clean", "train-1", "train-2", "--yes", "--cascade=background")
			if got.Code != cmdutil.ExitError || got.Out != "job.batch/train-2 deleted\n" || !strings.Contains(got.ErrOut, tc.want) || !strings.Contains(got.ErrOut, "Deleted 1 of 2 Jobs.\n") {
				t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
			}
		})
	}
}

// Requirements: CLN-04
func TestAForbiddenNamespaceIsOneLine(t *testing.T) {
	api := team(t)
	api.Deny("delete jobs")
	got := program.Run(t, api.API, "clean", "--failed", "--yes", "--cascade=background")
	if got.Code != cmdutil.ExitError || got.Out != "" || len(api.Calls()) != 1 ||
		strings.Count(got.ErrOut, "error: you may not delete job") != 1 || !strings.Contains(got.ErrOut, "Deleted 0 of 4 Jobs.\n") {
		t.Errorf("exit %d, %q, %q, %q", got.Code, got.Out, got.ErrOut, api.Calls())
	}
}

// The answer to a deletion is lost, before or after the Job is deleted: it is deleted once, and that is no error.
//
// Requirements: CLN-04
func TestALostAnswerIsAskedForAgain(t *testing.T) {
	for name, meanwhile := range map[string]func(*clitest.Writes){
		"not deleted": func(*clitest.Writes) {},
		"deleted":     func(api *clitest.Writes) { api.API.Remove(api.Job("train-1")) },
		"deleted, and another was created": func(api *clitest.Writes) {
			other := api.Job("train-1")
			other.SetUID("another")
			api.API.Put(other)
		},
	} {
		api, lost := team(t), atomic.Bool{}
		api.Around = func(_ string, _ *http.Request, serve func()) {
			if lost.Swap(true) {
				serve()
				return
			}
			meanwhile(api)
			panic(http.ErrAbortHandler)
		}
		got := program.Run(t, api.API, "clean", "train-1", "train-2", "--yes", "--cascade=background")
		if got.Code != cmdutil.ExitDone || got.Out != "job.batch/train-1 deleted\njob.batch/train-2 deleted\n" {
			t.Errorf("%s: exit %d, %q, %q", name, got.Code, got.Out, got.ErrOut)
		}
	}
}

// Requirements: CLN-04
func TestASilentServerEndsTheDeletions(t *testing.T) {
	api := team(t)
	api.Around = func(string, *http.Request, func()) { panic(http.ErrAbortHandler) }
	got := program.Run(t, api.API, "clean", "train-1", "train-2", "--yes", "--cascade=background")
	if got.Code != cmdutil.ExitError || got.Out != "" || strings.Count(got.ErrOut, "error: cannot find out whether job.batch/train-1 was deleted: ") != 1 ||
		strings.Contains(got.ErrOut, "train-2") || !strings.Contains(got.ErrOut, "Deleted 0 of 2 Jobs.\n") {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
}

// Ctrl-C during a deletion completes it; the next Job stays.
//
// Requirements: CLN-05
func TestCtrlCPrintsHowManyWereDeleted(t *testing.T) {
	api := team(t)
	begun, interrupted := make(chan struct{}), make(chan struct{})
	api.Around = func(_ string, r *http.Request, serve func()) {
		if strings.HasSuffix(r.URL.Path, "/train-2") {
			close(begun)
			<-interrupted
		}
		serve()
	}
	s := program.Start(t, api.API, clitest.NewEnv(), "clean", "train-1", "train-2", "train-3", "--yes", "--cascade=background")
	<-begun
	s.Interrupt()
	close(interrupted)
	if code := s.End(); code != cmdutil.ExitInterrupted || s.ErrOut.String() != "Interrupted: deleted 2 of 3 Jobs with 2 pods.\n" || api.Job("train-3") == nil {
		t.Errorf("exit %d, %q, %q", code, s.Out.String(), s.ErrOut.String())
	}
}

// Without the permission to list pods, the Jobs are shown and deleted nevertheless.
//
// Requirements: CLN-01
func TestPodsThatCannotBeCountedAreALine(t *testing.T) {
	api := team(t)
	api.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no RBAC rule for pods"}
		}
		return nil
	})
	got := program.Run(t, api.API, "clean", "train-1")
	if got.Code != cmdutil.ExitDone || !strings.Contains(got.Out, "train-1  Failed  10d  ?     -") ||
		!strings.Contains(got.ErrOut, "The pods are not counted: ") || !strings.Contains(got.ErrOut, "1 Job with all pods and their logs: nothing was deleted") {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
}

// Requirements: CLN-01
func TestJobsOfAllNamespacesAreNamedWithThem(t *testing.T) {
	other := clitest.WithCondition(clitest.SimpleJob("ns2", "train-2", 0), "Failed", "BackoffLimitExceeded", "")
	api := clitest.NewWrites(t, jobAt("train-1", true, day), other)
	got := program.Run(t, api.API, "clean", "-A")
	if !strings.HasPrefix(got.Out, "NAMESPACE  NAME") || strings.Count(got.Out, "\n") != 3 {
		t.Errorf("%q, %q", got.Out, got.ErrOut)
	}
	if got := program.Run(t, api.API, "clean", "-A", "--keep", "1"); got.Out != "" {
		t.Errorf("Jobs of two namespaces are no runs of the same: %q", got.Out)
	}
	got = program.Run(t, api.API, "clean", "-A", "-l", "app=train-1", "-y", "--cascade=background")
	if got.Code != cmdutil.ExitDone || got.Out != "job.batch/train-1 -n ns1 deleted\n" {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
}

// Text of the cluster cannot control the terminal.
//
// Requirements: CLN-01
func TestHostileOwnersAreMadeSafe(t *testing.T) {
	api := clitest.NewWrites(t, owned(jobAt("train-1", true, day), "x/v1", "Flow\x1b[31m", "a\x1b]0;x\a"))
	if got := program.Run(t, api.API, "clean"); strings.ContainsAny(got.Out+got.ErrOut, "\x1b\a") || !strings.Contains(got.Out, "train-1") {
		t.Errorf("%q, %q", got.Out, got.ErrOut)
	}
}

// --dry-run and -o show what could go, also on a terminal, without a question.
// Requirements: CLN-01
func TestCleanOnlyShows(t *testing.T) {
	api := team(t)
	want := program.Run(t, api.API, "clean", "--failed")
	const skipped = "Skipped 1 Job of JobSets: delete the JobSet instead.\n"
	if got := program.Run(t, api.API, "clean", "--failed", "--dry-run"); got.Code != 0 || got.Out != want.Out || got.ErrOut != skipped {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
	for args, want := range map[string]string{
		"-o name": "job.batch/train-3\njob.batch/train-4\n", "-o jsonpath={.kind}:{.items[*].metadata.name}": "List:train-3 train-4",
	} {
		api := clitest.NewWrites(t, jobAt("train-3", false, 8*day), jobAt("train-4", false, day), clitest.SimpleJob("ns1", "running", 3))
		if got := program.Run(t, api.API, append([]string{"clean", "--succeeded"}, strings.Fields(args)...)...); got.Code != 0 || got.Out != want || got.ErrOut != "" {
			t.Errorf("%s: exit %d, %s%s", args, got.Code, got.Out, got.ErrOut)
		}
	}
	if got := program.Run(t, api.API, "clean", "--failed", "--older-than", "900d", "-o", "json"); !strings.Contains(got.Out, `"items": []`) || got.ErrOut != skipped {
		t.Errorf("exit %d, %s%s", got.Code, got.Out, got.ErrOut)
	}
	for _, args := range []string{"--dry-run --yes", "-o json --yes", "--dry-run=client -y"} {
		if got := program.Run(t, api.API, append([]string{"clean"}, strings.Fields(args)...)...); got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, "only show Jobs") {
			t.Errorf("%s: exit %d, %s", args, got.Code, got.ErrOut)
		}
	}
}
