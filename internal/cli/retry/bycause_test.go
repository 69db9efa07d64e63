package retry

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// failedPod is a pod of an index whose container main, with a memory limit, ended.
func failedPod(job *unstructured.Unstructured, index int, code int32, reason, limit, message string) *corev1.Pod {
	pod := clitest.EndedPod(job, fmt.Sprintf("%s-%d", job.GetName(), index), code, message)
	pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(index)}
	pod.Status.ContainerStatuses[0].State.Terminated.Reason = reason
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	if limit != "" {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
	}
	return pod
}

// memory sets the limit and the request of container main in the Job.
func memory(limit, request string) func(*unstructured.Unstructured) {
	return set([]any{map[string]any{"name": "main", "image": "i", "resources": map[string]any{
		"limits": map[string]any{"memory": limit}, "requests": map[string]any{"memory": request},
	}}}, "spec", "template", "spec", "containers")
}

// The indexes whose last failure had the cause run again, with more memory than their container had.
//
// Requirements: RTY-40, RTY-41, RTY-42
func TestRerunOfACauseWithMoreMemory(t *testing.T) {
	job := failedJob(t, "a", memory("1Gi", "512Mi"))
	killed := func(code int32) *corev1.Pod { return failedPod(job, 2, code, "OOMKilled", "1Gi", "") }
	exit3 := failedPod(job, 4, 3, "Error", "1Gi", "")
	const memoryError = "MemoryError"
	for name, c := range map[string]struct {
		args    string
		pods    []*corev1.Pod
		code    int
		text    []string
		runs    string // "" if nothing is created
		limits  string
		request string
	}{
		"OOMKilled": {
			"--cause OOMKilled --memory x2", []*corev1.Pod{killed(137), exit3}, cmdutil.ExitDone,
			[]string{"It runs index 2;", "Container main gets 2Gi of memory instead of 1Gi; the cap is 8Gi, 8 times the first limit."}, "2", "2Gi", "1Gi",
		},
		"exit code 1":    {"--cause oomkilled --memory +512Mi,max=4Gi", []*corev1.Pod{killed(1), exit3}, cmdutil.ExitDone, []string{"gets 1536Mi of memory instead of 1Gi; the cap is 4Gi."}, "2", "1536Mi", "768Mi"},
		"without memory": {"--cause OOMKilled", []*corev1.Pod{killed(137), exit3}, cmdutil.ExitDone, []string{"It runs index 2;"}, "2", "1Gi", "512Mi"},
		"without cause":  {"--memory x2", []*corev1.Pod{killed(137), exit3}, cmdutil.ExitDone, []string{"It runs 2 indexes (2,4);", "gets 2Gi"}, "2,4", "2Gi", "1Gi"},
		"an exit code":   {"--cause=exit\u00a0code\u00a03", []*corev1.Pod{killed(137), exit3}, cmdutil.ExitDone, []string{"It runs index 4;"}, "4", "1Gi", "512Mi"},
		"resized":        {"--cause OOMKilled --memory x2", []*corev1.Pod{failedPod(job, 2, 137, "OOMKilled", "3Gi", "")}, cmdutil.ExitDone, []string{"gets 6Gi of memory instead of 3Gi"}, "2", "6Gi", "3Gi"},
		"at the cap": {
			"--cause OOMKilled --memory x2,max=1Gi", []*corev1.Pod{killed(137)}, cmdutil.ExitError,
			[]string{"container main had 1Gi of memory, and the cap is 1Gi; set a higher cap, such as max=2Gi, or make the program use less"}, "", "", "",
		},
		"another cause": {
			"--cause Evicted", []*corev1.Pod{killed(137), exit3}, cmdutil.ExitError,
			[]string{`--cause: nothing that is missing failed last with "Evicted"; the causes are "OOMKilled" and "exit code 3"`}, "", "", "",
		},
		"no pods": {"--cause OOMKilled", nil, cmdutil.ExitError, []string{"no pod is left that shows why it failed; choose what to run with --indexes"}, "", "", ""},
		"137 alone": {
			"--memory x2", []*corev1.Pod{failedPod(job, 2, 137, "Error", "1Gi", "")}, cmdutil.ExitError,
			[]string{"--memory: nothing shows that a container ran out of memory: exit code 137 also has other reasons; set its memory with --limits memory=QUANTITY"}, "", "", "",
		},
		"137 is not OOMKilled": {"--cause OOMKilled --include-probable", []*corev1.Pod{failedPod(job, 2, 137, "Error", "1Gi", "")}, cmdutil.ExitError, []string{`the causes are "exit code 137"`}, "", "", ""},
		"a message":            {"--cause OOMKilled --memory x2", []*corev1.Pod{failedPod(job, 2, 1, "Error", "1Gi", memoryError)}, cmdutil.ExitError, []string{`the causes are "out of memory"; a log says that memory ran out: --include-probable`}, "", "", ""},
		"a probable message":   {"--cause OOMKilled --memory x2 --include-probable", []*corev1.Pod{failedPod(job, 2, 1, "Error", "1Gi", memoryError)}, cmdutil.ExitDone, []string{"gets 2Gi"}, "2", "2Gi", "1Gi"},
		"only a message":       {"--memory x2", []*corev1.Pod{failedPod(job, 2, 1, "Error", "1Gi", memoryError)}, cmdutil.ExitError, []string{"no container was OOMKilled; if that suffices: --include-probable"}, "", "", ""},
		"another container": {
			"--cause OOMKilled --memory x2 -c side", []*corev1.Pod{killed(137)}, cmdutil.ExitUsage, []string{`the Job has no container "side"`}, "", "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := clitest.NewWrites(t, job)
			for _, pod := range c.pods {
				api.Pods.Put(pod)
			}
			args := []string{"retry", "a"}
			for _, arg := range strings.Fields(strings.ReplaceAll(c.args, "\u00a0", "_")) {
				args = append(args, strings.ReplaceAll(arg, "_", " "))
			}
			wantRun(t, program.Run(t, api.API, args...), c.code, c.text...)
			made := api.Job("a-retry-1")
			if c.runs == "" {
				if made != nil || len(api.Calls()) > 0 {
					t.Errorf("it wrote: %v", api.Calls())
				}
				return
			}
			if got := made.GetAnnotations()["batchjob.dev/retry-indexes"]; got != c.runs {
				t.Errorf("it runs %s, want %s", got, c.runs)
			}
			limit, request := at(made.Object, "spec.template.spec.containers.0.resources.limits.memory"), at(made.Object, "spec.template.spec.containers.0.resources.requests.memory")
			if limit != c.limits || request != c.request {
				t.Errorf("limit %s, request %s; want %s, %s", limit, request, c.limits, c.request)
			}
		})
	}
}

// A container without a limit, or one that is not in the template, cannot get more.
//
// Requirements: RTY-41
func TestMemoryThatCannotBeRaised(t *testing.T) {
	job := failedJob(t, "a")
	injected := failedPod(job, 2, 137, "OOMKilled", "", "")
	injected.Spec.Containers[0].Name, injected.Status.ContainerStatuses[0].Name = "proxy", "proxy"
	for text, pod := range map[string]*corev1.Pod{
		"container main had no memory limit, so its node ran out of memory; set a limit and a request with --limits and --requests":                                   failedPod(job, 2, 137, "OOMKilled", "", ""),
		"container proxy is not in the Job's template, so a retry cannot raise its memory; raise it where the container is added, or choose another with --container": injected,
	} {
		api := clitest.NewWrites(t, job)
		api.Pods.Put(pod)
		wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "OOMKilled", "--memory", "x2"), cmdutil.ExitError, text)
		if calls := api.Calls(); len(calls) > 0 {
			t.Errorf("it wrote: %v", calls)
		}
	}
}

// An index that failed again in a retry had the memory of that retry.
//
// Requirements: RTY-40, RTY-41
func TestMemoryGrowsOverRetries(t *testing.T) {
	failed := set(int64(1), "status", "failed")
	first := failedJob(t, "a", memory("1Gi", "1Gi"), failed)
	second := failedJob(t, "a-retry-1", isOf("a", "1"), memory("2Gi", "2Gi"), failed)
	api := clitest.NewWrites(t, first, second)
	for _, pod := range []*corev1.Pod{failedPod(first, 2, 137, "OOMKilled", "1Gi", ""), failedPod(second, 2, 137, "OOMKilled", "2Gi", "")} {
		if pod.Name == "a-2" {
			at := pod.Status.ContainerStatuses[0].State.Terminated
			at.FinishedAt.Time = at.FinishedAt.Add(-1e12)
		}
		api.Pods.Put(pod)
	}
	for name, c := range map[string]struct {
		code int
		text string
	}{
		"x2":    {cmdutil.ExitDone, "Container main gets 4Gi of memory instead of 2Gi; the cap is 8Gi, 8 times the first limit.\n"},
		"x1000": {cmdutil.ExitDone, "Container main gets 8Gi of memory instead of 2Gi; the cap is 8Gi, 8 times the first limit.\n"},
	} {
		for _, job := range []string{"a", "a-retry-1"} {
			wantRun(t, program.Run(t, api.API, "retry", job, "--memory", name, "--dry-run=server"), c.code, c.text)
		}
	}
}

// The only pod of a NonIndexed Job runs again if it failed last for the cause.
//
// Requirements: RTY-40
func TestCauseOfANonIndexedJob(t *testing.T) {
	job := failedJob(t, "a", set("NonIndexed", "spec", "completionMode"), set(int64(1), "spec", "completions"), set(int64(0), "status", "succeeded"), memory("1Gi", "1Gi"))
	for cause, code := range map[string]int{"OOMKilled": cmdutil.ExitDone, "exit code 3": cmdutil.ExitError} {
		api := clitest.NewWrites(t, job)
		pod := failedPod(job, 0, 137, "OOMKilled", "1Gi", "")
		pod.Annotations = nil
		api.Pods.Put(pod)
		wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", cause), code)
		if made := api.Job("a-retry-1") != nil; made != (code == cmdutil.ExitDone) {
			t.Errorf("%s: created: %v", cause, made)
		}
	}
}

// A program with a limit of its own does not use more memory, and a warning says so.
//
// Requirements: RTY-43
func TestProgramWithItsOwnLimit(t *testing.T) {
	job := failedJob(t, "a", set([]any{map[string]any{"name": "main", "image": "i", "env": []any{map[string]any{"name": "JAVA_TOOL_OPTIONS", "value": "-Xmx900m"}}}}, "spec", "template", "spec", "containers"))
	for flags, warns := range map[string]bool{"": true, "--set-env JAVA_TOOL_OPTIONS=-Xmx1800m": false} {
		api := clitest.NewWrites(t, job)
		api.Pods.Put(failedPod(job, 2, 137, "OOMKilled", "1Gi", ""))
		got := program.Run(t, api.API, append([]string{"retry", "a", "--memory", "x2"}, strings.Fields(flags)...)...)
		wantRun(t, got, cmdutil.ExitDone)
		const warning = "warning: container main has -Xmx900m in JAVA_TOOL_OPTIONS, so its program will not use more memory; change that with --set-env\n"
		if strings.Contains(got.ErrOut, warning) != warns {
			t.Errorf("%s:\n%s", flags, got.ErrOut)
		}
	}
}

// Without permission to list pods, causes are unknown, and nothing is created.
//
// Requirements: RTY-40
func TestCauseWithoutPermissionForPods(t *testing.T) {
	api := clitest.NewWrites(t, failedJob(t, "a"))
	api.API.SetRefuse(func(r *http.Request) *clitest.Status {
		if strings.HasSuffix(r.URL.Path, "/pods") {
			return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "no"}
		}
		return nil
	})
	wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "OOMKilled"), cmdutil.ExitError, "pods could not be read: no permission to list pods in namespace ns1", "kubectl auth can-i list pods")
	if calls := api.Calls(); len(calls) > 0 {
		t.Errorf("it wrote: %v", calls)
	}
}

// A Job that has not finished is refused before its causes are read.
//
// Requirements: RTY-10, RTY-40
func TestCauseOfARunningJob(t *testing.T) {
	api := clitest.NewWrites(t, stalledJob(t, "a"))
	wantRun(t, program.Run(t, api.API, "retry", "a", "--cause", "OOMKilled"), cmdutil.ExitError, "job.batch/a has not finished")
}

// Requirements: RTY-40
func TestCausesComplete(t *testing.T) {
	job := failedJob(t, "a")
	api := clitest.NewWrites(t, job)
	api.Pods.Put(failedPod(job, 2, 137, "OOMKilled", "1Gi", ""))
	api.Pods.Put(failedPod(job, 4, 3, "Error", "1Gi", ""))
	got := program.Run(t, api.API, "__complete", "retry", "a", "--cause", "")
	if !strings.HasPrefix(got.Out, "OOMKilled\nexit code 3\n:") {
		t.Errorf("%q", got.Out)
	}
}
