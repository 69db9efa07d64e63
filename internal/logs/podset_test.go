package logs

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The attempts of several Jobs are counted separately; the pods of one stay when the pods of another are replaced.
func TestPodsOfSeveralJobs(t *testing.T) {
	set := newPodSet()
	for _, job := range []string{"b", "a"} {
		var pods []*Pod
		for i := range 2 {
			pod := testPod(fmt.Sprintf("%s-%d", job, i), 0, corev1.PodFailed)
			pod.Job, pod.JobName = types.UID(job), job
			pods = append(pods, pod)
		}
		set.replace(types.UID(job), pods)
	}
	last := testPod("b-2", 0, corev1.PodRunning)
	last.Job, last.JobName = "b", "b"
	set.replace("b", []*Pod{last})
	var got []string
	for _, pod := range set.list(Selection{}).Pods {
		got = append(got, fmt.Sprintf("%s attempt %d", pod.Name, pod.Attempt))
	}
	expect(t, "pods", got, "a-1 attempt 2", "a-0 attempt 1", "b-2 attempt 3")
	for names, want := range map[string]bool{"a-0": true, "b-2": false, "gone": true} {
		assert.Equal(t, set.hasEnded([]string{names}), want, names)
	}
}

// A list that is older than events of the watch does not restore old states: a log that has ended would be followed forever
// (RUN-05).
func TestPodsOfAnOldList(t *testing.T) {
	phase := func(name string, phase corev1.PodPhase) *Pod { return testPod(name, 0, phase) }
	set := newPodSet()
	set.replace("", []*Pod{phase("a", corev1.PodRunning), phase("b", corev1.PodRunning), phase("c", corev1.PodPending)})
	set.put(phase("a", corev1.PodSucceeded))
	set.remove(phase("b", corev1.PodRunning).UID)
	set.replace("", []*Pod{phase("a", corev1.PodRunning), phase("b", corev1.PodRunning), phase("c", corev1.PodRunning)})
	var got []string
	for _, pod := range set.list(Selection{}).Pods {
		got = append(got, fmt.Sprintf("%s %s", pod.Name, pod.Phase))
	}
	expect(t, "pods", got, "a Succeeded", "c Running")
	if set.put(phase("b", corev1.PodRunning)); len(set.pods) != 3 {
		t.Errorf("the watch has brought it back: %v", set.pods)
	}
	if set.replace("", nil); len(set.pods) > 0 {
		t.Errorf("not listed, and still there: %v", set.pods)
	}
}
