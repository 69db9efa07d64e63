//go:build compat

package compat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// sweep has six completions, of which indexes 2 and 4 fail. Tests append a policy to its spec.
const sweep = `apiVersion: batch/v1
kind: Job
metadata: {name: sweep}
spec:
  completions: 6
  parallelism: 6
  template:
    metadata:
      annotations:
        kwok.batchjob.dev/run-time: 1s
        kwok.batchjob.dev/run-time.2: 4s
        kwok.batchjob.dev/exit-code.2: "1"
        kwok.batchjob.dev/run-time.4: 4s
        kwok.batchjob.dev/exit-code.4: "1"
    spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}
`

// repaired is the patch that makes all indexes succeed.
const repaired = `{"spec":{"template":{"metadata":{"annotations":{"kwok.batchjob.dev/exit-code.2":null,"kwok.batchjob.dev/exit-code.4":null}}}}}`

var policies = []struct{ name, spec, reason string }{
	{"Indexed", "  completionMode: Indexed\n  backoffLimit: 0\n", batchv1.JobReasonCompletionsReached},
	{"NonIndexed", "  backoffLimit: 0\n  activeDeadlineSeconds: 6\n", batchv1.JobReasonCompletionsReached},
	{"backoffLimitPerIndex", "  completionMode: Indexed\n  backoffLimitPerIndex: 0\n", batchv1.JobReasonCompletionsReached},
	{"successPolicy", "  completionMode: Indexed\n  backoffLimit: 0\n  successPolicy: {rules: [{succeededIndexes: 2-4}]}\n", batchv1.JobReasonSuccessPolicy},
	{"podReplacementPolicy", "  completionMode: Indexed\n  backoffLimit: 0\n  podReplacementPolicy: Failed\n", batchv1.JobReasonCompletionsReached},
	{"maxFailedIndexes", "  completionMode: Indexed\n  backoffLimitPerIndex: 0\n  maxFailedIndexes: 1\n", batchv1.JobReasonCompletionsReached},
}

// A retry runs the missing indexes and completes, with the older release's controller and with ours.
// Requirements: RTY-04
func TestRetryOnAnOlderRelease(t *testing.T) {
	startController(t)
	for _, managedBy := range []string{"", "batchjob.dev/controller"} {
		for _, p := range policies {
			t.Run(p.name+" "+managedBy, func(t *testing.T) {
				t.Parallel()
				if managedBy != "" && strings.Contains(os.Getenv("BATCHJOB_COMPAT_GATES"), "JobManagedBy=false") {
					t.Skip("The API server drops managedBy.")
				}
				testRetry(t, managedBy, p.spec, p.reason)
			})
		}
	}
}

func testRetry(t *testing.T, managedBy, spec, reason string) {
	ns := namespace(t)
	manifest := sweep
	indexed := strings.Contains(spec, "Indexed")
	if !indexed { // Two at a time, so that some are missing at the deadline.
		manifest = strings.NewReplacer("parallelism: 6", "parallelism: 2", "run-time: 1s", "run-time: 2s").Replace(sweep)
	}
	path := filepath.Join(t.TempDir(), "job.yaml")
	assert.NoError(t, os.WriteFile(path, []byte(strings.Replace(manifest, "  completions", spec+"  completions", 1)), 0o600))
	if r := plugin(t, ns, "create", "--managed-by="+managedBy, "-f", path); r.Code != 0 {
		t.Fatalf("create: %+v", r)
	}
	want(t, ns, 3, []string{"Failed"}, "wait", "sweep", "--timeout", "3m")
	failed := readJob(t, ns, "sweep")
	pods, completed, succeeded := []string{"2", "4"}, "0-5", int32(6)
	if !indexed {
		succeeded = 6 - failed.Status.Succeeded
		pods, completed = make([]string, succeeded), ""
	}
	r := plugin(t, ns, "retry", "sweep", "--patch", repaired, "--active-deadline-seconds", "600", "--wait", "--timeout", "3m")
	if r.Code != 0 || !strings.Contains(r.Out, "job.batch/sweep-retry-1 created\n") {
		t.Fatalf("%+v", r)
	}
	made := readJob(t, ns, "sweep-retry-1")
	s := made.Status
	if s.Succeeded != succeeded || s.CompletedIndexes != completed || s.Failed != 0 || s.Active != 0 || ptr.Deref(s.FailedIndexes, "") != "" {
		t.Errorf("of %+v: %+v", failed.Status, s)
	}
	for _, c := range s.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobSuccessCriteriaMet) && c.Reason != reason {
			t.Errorf("%+v", c)
		}
	}
	list, err := client.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=sweep-retry-1"})
	assert.NoError(t, err)
	var ran []string
	for _, pod := range list.Items {
		ran = append(ran, pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	}
	if slices.Sort(ran); !slices.Equal(ran, pods) {
		t.Errorf("ran %q, want %q", ran, pods)
	}
}

func readJob(t *testing.T, ns, name string) *batchv1.Job {
	t.Helper()
	job, err := client.BatchV1().Jobs(ns).Get(t.Context(), name, metav1.GetOptions{})
	assert.NoError(t, err)
	return job
}
