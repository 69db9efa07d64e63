//go:build node

package node

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Issue 7, point 1: the sample Jobs of the documentation end as their comments say.
func TestSamplesEndAsTheySay(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	if r := kubectl(t, ns, "apply", "-k", root+"/config/samples"); r.Code != 0 || strings.Contains(r.ErrOut, "Warning") {
		t.Fatalf("%+v", r)
	}
	want(t, ns, 0, []string{"Complete"}, "wait", "success-policy", "--timeout", "2m")
	want(t, ns, 3, []string{"PodFailurePolicy_BrokenInput", "exit code 42", "file 1 is broken"}, "wait", "named-rules", "--timeout", "2m")
	want(t, ns, 3, []string{"FailedIndexes", "1 of its 6 indexes failed (3)", "suite 3: 2 of 14 tests failed"}, "wait", "retries-per-index", "--timeout", "2m")
	if done := job(t, ns, "success-policy").Status; done.CompletedIndexes != "0" || done.Conditions[len(done.Conditions)-1].Reason != batchv1.JobReasonSuccessPolicy {
		t.Errorf("success-policy ends with %+v", done)
	}
	if done := job(t, ns, "retries-per-index").Status; done.CompletedIndexes != "0-2,4,5" || ptr.Deref(done.FailedIndexes, "") != "3" {
		t.Errorf("retries-per-index ends with %+v", done)
	}
}

// Issue 7, point 1: a Job that runs several containers at once is complete when all have ended.
func TestIndexedJobCompletes(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, indexed(newJob("sum", `echo "part $JOB_COMPLETION_INDEX of 5"; sleep 1`), 5, 3))
	want(t, ns, 0, []string{"Complete"}, "wait", "sum", "--timeout", "2m")
	want(t, ns, 0, []string{"✓ Complete job " + ns + "/sum", "5 of 5 succeeded, 0 failed"}, "status", "sum")
	said := want(t, ns, 0, nil, "logs", "sum")
	for _, part := range []string{"part 0 of 5", "part 1 of 5", "part 2 of 5", "part 3 of 5", "part 4 of 5"} {
		wantParts(t, "logs", said, []string{part})
	}
}

// exit42 returns a Job whose index 1 fails with the exit code of a rule. Its containers write to one stream only, as the
// order of lines from two streams is random.
func exit42() *batchv1.Job {
	j := indexed(newJob("import", `for row in 1 2 3; do echo "row $row of file $JOB_COMPLETION_INDEX"; done
[ "$JOB_COMPLETION_INDEX" != 1 ] || { echo "panic: row 3 has no date"; exit 42; }`), 3, 3)
	j.Annotations = map[string]string{"batchjob.dev/pod-failure-policy-rule-names": "0=BrokenInput"}
	j.Spec.BackoffLimit = nil
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}},
	}}}
	return j
}

// Issue 7, point 1: explain-failure names the pod, container, exit code and rule, and shows the last lines of the real
// log; logs shows all lines.
func TestExitCodeIsExplained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, exit42())
	want(t, ns, 3, []string{"PodFailurePolicy_BrokenInput"}, "wait", "import", "--timeout", "2m")
	failed := failedPod(t, ns, "import")
	want(t, ns, 0, []string{
		`rule 0 "BrokenInput" of its podFailurePolicy matched`, "Pod " + failed + " (index 1, attempt 1) on node node",
		"Container main exited with code 42", "│ row 3 of file 1", "│ panic: row 3 has no date",
	}, "explain-failure", "import", "--full")
	wantParts(t, "logs", want(t, ns, 0, nil, "logs", "import", "--failed"), []string{
		"row 1 of file 1", "row 2 of file 1", "row 3 of file 1", "panic: row 3 has no date",
	})
	var report explain.Report
	if err := json.Unmarshal([]byte(want(t, ns, 0, nil, "explain-failure", "import", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(report.Evidence, func(e explain.Evidence) bool {
		return e.Kind == explain.EvidenceContainer && e.Container == "main" && ptr.Deref(e.ExitCode, 0) == 42
	})
	ofPod := slices.ContainsFunc(report.Evidence, func(e explain.Evidence) bool { return e.Kind == explain.EvidencePod && e.Pod == failed })
	if at < 0 || !ofPod || len(report.Gaps) > 0 {
		t.Errorf("evidence %+v, gaps %+v", report.Evidence, report.Gaps)
	}
}

func failedPod(t *testing.T, ns, name string) string {
	t.Helper()
	for _, pod := range pods(t.Context(), t, ns, jobPods(name)) {
		if pod.Status.Phase == corev1.PodFailed {
			return pod.Name
		}
	}
	t.Fatalf("no pod of %s has failed", name)
	return ""
}

// ending is a Job whose container a kubelet ends in some way, with the expected explanation.
type ending struct {
	job  *batchv1.Job
	said []string
}

// Issue 7, point 1: containers that are killed or cannot be started are explained from the container runtime's reports.
func TestKilledContainersAreExplained(t *testing.T) {
	t.Parallel()
	missing := newJob("missing", "")
	missing.Spec.Template.Spec.Containers[0].Command = []string{"trainer", "--epochs", "3"}
	for _, e := range []ending{
		// The shell is the container's first process: the kernel kills all processes with it.
		{limited(newJob("memory", `echo eating; x=0123456789abcdef; while :; do x=$x$x; done`), "24Mi"),
			[]string{"Container main exited with code 137 (OOMKilled)", "│ eating", "Raise the memory limit of container main, which is 24Mi"}},
		// In a container's command, $$ is an escaped $.
		{newJob("signal", `echo going down; sh -c 'kill -SEGV $$$$'; exit $?`), []string{"exit code 139 (SIGSEGV)", "│ going down"}},
		{missing, []string{"exit code 128 (StartError): the container could not be started", `"trainer": executable file not found in $PATH`}},
	} {
		t.Run(e.job.Name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			create(t, ns, e.job)
			want(t, ns, 3, []string{"BackoffLimitExceeded"}, "wait", e.job.Name, "--timeout", "2m")
			want(t, ns, 0, e.said, "explain-failure", e.job.Name, "--full")
		})
	}
}

// Issue 7, point 1, JOB-16: restarts in the pod use up backoffLimit, and the controller deletes the pod: the failure of
// its container is explained nevertheless.
func TestRestartsAreExplained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	j := newJob("again", `echo trying; sleep 1; exit 7`)
	j.Spec.Template.Spec.RestartPolicy, j.Spec.BackoffLimit = corev1.RestartPolicyOnFailure, ptr.To[int32](1)
	create(t, ns, j)
	want(t, ns, 3, []string{"BackoffLimitExceeded"}, "wait", "again", "--timeout", "2m")
	said := want(t, ns, 0, []string{"uses up backoffLimit 1", "container main last", "restartPolicy Never"}, "explain-failure", "again", "--full")
	if strings.Contains(said, "ind out who") {
		t.Errorf("it looks for somebody else:\n%s", said)
	}
}

// PFP-07, ADR 0012: a busy kubelet may report that pods failed at their activeDeadlineSeconds before it reports the exit
// codes of their containers; the rule for the exit code is applied nevertheless.
func TestLateExitCodesAreEvaluated_PFP_07(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	j := indexed(newJob("late", `trap 'sleep 1; exit 42' TERM; while :; do sleep 1 & wait; done`), 4, 4)
	spec := &j.Spec.Template.Spec
	spec.ActiveDeadlineSeconds, spec.TerminationGracePeriodSeconds = ptr.To[int64](3), ptr.To[int64](10)
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}},
	}}}
	create(t, ns, j)
	want(t, ns, 3, []string{"PodFailurePolicy_0"}, "wait", "late", "--timeout", "2m")
}

// Issue 7, point 1: a container has failed, and another one keeps the pod running.
func TestFailedContainerOfARunningPodIsExplained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	j := newJob("half", `sleep 1; exit 42`)
	proxy := *j.Spec.Template.Spec.Containers[0].DeepCopy()
	proxy.Name, proxy.Command = "proxy", []string{"sleep", "300"}
	j.Spec.Template.Spec.Containers = append(j.Spec.Template.Spec.Containers, proxy)
	create(t, ns, j)
	eventually(t, "a verdict", func(context.Context) bool {
		return strings.Contains(kubectl(t, ns, "batchjob", "explain-failure", "half", "--full").Out, "exit code 42")
	})
	want(t, ns, 0, []string{"exit code 42", "while container proxy is still running", "If container proxy only serves container main"}, "explain-failure", "half", "--full")
}

// Issue 7, point 1: the reasons why a kubelet or the scheduler cannot start pods are distinguished.
func TestPodsThatCannotStartAreExplained(t *testing.T) {
	t.Parallel()
	secret := newJob("secret", "true")
	secret.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "KEY", ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "none"}, Key: "key"},
	}}}
	image := newJob("image", "true")
	image.Spec.Template.Spec.Containers[0].Image = "busybox:none"
	image.Spec.Template.Spec.Containers[0].ImagePullPolicy = corev1.PullNever
	for _, e := range []ending{
		{secret, []string{"container main cannot be started (CreateContainerConfigError)", `secret "none" not found`}},
		{image, []string{"busybox:none", "ErrImageNeverPull"}},
		{limited(newJob("room", "true"), "900Gi"), []string{"no node can take the pod", "1 Insufficient memory"}},
	} {
		t.Run(e.job.Name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			create(t, ns, e.job)
			eventually(t, "a verdict", func(context.Context) bool {
				return strings.Contains(kubectl(t, ns, "batchjob", "explain-failure", e.job.Name, "--full").Out, "Stalled")
			})
			want(t, ns, 0, e.said, "explain-failure", e.job.Name, "--full")
		})
	}
}

// Issue 7, point 1: a container that gets SIGTERM has its full grace period, and logs --follow shows its output during
// it.
func TestContainerHasItsGracePeriod(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	j := newJob("polite", `trap 'echo saving; exit 0' TERM; echo working; while :; do sleep 1 & wait; done`)
	j.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](10)
	create(t, ns, j)
	eventually(t, "the pod to run", func(context.Context) bool { return ptr.Deref(job(t, ns, "polite").Status.Ready, 0) == 1 })
	if _, err := client.BatchV1().Jobs(ns).Patch(t.Context(), "polite", "application/merge-patch+json", []byte(`{"spec":{"activeDeadlineSeconds":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r := kubectl(t, ns, "batchjob", "logs", "polite", "--follow")
	wantParts(t, "logs --follow", r.Out, []string{"working", "saving"})
	want(t, ns, 3, []string{"DeadlineExceeded"}, "wait", "polite", "--timeout", "2m")
}
