package podproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// onePod returns the input about a Job of one pod in this phase, whose container has these arguments.
func onePod(phase corev1.PodPhase, args ...string) input.Input {
	job := explaintest.JobWith
	if phase == corev1.PodSucceeded {
		job = explaintest.CompleteJob
	}
	return explaintest.InputOf(job(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
		if phase == corev1.PodRunning {
			j.Status.Active, j.Status.Failed = 1, 0
		}
		j.Spec.Template.Spec.Containers[0].Command, j.Spec.Template.Spec.Containers[0].Args = []string{"sh", "-c"}, args
	}), explaintest.PodOf("train-x", func(p *corev1.Pod) { p.Status.Phase, p.Spec.NodeName = phase, "node-1" }))
}

// Requirements: FCT-13
func TestErrorThatARunningContainerRepeatsIsInTheFirstSentence(t *testing.T) {
	in := onePod(corev1.PodRunning)
	in.Logs = []input.LogTail{{Pod: "train-x", Container: "main", Lines: []string{"403 (ACL not found)", "Retrying in 1s"}, Repeated: "Unexpected response code: 403 (ACL not found)"}}
	r := explaintest.Report(in)
	explaintest.WantVerdict(t, r, "The Job is running, but the log of container main repeats an error: “Unexpected response code: 403 (ACL not found)”; 0 of 1 pod succeeded, 1 pod is active.")
	p := explaintest.Problem(t, r, explain.ProblemErrorRepeated)
	assert.Equal(t, p.Blocks, false)
	explaintest.WantText(t, r, "kubectl logs train-x -n ns")
	explaintest.WantText(t, r, "the servers know")

	in.Logs[0].Repeated = "dial tcp: lookup db: no such host"
	explaintest.WantVerdict(t, explaintest.Report(in), "The Job is running, but the log of container main repeats an error: host name db could not be resolved; 0 of 1 pod succeeded, 1 pod is active.")

	in.Logs[0].Repeated = ""
	explaintest.WantVerdict(t, explaintest.Report(in), "The Job is running: 0 of 1 pod succeeded, 1 pod is active.")
	assert.Equal(t, len(explaintest.Report(in).Problems), 0)
	in.Logs[0].LastAt = in.Now.Add(-10 * time.Minute)
	explaintest.WantVerdict(t, explaintest.Report(in), "The Job is running, and container main has printed nothing for 10m; its log ends with “403 (ACL not found)”; 0 of 1 pod succeeded, 1 pod is active.")
	in.Logs[0].LastAt = in.Now.Add(1 - 10*time.Minute)
	assert.Equal(t, len(explaintest.Report(in).Problems), 0)
}

// Requirements: FCT-13
func TestErrorOfACompleteJobIsInTheFirstSentence(t *testing.T) {
	log := []string{`Exception in thread "main" com.example.ParameterException: The following option is required: [-c | --cluster]`, "\tat com.example.Main.main(Main.java:1)"}
	for _, tc := range []struct {
		args, hidden string // hidden is "-" if no command hides the exit code of the program
		log          []string
	}{
		{"bin/setup || true;", "|| true", log},
		{"bin/setup\nexit 0\n", "exit 0", log},
		{"bin/setup; echo done", "echo done", log},
		{"bin/setup | tee /log", "| tee /log", log},
		{"set -o pipefail; bin/setup | tee /log", "-", log},
		{"set -e; bin/setup; exit 0", "-", log},
		{"bin/setup", "+", append(log, "Setup completed successfully")},
		{"pg_dump app > /x; bin/upload", "?", []string{"pg_dump: error: connection refused", "Uploading x"}},
		{"bin/setup", "", append(log, "2026-11-29T10:00:00Z INFO going on")},
		{"bin/setup", "", append(log, "Loading rows...")},
		{"bin/setup || true", "", []string{"database app already exists", "done"}},
		{"bin/setup || true", "", []string{"all is done"}},
	} {
		in := onePod(corev1.PodSucceeded, tc.args)
		in.Logs = []input.LogTail{{Pod: "train-x", Container: "main", Lines: tc.log}}
		r := explaintest.Report(in)
		if tc.hidden == "" {
			assert.Equalf(t, explaintest.HasProblem(r, explain.ProblemErrorHidden), false, "%s", tc.args)
			continue
		}
		p := explaintest.Problem(t, r, explain.ProblemErrorHidden)
		want := map[string]string{"-": "the log of container main ends with an error: ", "+": "the log of container main has an error before it", "?": "the script of container main did not end at an error: "}[tc.hidden]
		if tc.hidden = strings.Trim(tc.hidden, "-+?"); want == "" {
			want = "its command ends with " + tc.hidden + ", which hides an error of container main: "
		}
		assert.Equal(t, p.Asked, tc.hidden)
		explaintest.WantFirst(t, in, "The Job is complete, but "+want)
	}
}

// Requirements: FCT-13
func TestLogOfAContainerThatHasNotFailedIsReadOnlyWithoutTrouble(t *testing.T) {
	running := onePod(corev1.PodRunning)
	failed := onePod(corev1.PodRunning)
	failed.Job.Status.Failed = 1
	waits := explaintest.InputOf(running.Job, running.Pods[0], explaintest.PodOf("train-y", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
	for name, tc := range map[string]struct {
		in   input.Input
		want int
	}{
		"runs":              {running, 1},
		"has failed before": {failed, 0},
		"a pod waits":       {waits, 0},
		"is complete":       {onePod(corev1.PodSucceeded, "x"), 1},
	} {
		assert.Equalf(t, len(analysis.LogTargetsWithOutput(tc.in, explain.Options{}, 3)), tc.want, "%s", name)
		assert.Equalf(t, len(analysis.LogTargets(tc.in, explain.Options{}, 3)), 0, "%s", name)
	}
}

// Requirements: FCT-01, FCT-09
func TestFailuresBeforeASuccessAreNamed(t *testing.T) {
	job := explaintest.CompleteJob(func(j *batchv1.Job) {
		j.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "logs", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
	})
	restarted := func(name string, code int32, reason string) *input.Pod {
		return succeeded("train-x", "Completed", func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: name, RestartCount: 2,
				State:                corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: explaintest.Ago(time.Minute)}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: explaintest.Ago(2 * time.Minute)}},
			}}
		})
	}
	explaintest.WantFirst(t, explaintest.InputOf(job, restarted("logs", 137, cause.OOMKilled)), "sidecar logs exited with code 137 for lack of memory (OOMKilled), and was restarted 2 times: what it was doing may be incomplete")
	for _, tc := range []struct {
		name, want string
	}{
		{"logs", "sidecar logs failed with exit code 3, restarted 2 times in pod train-x"},
		{"setup", "init container setup failed with exit code 3, restarted 2 times in pod train-x"},
	} {
		r := explaintest.Report(explaintest.InputOf(job, restarted(tc.name, 3, "Error")))
		if p := explaintest.Problem(t, r, explain.ProblemContainerRetried); p.Text != tc.want || p.Blocks {
			t.Errorf("%+v, want %s", p, tc.want)
		}
	}
	if r := explaintest.Report(explaintest.InputOf(job, restarted("setup", 0, "Completed"))); len(r.Problems) > 0 {
		t.Errorf("%+v", r.Problems)
	}
}

// The kubelet takes an init container that lost a process for a failure, and its exit code 0 for a success.
// Requirements: FCT-09
func TestInitContainerThatLostAProcessHoldsUpItsPod(t *testing.T) {
	pod := func(next corev1.ContainerState, ended time.Duration) *input.Pod {
		return explaintest.PodOf("train-x", func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{
				Name: "fetch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: cause.OOMKilled, FinishedAt: explaintest.Ago(ended)}},
			}, {Name: "unpack", State: next}}
		})
	}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	job := func(policy corev1.RestartPolicy) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Status.Active = ptr.To[int32](1), ptr.To[int32](1), 1
			j.Spec.Template.Spec.RestartPolicy, j.Spec.Template.Spec.InitContainers = policy, []corev1.Container{{Name: "fetch"}, {Name: "unpack"}}
		})
	}
	r := explaintest.Report(explaintest.InputOf(job(corev1.RestartPolicyNever), pod(waiting, time.Minute)))
	explaintest.WantVerdict(t, r, "The Job is stalled: init container fetch exited with code 0, but the kernel killed a process in it for lack of memory (OOMKilled); "+
		"so the kubelet does not start container main, and the Job waits forever.")
	explaintest.WantText(t, r, "kubectl delete pod train-x -n ns")
	for name, f := range map[string]input.Input{
		"it is restarted":        explaintest.InputOf(job(corev1.RestartPolicyOnFailure), pod(waiting, time.Minute)),
		"it has just ended":      explaintest.InputOf(job(corev1.RestartPolicyNever), pod(waiting, time.Second)),
		"the next one has begun": explaintest.InputOf(job(corev1.RestartPolicyNever), pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(time.Second)}}, time.Minute)),
	} {
		if r := explaintest.Report(f); len(r.Problems) > 0 && r.Problems[0].Kind == explain.ProblemProcessOOMKilled {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}

// succeeded returns a pod whose main container exited with 0 for this reason.
func succeeded(name, reason string, change func(*corev1.Pod)) *input.Pod {
	return explaintest.PodOf(name, func(p *corev1.Pod) {
		explaintest.Exits(0, reason, time.Minute)(p)
		p.Spec.Containers[0].Resources = explaintest.Memory("512Mi")
		if change != nil {
			change(p)
		}
	})
}

// Requirements: FCT-01
func TestProcessThatIsOOMKilledMakesSuccessDoubtful(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(nil), succeeded("train-x", cause.OOMKilled, nil)))
	explaintest.WantVerdict(t, r, "The Job is complete: 1 of 1 pod succeeded in 59m; container main exited with code 0, but the kernel killed a process in it for lack of memory (OOMKilled, memory limit 512Mi): its result may be incomplete.")
	p := explaintest.Problem(t, r, explain.ProblemProcessOOMKilled)
	if p.Blocks || p.Count != 1 || r.Verdict.Problem == nil || len(r.Causes) != 0 || r.Counts.Failed != 0 {
		t.Errorf("%+v", r)
	}
	for _, advice := range []string{"raise the memory limit of container main, which is 512Mi", "exit with another code than 0", "kubectl logs train-x"} {
		if !explaintest.HasAdvice(r, advice) {
			t.Errorf("no advice %q in %+v", advice, r.Advice)
		}
	}
}

// Requirements: FCT-01
func TestSidecarThatIsOOMKilledIsNamed(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(nil), succeeded("train-x", "Completed", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "logs", Image: "shipper:1", Resources: explaintest.Memory("32Mi")}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "logs", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: cause.OOMKilled, StartedAt: explaintest.Ago(3 * time.Minute), FinishedAt: explaintest.Ago(2 * time.Minute)},
		}}}
	})))
	assert.Contains(t, explaintest.Verdict(r), "sidecar logs exited with code 137 for lack of memory (OOMKilled, memory limit 32Mi")
}

// A sidecar that the kubelet stops at the end of the pod is no problem, nor is a pod without one.
// Requirements: FCT-01
func TestUsualSuccessHasNoReservation(t *testing.T) {
	stopped := succeeded("train-x", "Completed", func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "logs", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error", StartedAt: explaintest.Ago(3 * time.Minute), FinishedAt: explaintest.Ago(time.Minute)},
		}}}
	})
	assert.Equal(t, len(explaintest.Report(explaintest.InputOf(explaintest.CompleteJob(nil), stopped)).Problems), 0)
}
