package podproblems_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

var (
	runsAgain  = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(20 * time.Second)}}
	hasEnded   = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
	recovered  = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(10 * time.Minute)}}
	crashState = map[string]corev1.ContainerState{"waits": explaintest.BacksOff, "runs again": runsAgain, "ended (1.37)": hasEnded}
)

// A container that fails and is restarted is the same problem, in the same words, whatever its kubelet does at the moment.
// Requirements: CON-05, CON-07
func TestCrashLoopHasOneExplanationWhileItWaitsRunsAndEnds(t *testing.T) {
	for name, state := range crashState {
		t.Run(name, func(t *testing.T) {
			f := explaintest.CrashLoop(state)
			f.Logs = []input.LogTail{{Pod: "a", Container: "main", Lines: []string{"connecting to db:5432", "no rows for 2024-02-30", ""}}}
			r := explaintest.WantFirst(t, f, "The Job is stalled: container main exited with code 1 after 30s, restarted 3 times: no rows for 2024-02-30.")
			p := explaintest.Problem(t, r, explain.ProblemCrashLoop)
			if p.Start.Reason != explain.CrashLoopBackOff || p.Run.Exit.ExitCode != 1 || p.Run.Restarts != 3 || !p.Blocks {
				t.Errorf("%+v", p)
			}
			explaintest.WantText(t, r, "kubectl logs a --previous -n ns")
			isLog := func(e explain.Evidence) bool { return e.Kind == explain.EvidenceLogs && len(e.Lines) > 0 }
			if !slices.ContainsFunc(r.Evidence, isLog) {
				t.Errorf("no log in the evidence: %+v", r.Evidence)
			}
		})
	}
	if r := explaintest.Report(explaintest.CrashLoop(recovered)); explaintest.HasProblem(r, explain.ProblemCrashLoop) || r.Verdict.Stalled {
		t.Errorf("it has run for long since: %s", explaintest.Verdict(r))
	}
}

// A container that runs again for long is no stall, and its failure is not forgotten.
// Requirements: CON-07
func TestContainerThatRunsAgainForLongIsNamedWithItsLastFailure(t *testing.T) {
	f := explaintest.CrashLoop(recovered)
	c := &f.Pods[0].Containers[0]
	c.ExitCode, c.Reason, c.StartedAt, c.EndedAt = 137, "OOMKilled", explaintest.Noon.Add(-3*time.Hour), explaintest.Noon.Add(-10*time.Minute)
	f.Job.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	r := explaintest.WantFirst(t, f, "container main runs again, after restart 3: exited with code 137 (OOMKilled) after 2h50m, memory limit 1Gi")
	if p := explaintest.Problem(t, r, explain.ProblemRestarted); p.Blocks || r.Verdict.Stalled || p.Run.Restarts != 3 {
		t.Errorf("%+v", p)
	}
	explaintest.WantText(t, r, "raise the memory limit", "kubectl logs a --previous -n ns")
	if stall := analysis.StallOf(explaintest.Listed(f)); stall != nil {
		t.Errorf("it works: %+v", stall)
	}

	f.Pods = append(f.Pods, f.Pods[0])
	f.Pods[1].Name, f.Pods[1].UID = "b", "b"
	explaintest.WantFirst(t, f, "container main runs again in 2 pods, after 6 restarts: exited with code 137 (OOMKilled), memory limit 1Gi")
}

// Several pods with the same failure are one problem, and another failure is another problem.
func TestCrashLoopsOfSeveralPodsAreCountedTogether(t *testing.T) {
	f := explaintest.CrashLoop(explaintest.BacksOff)
	f.Pods = append(f.Pods, explaintest.CrashLoop(runsAgain).Pods[0])
	f.Pods[1].Name, f.Pods[1].UID = "b", "b"
	explaintest.WantFirst(t, f, "container main exited with code 1 in 2 pods, restarted 6 times")
}

// The log of the last failure is read: of the run before the restart, or of the run that has ended.
func TestLogOfACrashLoopIsRead(t *testing.T) {
	for name, state := range crashState {
		f := explaintest.CrashLoop(state)
		f.Pods[0].Node = "node-1"
		want := []input.LogTarget{{Pod: "a", Container: "main", Previous: state.Terminated == nil, Restarts: 3}}
		assert.SlicesEqual(t, analysis.LogTargets(f, explain.Options{}, 3), want, name)
	}
	if got := analysis.LogTargets(explaintest.CrashLoop(recovered), explain.Options{}, 3); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// A list reports a crash loop, too, although the pod is ready while its container runs.
// Requirements: CON-07
func TestListReportsACrashLoopWhileItsPodIsReady(t *testing.T) {
	for name, state := range crashState {
		f := explaintest.CrashLoop(state)
		f.Job.Status.Ready = ptr.To[int32](1)
		if stall := analysis.StallOf(explaintest.Listed(f)); stall == nil || stall.Kind != explain.ProblemCrashLoop {
			t.Errorf("%s: %+v", name, stall)
		}
	}
	f := explaintest.CrashLoop(recovered)
	f.Job.Status.Ready = ptr.To[int32](1)
	if stall := analysis.StallOf(explaintest.Listed(f)); stall != nil {
		t.Errorf("it works: %+v", stall)
	}
	f.Job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	if analysis.MayStall(f.Job) {
		t.Error("a ready pod that is never restarted needs no request")
	}
}
