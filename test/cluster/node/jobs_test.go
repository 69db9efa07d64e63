//go:build node

package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Issue 7, point 1: the sample Jobs of the documentation end as their comments say.
func TestSamplesEndAsTheySay(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	if r := kubectl(t, ns, "apply", "-k", root+"/config/samples"); r.Code != 0 || strings.Contains(r.ErrOut, "Warning") {
		t.Fatalf("%+v", r)
	}
	wantComplete(t, ns, "success-policy")
	if end := wantFailed(t, ns, "named-rules", batchv1.JobReasonPodFailurePolicy+"_BrokenInput"); end.Cause == nil || ptr.Deref(end.Cause.ExitCode, 0) != 42 || !strings.Contains(end.Message, "file 1 is broken") {
		t.Errorf("named-rules ends with %+v, %+v", end, end.Cause)
	}
	if end := wantFailed(t, ns, "retries-per-index", batchv1.JobReasonFailedIndexes); end.FailedIndexes != "3" || !strings.Contains(end.Message, "suite 3: 2 of 14 tests failed") {
		t.Errorf("retries-per-index ends with %+v", end)
	}
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
	wantComplete(t, ns, "sum")
	want(t, ns, 0, []string{string(batchv1.JobComplete), ns + "/sum", wording.Of(5, 5)}, "status", "sum")
	output := want(t, ns, 0, nil, "logs", "sum")
	for _, part := range []string{"part 0 of 5", "part 1 of 5", "part 2 of 5", "part 3 of 5", "part 4 of 5"} {
		wantParts(t, "logs", output, []string{part})
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

// Issue 7, point 1: why names the pod, container, exit code and rule, and shows the last lines of the real
// log; logs shows all lines.
func TestExitCodeIsExplained(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	create(t, ns, exit42())
	wantFailed(t, ns, "import", batchv1.JobReasonPodFailurePolicy+"_BrokenInput")
	wantParts(t, "logs", want(t, ns, 0, nil, "logs", "import", "--failed"), []string{
		"row 1 of file 1", "row 2 of file 1", "row 3 of file 1", "panic: row 3 has no date",
	})
	report := explained(t, ns, "import")
	if v := report.Verdict; ptr.Deref(v.Rule, -1) != 0 || v.RuleName != "BrokenInput" || len(report.Gaps) > 0 {
		t.Errorf("verdict %+v, gaps %+v", v, report.Gaps)
	}
	failed := failedPod(t, ns, "import")
	wantEvidence(t, report, "the pod", func(e *explain.Evidence) bool {
		return e.Kind == explain.EvidencePod && e.Pod == failed && ptr.Deref(e.Index, -1) == 1 && e.Attempt == 1
	})
	wantEvidence(t, report, "the exit", exitOf("main", 42))
	wantEvidence(t, report, "the log", func(e *explain.Evidence) bool {
		return slices.Equal(tail(e.Lines, 2), []string{"row 3 of file 1", "panic: row 3 has no date"})
	})
	wantPage(t, ns, report)
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

// Issue 7, point 1: containers that are killed or cannot be started are explained from the container runtime's reports.
func TestKilledContainersAreExplained(t *testing.T) {
	t.Parallel()
	missing := newJob("missing", "")
	missing.Spec.Template.Spec.Containers[0].Command = []string{"trainer", "--epochs", "3"}
	for _, c := range []struct {
		job            *batchv1.Job
		code           int32
		signal, reason string
		// output are texts of the container and its runtime, and values of the Job.
		output []string
	}{
		// The shell is the container's first process: the kernel kills all processes with it.
		{limited(newJob("memory", `echo eating; x=0123456789abcdef; while :; do x=$x$x; done`), "24Mi"), 137, "SIGKILL", "OOMKilled", []string{"│ eating", "24Mi"}},
		// In a container's command, $$ is an escaped $.
		{newJob("signal", `echo going down; sh -c 'kill -SEGV $$$$'; exit $?`), 139, "SIGSEGV", "", []string{"│ going down"}},
		{missing, 128, "", "StartError", []string{`"trainer": executable file not found in $PATH`}},
	} {
		t.Run(c.job.Name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			create(t, ns, c.job)
			wantFailed(t, ns, c.job.Name, batchv1.JobReasonBackoffLimitExceeded)
			report := explained(t, ns, c.job.Name)
			wantEvidence(t, report, "the exit", func(e *explain.Evidence) bool {
				return exitOf("main", c.code)(e) && e.Signal == c.signal && cause.Specific(e.Reason) == c.reason
			})
			wantParts(t, "why", wantPage(t, ns, report), c.output)
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
	wantFailed(t, ns, "again", batchv1.JobReasonBackoffLimitExceeded)
	eventually(t, "the end of the pod", func(ctx context.Context) bool { return len(pods(ctx, t, ns, jobPods("again"))) == 0 })
	report := explained(t, ns, "again")
	restarted := slices.ContainsFunc(report.Causes, func(c explain.Cause) bool {
		return c.Failure != nil && c.Failure.Restarted == cause.Exit{Container: "main", ExitCode: 7}
	})
	if !restarted {
		t.Errorf("verdict %+v, causes %+v", report.Verdict, report.Causes)
	}
	wantPage(t, ns, report)
	deleter := slices.ContainsFunc(report.Advice, func(a explain.Advice) bool { return a.Text == words.FindDeleter })
	if report.Verdict.EndedBy != explain.EndedByRestarts || deleter {
		t.Errorf("verdict %+v, advice %+v", report.Verdict, report.Advice)
	}
}

// PFP-07, ADR 0012: a busy kubelet may report that pods failed at their activeDeadlineSeconds before it reports the exit
// codes of their containers; the rule for the exit code is applied nevertheless.
func TestLateExitCodesAreEvaluated(t *testing.T) {
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
	wantFailed(t, ns, "late", batchv1.JobReasonPodFailurePolicy+"_0")
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
	p := untilProblem(t, ns, "half", explain.ProblemContainerFailed)
	if p.Container != "main" || p.Run.Exit == nil || p.Run.Exit.ExitCode != 42 || !slices.Equal(p.Stopping.Running, []string{"proxy"}) {
		t.Errorf("%+v", p)
	}
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
	for _, c := range []struct {
		job    *batchv1.Job
		kind   explain.ProblemKind
		reason string
		// output are texts of the kubelet or the scheduler, and values of the Job.
		output string
	}{
		{secret, explain.ProblemContainerConfig, "CreateContainerConfigError", `secret "none" not found`},
		{image, explain.ProblemImagePull, "ErrImageNeverPull", "busybox:none"},
		{limited(newJob("room", "true"), "900Gi"), explain.ProblemUnschedulable, "", "1 node lacks free memory"},
	} {
		t.Run(c.job.Name, func(t *testing.T) {
			t.Parallel()
			ns := namespace(t)
			create(t, ns, c.job)
			if p := untilProblem(t, ns, c.job.Name, c.kind); !p.Blocks || p.Start.Reason != c.reason {
				t.Errorf("%+v", p)
			}
			want(t, ns, 0, []string{c.output}, "why", c.job.Name, "--full")
		})
	}
}

// logs --follow shows each line of each run of a restarted container once, with the last line of a run that does not end it.
func TestFollowedLogHasAllRunsOfAContainer(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	j := newJob("runs", `run=$(cat /runs/last 2>/dev/null || echo 0); run=$((run+1)); echo $run >/runs/last
echo "run $run, line 1"; echo "run $run, line 2"; printf "run $run, panic"; [ $run = 3 ]`)
	spec := &j.Spec.Template.Spec
	spec.RestartPolicy, j.Spec.BackoffLimit = corev1.RestartPolicyOnFailure, ptr.To[int32](6)
	spec.Volumes = []corev1.Volume{{Name: "runs", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "runs", MountPath: "/runs"}}
	create(t, ns, j)
	var lines []string
	for line := range strings.Lines(want(t, ns, 0, nil, "logs", "runs", "--follow")) {
		if at := strings.Index(line, "run "); at >= 0 {
			lines = append(lines, strings.TrimSpace(line[at:]))
		}
	}
	var all []string
	for run := range 3 {
		for _, line := range []string{"line 1", "line 2", "panic"} {
			all = append(all, fmt.Sprintf("run %d, %s", run+1, line))
		}
	}
	assert.SlicesEqual(t, lines, all)
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
	wantFailed(t, ns, "polite", batchv1.JobReasonDeadlineExceeded)
}
