package podproblems_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// The following functions return statuses of containers as a kubelet writes them.
func runsSince(name string, d time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Ready: true, Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(d)}}}
}

// unready marks a running container as not ready and not started: its probes have not succeeded.
func unready(s corev1.ContainerStatus) corev1.ContainerStatus {
	s.Ready, s.Started = false, ptr.To(false)
	return s
}

// wantStall fails unless this problem blocks the Job in the report and in the list, with all of the texts.
func wantStall(t *testing.T, f input.Input, kind explain.ProblemKind, texts ...string) {
	t.Helper()
	r := explaintest.Report(f)
	if p := explaintest.Problem(t, r, kind); !p.Blocks || !r.Verdict.Stalled {
		t.Errorf("%+v, stalled %v", p, r.Verdict.Stalled)
	}
	explaintest.WantText(t, r, texts...)
	if stall := analysis.StallOf(explaintest.Listed(f)); stall == nil || stall.Kind != kind || !strings.Contains(explaintest.Verdict(r), firstClause(stall.Text)[1:]) {
		t.Errorf("the list has %+v, and the verdict is: %s", stall, explaintest.Verdict(r))
	}
}

// firstClause returns the text before the first semicolon, colon or full stop.
func firstClause(text string) string {
	return strings.TrimRight(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";:.", r) })[0], " ")
}

// An injected proxy keeps the pod from ending after its work is finished.
// Requirements: CON-01
func TestProxyThatOutlivesItsMainContainerStallsTheJob(t *testing.T) {
	for name, tc := range map[string]struct {
		proxy  string
		code   int32
		advice string
	}{
		"istio":     {"istio-proxy", 0, `sidecar.istio.io/inject: "false"`},
		"linkerd":   {"linkerd-proxy", 0, "linkerd.io/inject: disabled"},
		"another":   {"mesh", 0, "find out what adds container mesh to the pod"},
		"exit 3":    {"linkerd-proxy", 3, "/shutdown"},
		"Cloud SQL": {"cloudsql-proxy", 0, "container backup (--quitquitquit of its version 2, then POST to localhost:9091/quitquitquit), or recreate the Job with it as a native sidecar"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{runsSince(tc.proxy, time.Hour), explaintest.EndedWith("backup", tc.code, 5*time.Minute)})
			kind, wantText := explain.ProblemContainerEnded, "ended 5m ago with exit code 0, and container "+tc.proxy+" keeps the pod from ending."
			if tc.code != 0 {
				kind, wantText = explain.ProblemContainerFailed, "ended 5m ago with exit code 3; the pod does not end or count as failed while container "+tc.proxy+" is still running."
			}
			wantStall(t, explaintest.InputOf(explaintest.JobOfPod(pod, "mesh", "istio-proxy", "linkerd-proxy"), explaintest.PodOf("a", pod)), kind,
				"The Job is stalled: container backup of pod a "+wantText, tc.advice, "-n ns")
		})
	}
}

// Requirements: CON-01
func TestProxyThatIsRestartedAfterTheWorkIsNoErrorOfTheWork(t *testing.T) {
	for name, proxy := range map[string]corev1.ContainerStatus{
		"runs":  explaintest.Restarted(runsSince("daprd", 10*time.Second), 3, 1, time.Minute),
		"waits": explaintest.Restarted(explaintest.WaitsFor("daprd", "CrashLoopBackOff"), 3, 1, time.Minute),
	} {
		pod := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("work", 0, 9*time.Minute), proxy})
		job := explaintest.JobOfPod(pod)
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		f := explaintest.InputOf(job, explaintest.PodOf("a", pod))
		f.Events = []input.Event{explaintest.AboutPod("a", "Normal", "kubelet", "Killing", "Container daprd failed liveness probe, will be restarted")}
		wantStall(t, f, explain.ProblemContainerEnded, "The Job is stalled: container work of pod a ended 9m ago with exit code 0, and container daprd, restarted after exit code 1, keeps the pod from ending; "+
			"its liveness probe fails, and restartPolicy OnFailure starts a container again that does not end with 0.", "native sidecar")
		if r := explaintest.Report(f); explaintest.HasProblem(r, explain.ProblemCrashLoop) {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}

// Each container of the Job's template may have work: the end of one is a fact, but not a stall.
// Requirements: CON-01
func TestContainerThatStillWorksIsNoStall(t *testing.T) {
	for name, tc := range map[string]struct {
		pod     func(*corev1.Pod)
		problem bool
	}{
		"works on":         {explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("extract", 0, 40*time.Second), runsSince("upload", time.Hour)}), true},
		"ended just now":   {explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("extract", 0, 20*time.Second), runsSince("upload", time.Hour)}), false},
		"all ended":        {explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("extract", 0, time.Minute)}), false},
		"the proxy ended":  {explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("istio-proxy", 0, 6*time.Minute), runsSince("upload", time.Hour)}), false},
		"a sidecar beside": {explaintest.Containers(corev1.PodRunning, []corev1.ContainerStatus{runsSince("sidecar-log", time.Hour)}, []corev1.ContainerStatus{runsSince("main", time.Hour)}), false},
		"a sidecar loops": {explaintest.Containers(corev1.PodRunning, []corev1.ContainerStatus{explaintest.Restarted(explaintest.WaitsFor("sidecar-log", "CrashLoopBackOff"), 3, 1, time.Minute)},
			[]corev1.ContainerStatus{runsSince("main", time.Hour)}), false},
	} {
		f := explaintest.InputOf(explaintest.JobOfPod(tc.pod), explaintest.PodOf("a", tc.pod))
		r := explaintest.Report(f)
		if r.Verdict.Stalled || analysis.StallOf(explaintest.Listed(f)) != nil || explaintest.HasProblem(r, explain.ProblemContainerEnded) != tc.problem {
			t.Errorf("%s: %s %+v", name, explaintest.Verdict(r), r.Problems)
		}
	}
}

// Requirements: CON-02
func TestWhatKeepsAPodFromEndingIsNamed(t *testing.T) {
	done := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("main", 0, 8*time.Minute)})
	wantStall(t, explaintest.InputOf(explaintest.JobOfPod(done), explaintest.PodOf("a", done)), explain.ProblemPodNotEnded,
		"The Job is stalled: container main of pod a ended 8m ago with exit code 0, but the kubelet of node node-1 has not ended the pod.", "kubectl describe node node-1", "kubectl delete pod a -n ns")
	killed := explaintest.EndedWith("main", 137, 8*time.Minute)
	killed.State.Terminated.Reason = "OOMKilled"
	waits := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{killed, runsSince("next", time.Hour)})
	two := explaintest.JobOfPod(waits)
	two.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("10Mi")}
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(two, explaintest.PodOf("a", waits))), "exit code 137 (OOMKilled), memory limit 10Mi", "raise the memory limit of container main, which is 10Mi")

	pod := explaintest.Containers(corev1.PodRunning, []corev1.ContainerStatus{runsSince("sidecar-agent", 10*time.Minute)}, []corev1.ContainerStatus{explaintest.EndedWith("main", 0, 8*time.Minute)})
	job := explaintest.JobOfPod(pod)
	job.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](900)
	wantStall(t, explaintest.InputOf(job, explaintest.PodOf("a", pod)), explain.ProblemSidecarStopping,
		"The Job is stalled: container main of pod a ended 8m ago with exit code 0, and sidecar sidecar-agent has not stopped yet; the kubelet kills it when the grace period of 15m (terminationGracePeriodSeconds) is over.",
		"exit on SIGTERM", "kubectl logs a -c sidecar-agent -n ns")
}

// Requirements: CON-03
func TestInitContainerThatRunsForLongIsNamed(t *testing.T) {
	main := []corev1.ContainerStatus{explaintest.WaitsFor("migrate", "PodInitializing")}
	runs := func(d time.Duration) func(*corev1.Pod) {
		return explaintest.Containers(corev1.PodPending, []corev1.ContainerStatus{explaintest.EndedWith("copy", 0, d), unready(runsSince("wait-for-db", d))}, main)
	}
	wantStall(t, explaintest.InputOf(explaintest.JobOfPod(runs(0)), explaintest.PodOf("a", runs(64*time.Second))), explain.ProblemInitRunning,
		"Init container wait-for-db (2 of 2) has been running for 1m4s; container migrate starts only after it has ended.", "kubectl logs a -c wait-for-db -n ns")
	r := explaintest.Report(explaintest.InputOf(explaintest.JobOfPod(runs(0)), explaintest.PodOf("a", runs(time.Minute)), explaintest.PodOf("b", runs(time.Hour))))
	explaintest.WantText(t, r, "Init container wait-for-db (2 of 2) has been running in 2 pods, in the first of them for 1h")

	// A container that fails and is restarted is the same problem while it runs and while it waits.
	looping := explaintest.Restarted(explaintest.WaitsFor("wait-for-db", "CrashLoopBackOff"), 3, 1, time.Minute)
	again := explaintest.Restarted(unready(runsSince("wait-for-db", 20*time.Second)), 3, 1, time.Minute)
	for _, s := range []corev1.ContainerStatus{looping, again} {
		pod := explaintest.Containers(corev1.PodPending, []corev1.ContainerStatus{explaintest.EndedWith("copy", 0, time.Hour), s}, main)
		job := explaintest.JobOfPod(pod)
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		wantStall(t, explaintest.InputOf(job, explaintest.PodOf("a", pod)), explain.ProblemCrashLoop,
			"The Job is stalled: init container wait-for-db (2 of 2) exited with code 1 after 1m, restarted 3 times.", "kubectl logs a -c wait-for-db --previous -n ns")
	}
}

// The text names the field that makes the kubelet restart a container.
// Requirements: CON-05
func TestRestartsNameTheFieldThatCausesThem(t *testing.T) {
	pod := func(name string) func(*corev1.Pod) {
		return explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.Restarted(explaintest.WaitsFor(name, "CrashLoopBackOff"), 3, 1, time.Minute)})
	}
	beside := explaintest.Containers(corev1.PodRunning, []corev1.ContainerStatus{explaintest.Restarted(explaintest.WaitsFor("sidecar-log", "CrashLoopBackOff"), 3, 1, time.Minute)}, []corev1.ContainerStatus{runsSince("main", time.Hour)})
	for want, tc := range map[string]struct {
		pod    func(*corev1.Pod)
		change func(*corev1.PodSpec)
	}{
		"container main exited with code 1 after 1m, restarted 3 times": {pod("main"), func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure }},
		"container main exited with code 1 after 1m, restarted 3 times (its restartPolicyRules); no retry limit counts this, and activeDeadlineSeconds is not set": {pod("main"), func(s *corev1.PodSpec) {
			s.Containers[0].RestartPolicy, s.Containers[0].RestartPolicyRules = ptr.To(corev1.ContainerRestartPolicyNever), []corev1.ContainerRestartRule{{
				Action:    corev1.ContainerRestartRuleActionRestart,
				ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{1}},
			}}
		}},
		"container main exited with code 1 after 1m, restarted 3 times (its own restartPolicy)": {pod("main"), func(s *corev1.PodSpec) {
			s.Containers[0].RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}},
		"sidecar sidecar-log exited with code 1 after 1m, restarted 3 times (its own restartPolicy is Always); its restarts do not count towards backoffLimit": {beside, func(*corev1.PodSpec) {}},
	} {
		job := explaintest.JobOfPod(tc.pod)
		tc.change(&job.Spec.Template.Spec)
		if p := explaintest.Problem(t, explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", tc.pod))), explain.ProblemCrashLoop); !strings.HasPrefix(p.Text, want) {
			t.Errorf("%q, want %q", p.Text, want)
		}
	}
}
