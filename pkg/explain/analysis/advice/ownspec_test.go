package advice_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: CLI-06
func TestNodeSelectorThatNoNodeMatchesIsNamed(t *testing.T) {
	pod := explaintest.UnscheduledPod("0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.")
	job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	r := explaintest.WantFirst(t, explaintest.InputOf(job, pod), "no node can take the pod: 5 nodes do not match its nodeSelector (disk=ssd)")
	explaintest.WantText(t, r, "correct the nodeSelector disk=ssd of the pod template, or give a node that label", "kubectl get nodes -L disk")
	job.Spec.Template.Spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": "a"}
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job, pod)), "or add a node that has it: the kubelet, the cloud or an operator sets such labels")
	job.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}
	job.Spec.Template.Spec.NodeSelector = nil
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job, pod)), "compare nodeSelector and affinity of the pod with the labels of the nodes")
}

// More pods at once do not make a Job faster that runs a single pod, or all of its pods, at once.
// Requirements: CLI-06
func TestParallelismIsAdvisedOnlyIfMorePodsCanRun(t *testing.T) {
	for _, tc := range []struct {
		completions *int32
		parallelism int32
		more        bool
	}{{ptr.To[int32](1), 1, false}, {ptr.To[int32](1), 0, false}, {ptr.To[int32](3), 3, false}, {ptr.To[int32](3), 1, true}, {nil, 1, false}} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Spec.ActiveDeadlineSeconds = tc.completions, &tc.parallelism, ptr.To[int64](20)
			explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
			j.Status.Failed = 1
		}))
		r := explaintest.Report(f)
		explaintest.WantText(t, r, "recreate the Job with an activeDeadlineSeconds above 20")
		assert.Equal(t, explaintest.HasAdvice(r, "(parallelism)"), tc.more)
	}
}

// Requirements: CLI-06
func TestNodeSelectorOfFullNodesIsRight(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	pod := explaintest.UnscheduledPod("0/5 nodes are available: 4 node(s) didn't match Pod's node affinity/selector, 1 Insufficient cpu.")
	r := explaintest.Report(explaintest.InputOf(job, pod))
	explaintest.WantText(t, r, "free cpu on the nodes")
	explaintest.WantWithout(t, r, "correct the nodeSelector")
}
