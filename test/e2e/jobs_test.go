package e2e

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The examples end as their first lines say (JOB-59, JOB-60), and nothing is left over.
func TestExamplesEndAsTheySay_JOB_59_JOB_60(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	for _, file := range []string{"indexed-10.yaml", "index-3-retries.yaml", "over-backoff-limit.yaml", "non-indexed.yaml"} {
		apply(t, ns, file)
	}
	for name, want := range map[string]struct {
		reason            string
		succeeded, failed int32
		completed         string
		pods              int
	}{
		"indexed-ten":         {"Complete/CompletionsReached", 10, 0, "0-9", 10},
		"index-three-retries": {"Complete/CompletionsReached", 5, 2, "0-4", 7},
		"over-backoff-limit":  {"Failed/BackoffLimitExceeded", 0, 2, "", 2},
		"non-indexed":         {"Complete/CompletionsReached", 4, 0, "", 4},
	} {
		job, reason := finished(t, ns, name)
		s := job.Status
		if reason != want.reason || s.Succeeded != want.succeeded || s.Failed != want.failed || s.CompletedIndexes != want.completed {
			t.Errorf("%s: %s, succeeded %d, failed %d, completed %q; want %+v", name, reason, s.Succeeded, s.Failed, s.CompletedIndexes, want)
		}
		if s.Active != 0 || *s.Ready != 0 || *s.Terminating != 0 || len(s.UncountedTerminatedPods.Succeeded)+len(s.UncountedTerminatedPods.Failed) != 0 {
			t.Errorf("%s: something is left over: %+v", name, s)
		}
		if got := len(pods(t, ns, name)); got != want.pods {
			t.Errorf("%s: %d pods, want %d", name, got, want.pods)
		}
		noFinalizers(t, ns, name)
	}
	out := kubectlBatchjob(t, "status", "--kubeconfig", kubeconfig, "-n", ns, "--no-headers")
	if out.Code != 0 || strings.Count(out.Out, "Complete") != 3 || strings.Count(out.Out, "Failed") != 1 {
		t.Errorf("status: %+v", out)
	}
}

// Restarts in the middle, orderly and by SIGKILL, lose and double nothing (TRK-03, JOB-56).
func TestRestartsLoseAndDoubleNothing_TRK_03_JOB_56(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "indexed-10.yaml", managedBy(ns))
	apply(t, ns, "index-3-retries.yaml", managedBy(ns))
	for n := range 4 {
		p := startController(t, "--namespaces", ns, "--managed-by", ownManager(ns))
		eventually(t, "progress", func(ctx context.Context) (bool, error) {
			job, err := client.BatchV1().Jobs(ns).Get(ctx, "indexed-ten", metav1.GetOptions{})
			return err == nil && int(job.Status.Succeeded+job.Status.Active) > n, err
		})
		if n%2 == 0 {
			p.Kill()
		} else if code := p.stop(t); code != 0 {
			t.Errorf("SIGTERM ends the controller with %d: %s", code, p.Stderr.String())
		}
	}
	startController(t, "--namespaces", ns, "--managed-by", ownManager(ns))
	if job, reason := finished(t, ns, "indexed-ten"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 10 || job.Status.Failed != 0 {
		t.Errorf("indexed-ten: %s %+v", reason, job.Status)
	}
	if job, reason := finished(t, ns, "index-three-retries"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 5 || job.Status.Failed != 2 {
		t.Errorf("index-three-retries: %s %+v", reason, job.Status)
	}
	noFinalizers(t, ns, "indexed-ten")
	noFinalizers(t, ns, "index-three-retries")
}

// The built-in controller runs beside ours: each keeps to its own Jobs, and a third
// one's Job stays as it is (MGB-01, MGB-05, MGB-06, MGB-13).
func TestEachControllerKeepsToItsJobs_MGB_01_MGB_05_MGB_06_MGB_13(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	named := func(name string, managedBy *string) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Name, j.Spec.ManagedBy = name, managedBy }
	}
	apply(t, ns, "non-indexed.yaml", named("ours", ptr.To("batchjob.dev/controller")))
	apply(t, ns, "non-indexed.yaml", named("built-in", nil))
	apply(t, ns, "non-indexed.yaml", named("reserved", ptr.To(batchv1.JobControllerName)))
	apply(t, ns, "non-indexed.yaml", named("foreign", ptr.To("example.com/other")))
	for name, manager := range map[string]string{"ours": "kubectl-batchjob-controller", "built-in": "kube-controller-manager", "reserved": "kube-controller-manager"} {
		job, reason := finished(t, ns, name)
		if reason != "Complete/CompletionsReached" || job.Status.Succeeded != 4 {
			t.Errorf("%s: %s %+v", name, reason, job.Status)
		}
		for _, f := range job.ManagedFields {
			if f.Subresource == "status" && f.Manager != manager {
				t.Errorf("the status of %s was written by %s", name, f.Manager)
			}
		}
		for _, pod := range pods(t, ns, name) {
			_, numbered := pod.Annotations["batchjob.dev/attempt"]
			if numbered != (name == "ours") {
				t.Errorf("pod %s was created by the wrong controller", pod.Name)
			}
		}
	}
	foreign, err := client.BatchV1().Jobs(ns).Get(t.Context(), "foreign", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := foreign.Status; s.StartTime != nil || s.UncountedTerminatedPods != nil || len(s.Conditions) > 0 || len(pods(t, ns, "foreign")) > 0 {
		t.Errorf("the foreign Job was touched: %+v", s)
	}
}

// A deleted Job leaves no pod behind, with the garbage collector of the cluster
// (TRK-20, JOB-58, REG-07), and a finished one is removed by its TTL (MGB-15).
func TestDeletedJobLeavesNoPodBehind_TRK_20_JOB_58_MGB_15(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "indexed-10.yaml", func(j *batchv1.Job) { withoutEnd(&j.Spec) })
	eventually(t, "pods", func(context.Context) (bool, error) { return len(pods(t, ns, "indexed-ten")) == 5, nil })
	background := metav1.DeletePropagationBackground
	if err := client.BatchV1().Jobs(ns).Delete(t.Context(), "indexed-ten", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	apply(t, ns, "non-indexed.yaml", func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](0) })
	for _, name := range []string{"indexed-ten", "non-indexed"} {
		eventually(t, "the pods of "+name+" to be gone", func(ctx context.Context) (bool, error) {
			_, err := client.BatchV1().Jobs(ns).Get(ctx, name, metav1.GetOptions{})
			return err != nil && len(pods(t, ns, name)) == 0, nil
		})
	}
}

// What the kwok nodes do by annotation reaches the pod's status as a kubelet
// writes it.
func TestNodesObeyAnnotations(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	apply(t, ns, "over-backoff-limit.yaml", func(j *batchv1.Job) {
		j.Spec.BackoffLimit = ptr.To[int32](0)
		a := j.Spec.Template.Annotations
		for key := range a {
			delete(a, key)
		}
		a["kwok.batchjob.dev/exit-code"], a["kwok.batchjob.dev/reason"], a["kwok.batchjob.dev/message"] = "137", "OOMKilled", "out of memory"
	})
	if _, reason := finished(t, ns, "over-backoff-limit"); reason != "Failed/BackoffLimitExceeded" {
		t.Errorf("reason %s", reason)
	}
	pod := pods(t, ns, "over-backoff-limit")[0]
	end := pod.Status.ContainerStatuses[0].State.Terminated
	if pod.Status.Phase != corev1.PodFailed || end == nil || end.ExitCode != 137 || end.Reason != "OOMKilled" || end.Message != "out of memory" {
		t.Errorf("%+v", pod.Status)
	}
}
