package podproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// withProxy returns a pod change: the container main ended with code d ago, and the proxy keeps running.
func withProxy(code int32, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		explaintest.Exits(code, "Error", d)(p)
		p.Status.Phase = corev1.PodRunning
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, runsSince("proxy", 20*time.Minute))
	}
}

// withOwnProxy declares the proxy in the template: it may have work of its own.
func withOwnProxy(j *batchv1.Job) {
	t := &j.Spec.Template.Spec
	t.Containers = append(t.Containers, corev1.Container{Name: "proxy", Image: "proxy:1"})
}

// Issue 5, CLI-06: a container failed, and another one keeps its pod from ending, so that no controller sees a failure.
func TestFailedContainerOfARunningPodIsReported(t *testing.T) {
	job := explaintest.JobWith(withOwnProxy)
	r := explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", withProxy(42, 5*time.Minute))))
	p := explaintest.Problem(t, r, explain.ProblemContainerFailed)
	if !p.Blocks || p.Count != 1 || p.Pods[0] != "a" || !p.Since.Equal(ptr.To(explaintest.Ago(5*time.Minute))) || r.Verdict.Stalled {
		t.Errorf("%+v, stalled %v", p, r.Verdict.Stalled)
	}
	explaintest.WantText(t, r, "The Job is running: 0 of 3 pods succeeded, 1 pod is active; but container main of pod a ended 5m ago with exit code 42; the pod does not end or count as failed while container proxy is still running",
		"if container proxy only serves container main, make it exit with that container, or recreate the Job with it as a native sidecar (an init container with restartPolicy Always): sidecars do not keep a pod running",
		"kubectl logs a -c main -n ns")

	f := explaintest.InputOf(job, explaintest.PodOf("a", withProxy(42, 5*time.Minute)))
	assert.SlicesEqual(t, analysis.LogTargets(f, explain.Options{}, 3), []input.LogTarget{{Pod: "a", Container: "main"}}, "its log is read")
	f.Logs = []input.LogTail{input.NewLogTail("a", "main", []string{"cannot open data.csv"}, 20, true)}
	explaintest.WantText(t, explaintest.Report(f), "ended 5m ago with exit code 42: cannot open data.csv")

	// A running container may do the work: the Job is not stalled, whatever the other pods do.
	r = explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", withProxy(42, 5*time.Minute)), explaintest.PodOf("b", nil)))
	explaintest.WantText(t, r, "The Job is running: 0 of 3 pods succeeded, 2 pods are active; but container main of pod a ended 5m ago with exit code 42")
	if r.Verdict.Stalled {
		t.Errorf("%+v", r.Verdict)
	}

	// Pods that ended in the same way are one problem, which shows the first pod.
	several := withProxy(1, time.Minute)
	r = explaintest.Report(explaintest.InputOf(explaintest.JobWith(nil), explaintest.PodOf("a", withProxy(42, 5*time.Minute)), explaintest.PodOf("b", withProxy(42, time.Hour)), explaintest.PodOf("c", several), explaintest.PodOf("d", func(p *corev1.Pod) {
		several(p)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, runsSince("logs", 20*time.Minute))
	})))
	explaintest.WantText(t, r, "container main exited with code 42 in 2 pods, first 1h ago; the pods do not end or count as failed while container proxy is still running",
		"container main of pod c ended 1m ago with exit code 1", "while containers proxy and logs are still running", "adds them as native sidecars")
	assert.Equal(t, len(r.Problems), 3, r.Problems)
}

// Issue 5, CLI-06: a pod that is about to end or to continue is no problem.
func TestPodThatIsAboutToEndIsFine(t *testing.T) {
	for name, tc := range map[string]struct {
		job *batchv1.Job
		pod func(*corev1.Pod)
	}{
		"just now":           {explaintest.JobWith(nil), withProxy(42, 29*time.Second)},
		"succeeded just now": {explaintest.JobWith(nil), withProxy(0, 29*time.Second)},
		"is restarted":       {explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }), withProxy(42, time.Hour)},
		"is deleted":         {explaintest.JobWith(nil), func(p *corev1.Pod) { withProxy(42, time.Hour)(p); p.DeletionTimestamp = ptr.To(explaintest.Ago(0)) }},
		"the Job is deleted": {explaintest.JobWith(func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = ptr.To(explaintest.Ago(time.Minute)), []string{"x"}
		}), withProxy(42, time.Hour)},
		"the Job is suspended": {explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), withProxy(42, time.Hour)},
		"the Job fails":        {explaintest.JobWith(func(j *batchv1.Job) { explaintest.AddCondition(j, batchv1.JobFailureTarget, "DeadlineExceeded", "", 0) }), withProxy(42, time.Hour)},
		"a sidecar stops": {explaintest.JobWith(nil), func(p *corev1.Pod) {
			withProxy(42, 29*time.Second)(p)
			p.Status.InitContainerStatuses, p.Status.ContainerStatuses = p.Status.ContainerStatuses[1:], p.Status.ContainerStatuses[:1]
		}},
		"failed before": {explaintest.JobWith(nil), func(p *corev1.Pod) {
			withProxy(42, time.Hour)(p)
			s := &p.Status.ContainerStatuses[0]
			s.LastTerminationState, s.State = s.State, runsSince("main", 20*time.Minute).State
		}},
		"others failed long ago": {explaintest.JobWith(nil), func(p *corev1.Pod) {
			withProxy(42, time.Hour)(p)
			fetch, restarted, failed := p.Status.ContainerStatuses[0], runsSince("again", 20*time.Minute), corev1.ContainerStatus{Name: "late"}
			restarted.LastTerminationState, fetch.Name = fetch.State, "fetch"
			failed.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: explaintest.Ago(time.Second)}
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{fetch}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{restarted, failed}
		}},
		"an init container": {explaintest.JobWith(nil), func(p *corev1.Pod) {
			withProxy(42, time.Hour)(p)
			p.Status.InitContainerStatuses, p.Status.ContainerStatuses = p.Status.ContainerStatuses[:1], p.Status.ContainerStatuses[1:]
		}},
		"nobody knows when": {explaintest.JobWith(nil), func(p *corev1.Pod) {
			withProxy(42, time.Hour)(p)
			p.Status.ContainerStatuses[0].State.Terminated.FinishedAt = metav1.Time{}
		}},
	} {
		r := explaintest.Report(explaintest.InputOf(tc.job, explaintest.PodOf("a", tc.pod)))
		if explaintest.HasProblem(r, explain.ProblemContainerFailed) || r.Verdict.Stalled && !strings.HasPrefix(name, "the Job is ") {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}
