package status

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// withStatus returns a Job of ns1 with these numbers of active and ready pods.
func withStatus(name string, active, ready int64) *unstructured.Unstructured {
	job := clitest.SimpleJob("ns1", name, 0)
	job.Object["status"].(map[string]any)["active"] = active
	job.Object["status"].(map[string]any)["ready"] = ready
	return job
}

// pendingPod returns a pod of the Job whose container waits.
func pendingPod(job *unstructured.Unstructured, reason string) *corev1.Pod {
	pod := clitest.EndedPod(job, job.GetName()+"-a", 0, "")
	pod.Labels["batch.kubernetes.io/job-name"] = job.GetName()
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: clitest.Waits(reason, "")}}}
	return pod
}

// Issue 17, point 3: a list that is followed rereads stalls, and prints what has changed.
// Requirements: CLI-06
func TestWatchedListShowsStalls(t *testing.T) {
	job := withStatus("train", 1, 0)
	o := clitest.NewObjects(t, job)
	clock := clitest.NewClock()
	s := watching(t, o.API, clock.Env(), "--no-headers")
	s.WaitLines(1)
	o.Pods.Put(pendingPod(job, "ErrImagePull"))
	clitest.WaitFor(t, func() bool { clock.Fire(); return strings.Contains(s.Out.String(), "Stalled") }, s.Out.String)
	o.API.Put(withStatus("train", 1, 1))
	lines := s.WaitLines(3)
	s.Interrupt()
	s.End()
	for i, want := range []string{"train Running", "train Stalled", "train Running"} {
		if !strings.HasPrefix(strings.Join(strings.Fields(lines[i]), " "), want) {
			t.Errorf("line %d: %q", i, lines[i])
		}
	}
	assert.Equal(t, s.ErrOut.String(), "")
}

// With --problems, the first row of a Job is printed when it has a problem, and another one when that is over.
func TestWatchedProblemsBeginWithOne(t *testing.T) {
	api := clitest.NewAPI(t, withStatus("a", 1, 1), withStatus("b", 1, 1))
	s := watching(t, api, clitest.NewEnv(), "--no-headers", "--problems")
	api.Put(clitest.FailedJob("a"))
	s.WaitLines(1)
	api.Remove(withStatus("b", 1, 1))
	api.Put(withStatus("a", 1, 1))
	s.WaitLines(2)
	s.Interrupt()
	s.End()
	if out := strings.Join(strings.Fields(s.Out.String()), " "); !strings.HasPrefix(out, "a Failed") || !strings.Contains(out, "a Running") || strings.Contains(out, "b ") {
		t.Errorf("%s", s.Out.String())
	}
}
