package retry

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// failedJob is ns1/NAME with six indexes: 2 has failed, and 4 did not complete.
func failedJob(t *testing.T, name string, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	t.Helper()
	job := &unstructured.Unstructured{}
	text := fmt.Sprintf(`
apiVersion: batch/v1
kind: Job
metadata: {namespace: ns1, name: %s, uid: uid-%[1]s, creationTimestamp: "2026-03-01T11:00:00Z"}
spec:
  completions: 6
  parallelism: 3
  completionMode: Indexed
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
status:
  completedIndexes: 0,1,3,5
  failedIndexes: "2"
  succeeded: 4
  conditions: [{type: Failed, status: "True", reason: FailedIndexes}]
`, name)
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = job.UnmarshalJSON(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(job)
	}
	return job
}

func set(value any, path ...string) func(*unstructured.Unstructured) {
	return func(job *unstructured.Unstructured) { _ = unstructured.SetNestedField(job.Object, value, path...) }
}

// isOf makes the Job a retry of the Job root.
func isOf(root, attempt string) func(*unstructured.Unstructured) {
	return func(job *unstructured.Unstructured) {
		job.SetLabels(map[string]string{retry.OfLabel: root})
		job.SetAnnotations(map[string]string{retry.UIDAnnotation: "uid-" + root, retry.AttemptAnnotation: attempt})
	}
}

func isPending(job *unstructured.Unstructured) {
	annotations := job.GetAnnotations()
	annotations[retry.PendingAnnotation] = "true"
	job.SetAnnotations(annotations)
	_ = unstructured.SetNestedField(job.Object, true, "spec", "suspend")
	_ = unstructured.SetNestedField(job.Object, int64(0), "spec", "parallelism")
	delete(job.Object, "status")
}

// state describes what a Job runs: nothing, all indexes, or all but some.
func state(job *unstructured.Unstructured) string {
	switch completed, _, _ := unstructured.NestedString(job.Object, "status", "completedIndexes"); {
	case job == nil:
		return "none"
	case at(job.Object, "spec.suspend") == "true" && at(job.Object, "spec.parallelism") == "0":
		return "held"
	case at(job.Object, "spec.suspend") == "true":
		return "queued without " + completed
	default:
		return "runs without " + completed
	}
}

func (j jobState) want(t *testing.T, api *clitest.Writes) {
	t.Helper()
	job := api.Job(j.name)
	got := "none"
	if job != nil {
		got = state(job)
	}
	if got != j.state {
		t.Errorf("job %s: %s, want %s", j.name, got, j.state)
	}
}

type jobState struct{ name, state string }

func wantRun(t *testing.T, got clitest.Result, code int, parts ...string) {
	t.Helper()
	if got.Code != code {
		t.Errorf("exit %d, want %d", got.Code, code)
	}
	for _, part := range parts {
		if !strings.Contains(got.Out+got.ErrOut, part) {
			t.Errorf("%q is missing", part)
		}
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", got.Out, got.ErrOut)
	}
}

// The created Job is printed as it runs.
// Requirements: RTY-19
func TestRetryIsShown(t *testing.T) {
	for args, parts := range map[string][]string{
		"":        {"job.batch/a-retry-1 created\n", "It runs 2 indexes (2,4); the other 4 indexes count as done.\n"},
		"-o name": {"job.batch/a-retry-1\n"},
		"-o yaml": {"\n  parallelism: 3\n", "\n  suspend: false\n", "\n  completedIndexes: 0,1,3,5\n"},
	} {
		t.Run(args, func(t *testing.T) {
			api := clitest.NewWrites(t, failedJob(t, "a"))
			got := program.Run(t, api.API, append([]string{"retry", "a"}, strings.Fields(args)...)...)
			wantRun(t, got, cmdutil.ExitDone, parts...)
			if strings.Contains(got.Out, retry.PendingAnnotation) {
				t.Errorf("it is shown as it was created:\n%s", got.Out)
			}
			jobState{"a-retry-1", "runs without 0,1,3,5"}.want(t, api)
			if calls := fmt.Sprint(api.Calls()); calls != "[create jobs patch jobs/status patch jobs]" {
				t.Error(calls)
			}
		})
	}
}

// --wait continues with the exit codes of wait.
// Requirements: RTY-19
func TestRetryWaits(t *testing.T) {
	for kind, code := range map[string]int{"Complete": cmdutil.ExitDone, "Failed": cmdutil.ExitJobFailed} {
		api := clitest.NewWrites(t, failedJob(t, "a"))
		api.Around = func(call string, _ *http.Request, serve func()) {
			serve()
			if call == "patch jobs" {
				api.API.Put(clitest.WithCondition(api.Job("a-retry-1"), kind, "R", ""))
			}
		}
		wantRun(t, program.Run(t, api.API, "retry", "a", "--wait"), code, "job.batch/a-retry-1 created\n", "job.batch/a-retry-1 "+kind)
	}
}

// A Job that cannot be retried causes no creation.
// Requirements: RTY-10, RTY-17
func TestRetryIsRefused(t *testing.T) {
	ofCronJob := func(job *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{
			"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "c", "controller": true,
		}}, "metadata", "ownerReferences")
	}
	running := failedJob(t, "b", set([]any{}, "status", "conditions"), ofCronJob)
	pods := clitest.EndedPod(failedJob(t, "gone"), "gone-0", 1, "")
	pods.Labels = map[string]string{"batch.kubernetes.io/job-name": "gone"}
	for args, want := range map[string]struct {
		code  int
		parts []string
	}{
		"b":                      {cmdutil.ExitError, []string{"job.batch/b has not finished", "kubectl batchjob wait b"}},
		"gone":                   {cmdutil.ExitError, []string{`job "gone" is gone, and only its pods remain (1)`, "create -f FILE"}},
		"nope":                   {cmdutil.ExitError, []string{"nope"}},
		"a --indexes 4-7":        {cmdutil.ExitUsage, []string{"job.batch/a has no index 6,7; its indexes are 0-5"}},
		"a --by-annotation":      {cmdutil.ExitUsage, []string{"--by-annotation: the built-in controller, which runs the new Job, does not read the annotation; it would run all indexes"}},
		"theirs --by-annotation": {cmdutil.ExitUsage, []string{"--by-annotation: nothing shows that the controller example.com/theirs, which runs the new Job, reads the annotation"}},
		"cronjob/nightly":        {cmdutil.ExitError, []string{`none of the 1 Jobs of CronJob "nightly" has failed`}},
		"cronjob/weekly":         {cmdutil.ExitError, []string{`CronJob "weekly" has no Jobs`}},
		"a --image nope=x":       {cmdutil.ExitUsage, []string{`the Job has no container "nope"`}},
		"plain --indexes 1":      {cmdutil.ExitUsage, []string{"job.batch/plain is not an Indexed Job"}},
		"remote":                 {cmdutil.ExitError, []string{"MultiKueue runs job.batch/remote in another cluster"}},
		"a -p {} --dry-run=what": {cmdutil.ExitUsage, nil},
	} {
		t.Run(args, func(t *testing.T) {
			api := clitest.NewWrites(t, failedJob(t, "a"), running,
				failedJob(t, "plain", set("NonIndexed", "spec", "completionMode")), failedJob(t, "remote", set("kueue.x-k8s.io/multikueue", "spec", "managedBy")),
				failedJob(t, "theirs", set("example.com/theirs", "spec", "managedBy")))
			api.Pods.Put(pods)
			wantRun(t, program.Run(t, api.API, append([]string{"retry"}, strings.Fields(args)...)...), want.code, want.parts...)
			if calls := api.Calls(); len(calls) > 0 {
				t.Errorf("it wrote: %v", calls)
			}
		})
	}
}

// For a CronJob, the last failed Job is retried, not the last Job.
// Requirements: RTY-17
func TestRetryOfCronJob(t *testing.T) {
	of := func(created string) func(*unstructured.Unstructured) {
		return func(job *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(job.Object, created, "metadata", "creationTimestamp")
			_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{
				"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "c", "controller": true,
			}}, "metadata", "ownerReferences")
		}
	}
	complete := failedJob(t, "n3", of("2026-03-01T09:00:00Z"), set([]any{map[string]any{"type": "Complete", "status": "True"}}, "status", "conditions"))
	api := clitest.NewWrites(t, failedJob(t, "n1", of("2026-03-01T07:00:00Z")), failedJob(t, "n2", of("2026-03-01T08:00:00Z")), complete, failedJob(t, "other"))
	got := program.Run(t, api.API, "retry", "cronjob/nightly")
	wantRun(t, got, cmdutil.ExitDone, "job.batch/n2-retry-1 created\n")
	if owners := api.Job("n2-retry-1").GetOwnerReferences(); len(owners) > 0 || strings.Contains(got.ErrOut, "warning") {
		t.Errorf("%v\n%s", owners, got.ErrOut)
	}
}

// If the API server does not answer, nothing is created.
// Requirements: RTY-10
func TestRetryWithoutAPIServer(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	api.API.Server.Close()
	got := program.Run(t, api.API, "retry", "a")
	if wantRun(t, got, cmdutil.ExitError); cmdutil.KindOf(got.Err) != cmdutil.KindUnreachable {
		t.Errorf("%v", got.Err)
	}
}

// A missing permission is found before anything is created, or leaves nothing behind.
// Requirements: RTY-07
func TestRetryWithoutPermission(t *testing.T) {
	const ask = "create selfsubjectaccessreviews"
	for _, c := range []struct {
		denied []string
		args   string
		ours   bool
		parts  []string
		state  string
	}{
		{denied: []string{"create jobs"}, parts: []string{"jobs"}, state: "none"},
		{denied: []string{"patch jobs"}, parts: []string{"you may not patch jobs ", "without it every index would run again"}, state: "none"},
		{denied: []string{"patch jobs/status"}, parts: []string{"you may not patch jobs/status ", `ask for the verb "patch" on "jobs.batch/status"`, "kubectl auth can-i patch jobs.batch --subresource=status -n ns1"}, state: "none"},
		{denied: []string{"patch jobs/status"}, ours: true, parts: []string{"use --by-annotation, because controller " + controller.DefaultManagedBy + " runs the Job"}, state: "none"},
		{denied: []string{"patch jobs/status", ask}, parts: []string{"you may not patch jobs/status "}, state: "none"},
		{denied: []string{"patch jobs", ask}, parts: []string{"patch"}, state: "none"},
		{denied: []string{"patch jobs", "delete jobs", ask}, parts: []string{"job.batch/a-retry-1 was created, but is suspended and runs nothing"}, state: "held"},
		{denied: []string{"patch jobs", "patch jobs/status"}, args: "--by-annotation", ours: true, parts: []string{"job.batch/a-retry-1 created\n"}, state: "runs without "},
	} {
		t.Run(fmt.Sprint(c.denied, c.args, c.ours), func(t *testing.T) {
			job := failedJob(t, "a")
			if c.ours {
				set(controller.DefaultManagedBy, "spec", "managedBy")(job)
			}
			api := clitest.NewWrites(t, job)
			api.Deny(c.denied...)
			code := cmdutil.ExitError
			if c.args != "" {
				code = cmdutil.ExitDone
			}
			got := program.Run(t, api.API, append([]string{"retry", "a"}, strings.Fields(c.args)...)...)
			wantRun(t, got, code, c.parts...)
			if !c.ours && strings.Contains(got.ErrOut, "--by-annotation") {
				t.Errorf("the built-in controller reads no annotation:\n%s", got.ErrOut)
			}
			jobState{"a-retry-1", c.state}.want(t, api)
			if asked := !slices.Contains(c.denied, ask); asked && code != cmdutil.ExitDone && c.denied[0] != "create jobs" && len(api.Calls()) > 0 {
				t.Errorf("it wrote: %v", api.Calls())
			}
			if c.args != "" && api.Job("a-retry-1").GetAnnotations()[retry.IndexesAnnotation] != "2,4" {
				t.Errorf("%v", api.Job("a-retry-1").GetAnnotations())
			}
		})
	}
}
