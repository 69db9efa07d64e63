package integration

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
)

const ourLabel = "batchjob.dev_controller"

// claims are the patches that label a pod and nothing else.
func claims(w *wire) []call {
	return w.recorded(podPatch.holding(`"labels":{"` + observe.ManagedByLabel + `":"` + ourLabel + `"}}}`))
}

// untilLabeled waits until a pod that has lost the label has it again.
func (f *fixture) untilLabeled(pods ...*corev1.Pod) {
	f.t.Helper()
	for _, pod := range pods {
		f.until("the pod is labeled again", func() bool {
			now := f.history.pod(pod.UID)
			return now != nil && now.Labels[observe.ManagedByLabel] == ourLabel
		})
	}
}

func (f *fixture) unlabel(pods ...*corev1.Pod) {
	f.t.Helper()
	for _, pod := range pods {
		f.patchPod(pod, map[string]any{"labels": map[string]any{observe.ManagedByLabel: nil}})
	}
}

// Pods of a Deployment and of other controllers' Jobs come, change and go, and the watch brings
// nothing about them but its own bookmarks; in place of the built-in controller, only about those of Jobs.
func TestPodsOfOthersAreNotDelivered_IDL_01_IDL_06(t *testing.T) {
	t.Parallel()
	const others, bookmarks = 50, 500
	for name, c := range map[string]struct {
		option    func(*controller.Config)
		delivered bool
	}{"beside": {func(*controller.Config) {}, false}, "replacing": {replacing, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.tolerated = []string{"S5", "TRK-01"}
			p := f.startController(c.option)
			other := f.create(named("other", newJob(managedBy(otherController), completions(1))))
			f.create(newJob(suspended))
			f.untilIs("a", batchv1.JobSuspended)
			change := func(owner metav1.OwnerReference, policy corev1.RestartPolicy) (bytes int) {
				before := p.wire.received(watches("pods"))
				for i := range others {
					pod := f.createPod(map[string]string{"app": "web"}, func(pod *corev1.Pod) {
						pod.OwnerReferences, pod.Spec.RestartPolicy = []metav1.OwnerReference{owner}, policy
					})
					f.labelPod(pod, "round", fmt.Sprint(i))
					f.deletePods(pod)
				}
				// What our own Job causes arrives after all that.
				f.create(named(string(owner.UID), newJob(suspended)))
				f.untilIs(string(owner.UID), batchv1.JobSuspended)
				return p.wire.received(watches("pods")) - before
			}
			if n := change(metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: ptr.To(true)}, corev1.RestartPolicyAlways); n > bookmarks {
				t.Errorf("%d bytes about %d pods of a Deployment", n, others)
			}
			n := change(*metav1.NewControllerRef(other, batchv1.SchemeGroupVersion.WithKind("Job")), corev1.RestartPolicyNever)
			if (n > bookmarks) != c.delivered {
				t.Errorf("%d bytes about %d pods of another controller's Job", n, others)
			}
		})
	}
}

// Somebody takes the label from pods that run, wait to be counted, or terminate: they are
// neither replaced nor lost, and counted once.
func TestLabelIsRemoved_IDL_02(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(indexed(4), backoffLimit(3), onNode, replacedWhen(batchv1.Failed)))
	pods := f.untilActive(4)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 4, ready: 4})
	f.unlabel(pods[0])
	f.labelPod(pods[1], observe.ManagedByLabel, "somebody-else")
	f.untilLabeled(pods[:2]...)

	p.wire.freeze(watches("pods"))
	f.kubelet.succeed(pods[2])
	f.unlabel(pods[2])
	p.wire.thaw()
	f.untilCounts("a", counts{active: 3, ready: 3, succeeded: 1})
	f.deletePods(pods[3])
	f.untilCounts("a", counts{active: 2, ready: 2, terminating: 1, succeeded: 1})
	f.unlabel(pods[3])
	f.untilLabeled(pods[3])
	f.kubelet.terminate(pods[3])
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 4, 1)
	f.wantPodsEver(5)
}

// Pods that the API server removes for good cost no request: what it says of the deleted pod
// shows that it did not only lose the label.
func TestDeletedPodsAreNotLookedFor_IDL_02(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(4), parallelism(4), onNode))
	pods := f.untilActive(4)
	f.kubelet.run(pods...)
	f.untilCounts("a", counts{active: 4, ready: 4})
	f.edit("a", suspend(true))
	f.kubelet.terminate(f.untilPods(4, "terminating", history.IsTerminating)...)
	f.untilPods(0, "there", anyPod)
	f.untilCounts("a", counts{})
	f.edit("a", suspend(false))
	f.deletePods(f.untilActive(4)[0])
	f.kubelet.play(everySucceeds)
	f.untilJob("a", "is complete", func(job *batchv1.Job) bool { return history.Is(job, batchv1.JobComplete) })
	f.deleteJob("a", metav1.DeletePropagationBackground)
	f.deletePods(f.pods(anyPod)...)
	f.untilPods(0, "there", anyPod)
	if list := claims(p.wire); len(list) > 0 {
		t.Errorf("%d patches, of %s first", len(list), list[0].name)
	}
}

// An older version created the pods without the label: the next one finds them before it
// decides anything. So do orphans of a Job that was deleted meanwhile.
func TestPodsOfAnOlderVersion_IDL_03_TRK_22(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.startController()
	f.create(newJob(completions(3), parallelism(2), onNode))
	f.create(named("gone", newJob(completions(1))))
	all := f.untilActive(3)
	f.untilCounts("a", counts{active: 2})
	f.untilCounts("gone", counts{active: 1})
	p.stop()
	f.unlabel(all...)
	orphan := f.pods(func(pod *corev1.Pod) bool { return pod.Labels[batchv1.JobNameLabel] == "gone" })
	mine := f.pods(func(pod *corev1.Pod) bool { return pod.Labels[batchv1.JobNameLabel] == "a" })
	f.collect("gone", metav1.DeletePropagationOrphan, orphan)
	f.kubelet.run(mine...)
	f.kubelet.succeed(mine[0])

	f.startController()
	f.until("the orphan is let go", func() bool { return !history.IsTracked(f.history.pod(orphan[0].UID)) })
	f.untilCounts("a", counts{active: 2, ready: 1, succeeded: 1})
	f.kubelet.play(func(pod *corev1.Pod, _ int) corev1.PodPhase {
		if pod.UID == orphan[0].UID {
			return ""
		}
		return corev1.PodSucceeded
	})
	f.untilComplete("a", 3, 0)
	f.wantPodsEver(4)
}

// A pod that somebody creates later without the label, in the name of the Job or to be adopted,
// is found by the next sweep.
func TestLatePodsWithoutTheLabel_IDL_03_JOB_35(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	// The test creates a pod in the name of the Job.
	f.tolerated = []string{"S5"}
	f.startController()
	job := f.create(newJob(completions(2), parallelism(1)))
	f.untilCounts("a", counts{active: 1})
	bare := f.createPod(job.Spec.Template.Labels)
	f.untilOwned(bare, job)
	f.untilLabeled(bare)
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	late := f.createPodOf(job)
	f.untilLabeled(late)
	f.until("the pod is let go", func() bool { now := f.history.pod(late.UID); return now == nil || !history.IsTracked(now) })
}
