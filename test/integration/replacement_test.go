package integration

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

// A pod that a user deletes has failed at that moment, however it ends.
func TestDeletedPodIsReplacedAtOnce_PRP_05_TRK_13(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), onNode))
	f.kubelet.run(f.untilActive(2)...)
	f.untilCounts("a", counts{active: 2, ready: 2})

	deleted := f.untilPods(1, "of index 1", ofIndex(1))[0]
	f.deletePods(deleted)
	f.untilCounts("a", counts{active: 2, ready: 1, terminating: 1, failed: 1})
	f.kubelet.succeed(deleted)
	f.untilCounts("a", counts{active: 2, ready: 1, failed: 1})
	f.kubelet.confirm(deleted)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 1)
	f.wantPodsEver(3)
}

// With policy Failed a deleted pod is neither failed nor replaced until it ends,
// and then it is what it ended as.
func TestDeletedPodIsReplacedWhenFailed_PRP_06_PRP_08(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end    corev1.PodPhase
		failed int32
		pods   int
	}{{corev1.PodSucceeded, 0, 2}, {corev1.PodFailed, 1, 3}} {
		t.Run(string(c.end), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.startController()
			f.create(newJob(indexed(2), onNode, replacedWhen(batchv1.Failed)))
			f.kubelet.run(f.untilActive(2)...)
			f.untilCounts("a", counts{active: 2, ready: 2})

			deleted := f.untilPods(1, "of index 1", ofIndex(1))[0]
			f.deletePods(deleted)
			f.untilCounts("a", counts{active: 1, ready: 1, terminating: 1})
			f.wantPodsEver(2)
			f.kubelet.set([]*corev1.Pod{deleted}, c.end, 0)
			f.kubelet.confirm(deleted)
			f.kubelet.play(everySucceeds)
			f.untilComplete("a", 2, c.failed)
			f.wantPodsEver(c.pods)
		})
	}
}

// The matrix of KEP-3939: both pods are deleted while a foreign finalizer holds
// them, and fail after that.
func TestReplacementFollowsThePolicy_PRP_04_PRP_20(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]jobOption{
		"Indexed":    indexed(2),
		"NonIndexed": func(s *batchv1.JobSpec) { completions(2)(s); parallelism(2)(s) },
	} {
		for policy, whileDeleted := range map[batchv1.PodReplacementPolicy]counts{
			batchv1.TerminatingOrFailed: {active: 2, terminating: 2, failed: 2},
			batchv1.Failed:              {terminating: 2},
		} {
			t.Run(name+"/"+string(policy), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.startController()
				f.create(newJob(mode, replacedWhen(policy), withFinalizer(foreignFinalizer)))
				pods := f.untilActive(2)
				f.untilCounts("a", counts{active: 2})
				f.deletePods(pods...)
				f.untilCounts("a", whileDeleted)
				f.kubelet.fail(pods...)
				f.untilCounts("a", counts{active: 2, failed: 2})
				f.kubelet.play(everySucceeds)
				f.untilComplete("a", 2, 2)
				f.wantPodsEver(4)
			})
		}
	}
}

// A work queue succeeds while a deleted pod still runs: the pod is neither a
// failure nor a success, and the Job is Complete when it has ended.
func TestSuccessWhileAPodTerminates_SUC_14_SUC_15_JOB_03(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(parallelism(2), onNode, replacedWhen(batchv1.Failed)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.deletePods(pods[0])
	f.untilCounts("a", counts{active: 1, ready: 1, terminating: 1})
	f.kubelet.succeed(pods[1])
	f.untilIs("a", batchv1.JobSuccessCriteriaMet)
	f.untilCounts("a", counts{terminating: 1, succeeded: 1})
	f.untilReleased()
	if history.Is(f.history.job("a"), batchv1.JobComplete) {
		t.Error("the Job is Complete, and a pod still runs")
	}
	f.kubelet.terminate(pods[0])
	f.untilComplete("a", 1, 0)
	f.wantPodsEver(2)
}

// The policy of the moment decides; what is counted stays counted.
func TestReplacementPolicyChanges_PRP_22(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	f.create(newJob(indexed(2), onNode, replacedWhen(batchv1.Failed)))
	pods := f.untilActive(2)
	f.kubelet.run(pods...)
	f.deletePods(pods[0])
	f.untilCounts("a", counts{active: 1, ready: 1, terminating: 1})
	f.edit("a", map[string]any{"podReplacementPolicy": batchv1.TerminatingOrFailed})
	f.untilCounts("a", counts{active: 2, ready: 1, terminating: 1, failed: 1})
	f.edit("a", map[string]any{"podReplacementPolicy": batchv1.Failed})
	f.kubelet.terminate(pods[0])
	f.untilCounts("a", counts{active: 2, ready: 1, failed: 1})
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 1)
	f.wantPodsEver(3)
}
