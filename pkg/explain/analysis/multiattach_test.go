package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Requirements: CLI-06
func TestMultiAttachIsPreferredToATimeout(t *testing.T) {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Active = ptr.To[int32](1), ptr.To[int32](1), 1
	}),
		podOf("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
	attach := about("a", "Warning", "attachdetach-controller", "FailedAttachVolume", `Multi-Attach error for volume "pvc-0a1b" Volume is already used by pod(s) bootstrap-sync`)
	mount := about("a", "Warning", "kubelet", "FailedMount", "Unable to attach or mount volumes: unmounted volumes=[config]: timed out waiting for the condition")
	mount.Last = noon.Add(-time.Minute)
	f.Events = []input.Event{attach, mount}
	wantFirst(t, f, "the pod cannot start because its volume pvc-0a1b is already used by pod(s) bootstrap-sync")

	// The scheduler's message from before the pod had a node is outdated.
	attach.Reason, attach.Message = "FailedScheduling", "0/3 nodes are available"
	f.Events = []input.Event{attach, mount}
	wantWithout(t, report(f), "0/3 nodes")
}
