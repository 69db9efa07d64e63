//go:build compat

package compat

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// failure is an example that fails, with the expected explanation.
type failure struct {
	file, job string
	reason    string // the condition's reason, set by the cluster's own controller
	container string
	exitCode  int32
	rule      *int32 // index of the rule that failed the Job
	sentence  string
	failed    string // failedIndexes
}

// The cluster's controller does not support names of rules: its reason is a bare PodFailurePolicy, and further details
// come from its message and from the pods.
var failures = []failure{
	{file: "over-backoff-limit", job: "over-backoff-limit", reason: batchv1.JobReasonBackoffLimitExceeded, container: "worker", exitCode: 1, sentence: "backoffLimit 1 allows 1 retry"},
	{file: "stories/kep-3329-story-1-a-bug-fails-the-job", job: "protein-folding", reason: batchv1.JobReasonPodFailurePolicy, container: "fold", exitCode: 134, rule: ptr.To[int32](0), sentence: "exit code 134 (SIGABRT)"},
	{file: "stories/kep-4443-story-1-the-reason-names-the-exit-code", job: "training-workers-0", reason: batchv1.JobReasonPodFailurePolicy, container: "main", exitCode: 2, rule: ptr.To[int32](0), sentence: "exit code 2"},
	{file: "stories/kep-3850-story-1-one-retry-per-suite", job: "nightly-suites", reason: batchv1.JobReasonFailedIndexes, container: "tests", exitCode: 1, sentence: "1 of its 10 indexes failed (7)", failed: "7"},
	{file: "stories/kep-3850-story-2-no-retry-for-exit-code-42", job: "nightly-suites-strict", reason: batchv1.JobReasonFailedIndexes, container: "tests", exitCode: 42, sentence: "1 of its 10 indexes failed (4)", failed: "4"},
	{file: "stories/kep-3850-story-3-stop-when-most-suites-fail", job: "nightly-suites-broken-build", reason: batchv1.JobReasonMaxFailedIndexesExceeded, container: "tests", exitCode: 1, sentence: "6 indexes failed (0-5), and maxFailedIndexes allows 5", failed: "0-5"},
}

// Issue 7, point 7: Jobs that fail under the controller of an older release are explained.
func TestFailedJobsAreExplained(t *testing.T) {
	for _, f := range failures {
		t.Run(f.job, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			createExample(t, ns, f.file)
			want(t, ns, 3, []string{"Failed", f.reason}, "wait", f.job, "--timeout", "3m")
			wantReport(t, ns, f)
			want(t, ns, 0, []string{f.sentence, "exit code"}, "why", f.job)
			want(t, ns, 0, []string{f.job, "Failed"}, "status", f.job)
			want(t, ns, 0, []string{f.job, "Failed", f.reason}, "status", f.job, "-o", "wide")
			want(t, ns, 3, []string{"Failed"}, "watch", f.job, "--plain", "--exit-status")
			wantLogs(t, ns, f.job)
		})
	}
}

func wantReport(t *testing.T, ns string, f failure) {
	t.Helper()
	var r explain.Report
	out := want(t, ns, 0, nil, "why", f.job, "-o", "json")
	assert.NoError(t, json.Unmarshal([]byte(out.Out), &r))
	if r.Verdict.Outcome != reconcile.OutcomeFailed || r.Verdict.Reason != f.reason || !ptr.Equal(r.Verdict.Rule, f.rule) || !strings.Contains(r.Verdict.Sentence, f.sentence) {
		t.Errorf("the verdict is %+v", r.Verdict)
	}
	found := false
	for _, e := range r.Evidence {
		found = found || e.Kind == explain.EvidenceContainer && e.Container == f.container && ptr.Equal(e.ExitCode, &f.exitCode)
	}
	if !found {
		t.Errorf("container %s and exit code %d are not among the evidence: %+v", f.container, f.exitCode, r.Evidence)
	}
	if f.failed != "" && (r.Indexes == nil || r.Indexes.Failed != f.failed) {
		t.Errorf("indexes %+v, want %s to have failed", r.Indexes, f.failed)
	}
	for _, gap := range r.Gaps {
		assert.Equalf(t, gap.What, "logs", "something could not be read: %+v", gap)
	}
}

// wantLogs checks that logs finds the pods and reports that their logs cannot be read or that the pods are gone: kwok's
// simulated nodes have no logs.
func wantLogs(t *testing.T, ns, job string) {
	t.Helper()
	r := plugin(t, ns, "logs", job)
	if r.Code != 1 || r.Out != "" || !strings.Contains(r.ErrOut, "Cannot read the log of pod "+job) && !strings.Contains(r.ErrOut, "are gone, along with their logs") {
		t.Errorf("logs: exit code %d, %s%s", r.Code, r.Out, r.ErrOut)
	}
}

// Successful Jobs are shown, one of them with a success policy.
func TestSuccessfulJobsAreShown(t *testing.T) {
	for _, c := range []struct{ file, job, reason string }{
		{"non-indexed", "non-indexed", batchv1.JobReasonCompletionsReached},
		{"indexed-10", "indexed-10", batchv1.JobReasonCompletionsReached},
		{"stories/kep-3998-story-1-the-leader-decides", "mpi-benchmark", batchv1.JobReasonSuccessPolicy},
		{"stories/kep-3939-story-1-one-trainer-per-index", "", ""},
	} {
		t.Run(strings.ReplaceAll(c.file, "/", " "), func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			createExample(t, ns, c.file)
			jobs, err := client.BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
			if err != nil || len(jobs.Items) == 0 {
				t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
			}
			for _, job := range jobs.Items {
				want(t, ns, 0, []string{"Complete"}, "wait", job.Name, "--timeout", "3m")
				want(t, ns, 0, []string{job.Name, "Complete"}, "status", job.Name)
				want(t, ns, 0, []string{"Complete"}, "watch", job.Name, "--plain", "--exit-status")
				stored, err := client.BatchV1().Jobs(ns).Get(t.Context(), job.Name, metav1.GetOptions{})
				assert.NoError(t, err)
				for _, condition := range stored.Status.Conditions {
					if condition.Type == batchv1.JobComplete && c.reason != "" && condition.Reason != c.reason {
						t.Errorf("%s ends with %q, want %q", job.Name, condition.Reason, c.reason)
					}
				}
			}
		})
	}
}

// A Job is suspended and resumed; the parallelism of another one changes.
func TestSuspendedJobIsShown(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	createExample(t, ns, "stalls/suspended")
	jobs, err := client.BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	name := jobs.Items[0].Name
	eventually(t, "the condition Suspended", func(ctx context.Context) bool {
		job, err := client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && len(job.Status.Conditions) > 0
	})
	want(t, ns, 0, []string{name, "Suspended"}, "status", name)
	want(t, ns, 0, []string{"uspended"}, "why", name)
	want(t, ns, 124, nil, "wait", name, "--timeout", "1s")
}

// A running Job is shown completely, with the fields that its controller sets.
func TestRunningJobIsShown(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	createExample(t, ns, "watch/parameter-sweep")
	jobs, err := client.BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 1 {
		t.Fatalf("%d Jobs, %v", len(jobs.Items), err)
	}
	name := jobs.Items[0].Name
	eventually(t, "ready pods", func(ctx context.Context) bool {
		job, err := client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
		return err == nil && ptr.Deref(job.Status.Ready, 0) > 0
	})
	want(t, ns, 0, []string{name}, "status", name, "-o", "wide")
	var r explain.Report
	assert.NoError(t, json.Unmarshal([]byte(want(t, ns, 0, nil, "why", name, "-o", "json").Out), &r))
	if r.Reconciler.ManagedBy != "" || len(r.Gaps) > 0 || len(r.Pods) == 0 {
		t.Errorf("reconciler %+v, gaps %+v, %d pods", r.Reconciler, r.Gaps, len(r.Pods))
	}
}

// Issue 7, point 7: our controller on the older release. It warns once that the release lacks guarantees it depends on,
// and still runs Jobs to their ends, unless the API server drops managedBy.
func TestControllerRunsJobsOnAnOlderRelease(t *testing.T) {
	stderr := &startController(t).Stderr
	assert.Equal(t, strings.Count(stderr.String(), "warning: Kubernetes v1."), map[bool]int{true: 1}[minor < 35], minor, stderr.String())
	ns := namespace(t)
	example := root + "/examples/stories/kep-3850-story-2-no-retry-for-exit-code-42.yaml"
	if r := plugin(t, ns, "create", "-f", example); r.Code != 0 {
		t.Fatalf("create: %+v", r)
	}
	job, err := client.BatchV1().Jobs(ns).Get(t.Context(), "nightly-suites-strict", metav1.GetOptions{})
	assert.NoError(t, err)
	dropped := strings.Contains(os.Getenv("BATCHJOB_COMPAT_GATES"), "JobManagedBy=false")
	assert.Equal(t, (ptr.Deref(job.Spec.ManagedBy, "") == ""), dropped, "the Job has managedBy")
	want(t, ns, 3, []string{"Failed", batchv1.JobReasonFailedIndexes}, "wait", job.Name, "--timeout", "3m")
	events, err := client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Job"})
	assert.NoError(t, err)
	for _, event := range events.Items {
		if ours := isOurs(&event); ours == dropped {
			t.Errorf("event %s of %s%s", event.Reason, event.Source.Component, event.ReportingController)
		}
	}
}

func isOurs(event *corev1.Event) bool {
	return strings.Contains(event.Source.Component+event.ReportingController, "kubectl-batchjob")
}

// startController runs our controller until the test ends.
func startController(t *testing.T) *leash.Controller {
	t.Helper()
	c, err := leash.StartController(t.Context(), binary, kubeconfig, nil, "--leader-elect")
	assert.NoError(t, err)
	t.Cleanup(func() {
		if code, err := c.End(); code != 0 || err != nil {
			t.Errorf("the controller: exit %d, %v\n%s", code, err, c.Stderr.String())
		}
	})
	return c
}
