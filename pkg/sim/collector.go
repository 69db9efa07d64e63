package sim

import (
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

const (
	// collectorLatency is the delay of the garbage collector.
	collectorLatency = 50 * time.Millisecond
	// podGCPeriod is the delay of the pod garbage collector.
	podGCPeriod = 20 * time.Second
)

// collector simulates the garbage collector and the pod garbage collector of the control plane.
type collector struct {
	world *World
	// succeeded are the succeeded pods without a finalizer, in the order of their success; empty unless SucceededPods
	// limits them.
	succeeded []podID
}

// podID is a pod that the pod garbage collector may delete.
type podID struct {
	name string
	uid  types.UID
}

func (g *collector) committed(c Commit) {
	switch {
	case c.OldJob != nil && c.NewJob == nil:
		g.soon("delete the pods of "+c.OldJob.Name, func() { g.deletePods(c.OldJob.UID) })
	case c.NewJob == nil:
		g.ownership(c)
		g.unscheduled(c)
		g.limitSucceeded(c)
	case c.NewJob.DeletionTimestamp != nil && (c.OldJob == nil || c.OldJob.DeletionTimestamp == nil || asksMore(c)):
		g.soon("process "+c.NewJob.Name, func() { g.process(c.NewJob.Name, c.NewJob.UID) })
	}
}

// asksMore reports whether a second deletion of a Job changes its propagation policy.
func asksMore(c Commit) bool {
	return slices.ContainsFunc([]string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}, func(finalizer string) bool {
		return slices.Contains(c.NewJob.Finalizers, finalizer) && !slices.Contains(c.OldJob.Finalizers, finalizer)
	})
}

// soon schedules an action of the garbage collector.
func (g *collector) soon(text string, do func()) {
	g.world.schedule(origin{kind: FromCollector, text: text}, collectorLatency, do)
}

// ownership reacts to a pod that was created, deleted, or moved to another owner.
func (g *collector) ownership(c Commit) {
	was, is := ownerReference(c.OldPod), ownerReference(c.NewPod)
	if was.UID == is.UID && (c.OldPod == nil) == (c.NewPod == nil) {
		return
	}
	for _, owner := range []metav1.OwnerReference{was, is} {
		switch job := g.world.Store.jobOf(owner.Name, owner.UID); {
		case owner.UID == "":
		case job == nil && owner.UID == is.UID:
			g.soon("delete the pods of "+owner.Name, func() { g.deletePods(owner.UID) })
		case job != nil && job.DeletionTimestamp != nil:
			g.soon("process "+owner.Name, func() { g.process(owner.Name, owner.UID) })
		}
	}
}

func ownerReference(pod *corev1.Pod) metav1.OwnerReference {
	if pod == nil {
		return metav1.OwnerReference{}
	}
	return ptr.Deref(metav1.GetControllerOfNoCopy(pod), metav1.OwnerReference{})
}

// deletePods deletes the pods of a Job that is gone, or that waits for their deletion.
func (g *collector) deletePods(job types.UID) {
	for _, pod := range g.world.Store.PodsOf(job) {
		if _, err := g.world.Store.DeletePod(pod.Name, pod.UID); err != nil {
			panic(err)
		}
	}
}

// process takes the next step in the deletion of a Job that waits for the garbage collector.
func (g *collector) process(name string, uid types.UID) {
	job := g.world.Store.jobOf(name, uid)
	switch {
	case job == nil:
	case slices.Contains(job.Finalizers, metav1.FinalizerOrphanDependents):
		for _, pod := range g.world.Store.PodsOf(uid) {
			g.world.Store.EditPod("orphan", pod.Name, func(p *corev1.Pod) { removeOwner(p, uid) })
		}
		g.world.Store.FinalizeJob(name, metav1.FinalizerOrphanDependents)
	case slices.Contains(job.Finalizers, metav1.FinalizerDeleteDependents):
		if g.blocked(job) {
			g.deletePods(uid)
			return
		}
		g.world.Store.FinalizeJob(name, metav1.FinalizerDeleteDependents)
	}
}

func removeOwner(pod *corev1.Pod, uid types.UID) {
	pod.OwnerReferences = slices.DeleteFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == uid })
}

func (g *collector) blocked(job *batchv1.Job) bool {
	return slices.ContainsFunc(g.world.Store.podsOf(job.UID), func(p *corev1.Pod) bool {
		return ptr.Deref(ownerReference(p).BlockOwnerDeletion, false)
	})
}

// unscheduled schedules the failure of a pod that was deleted before it had a node: no kubelet will report it.
func (g *collector) unscheduled(c Commit) {
	if c.NewPod == nil || c.NewPod.DeletionTimestamp == nil || c.NewPod.Spec.NodeName != "" || isTerminal(c.NewPod) ||
		c.OldPod == nil || c.OldPod.DeletionTimestamp != nil {
		return
	}
	name, uid := c.NewPod.Name, c.NewPod.UID
	g.world.schedule(origin{kind: FromCollector, text: "fail " + name}, podGCPeriod, func() {
		if pod := g.world.Store.pods[name]; pod != nil && pod.UID == uid && !isTerminal(pod) {
			g.world.Store.EditPod("pod-gc", name, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
		}
	})
}

// limitSucceeded deletes the pods that succeeded first once there are too many. Pods with a finalizer do not count:
// their Job has yet to record them.
func (g *collector) limitSucceeded(c Commit) {
	isCandidate := func(pod *corev1.Pod) bool {
		return pod != nil && pod.Status.Phase == corev1.PodSucceeded && len(pod.Finalizers) == 0
	}
	if g.world.SucceededPods <= 0 || !isCandidate(c.NewPod) || isCandidate(c.OldPod) {
		return
	}
	g.succeeded = append(g.succeeded, podID{c.NewPod.Name, c.NewPod.UID})
	if len(g.succeeded) != g.world.SucceededPods+1 {
		return
	}
	g.world.schedule(origin{kind: FromCollector, text: "pod-gc"}, podGCPeriod, func() {
		for _, pod := range g.succeeded[:len(g.succeeded)-g.world.SucceededPods] {
			if stored := g.world.Store.pods[pod.name]; stored != nil && stored.UID == pod.uid {
				g.world.Store.KillPod(pod.name)
			}
		}
		g.succeeded = slices.Clone(g.succeeded[len(g.succeeded)-g.world.SucceededPods:])
	})
}

// namespacePeriod is the interval at which the namespace controller checks for remaining objects.
const namespacePeriod = 5 * time.Second

// TerminateNamespace deletes the namespace: no object can be created anymore, and all Jobs and pods in it are deleted,
// in any order.
func (w *World) TerminateNamespace() {
	w.Store.Terminate()
	w.empty()
}

// empty deletes the objects in the namespace until none remain.
func (g *collector) empty() {
	store := g.world.Store
	g.world.After(g.world.random(collectorLatency), func() {
		for _, name := range slices.Sorted(maps.Keys(store.jobs)) {
			must(store.DeleteJob(name, metav1.DeletePropagationBackground))
		}
	})
	g.world.After(g.world.random(collectorLatency), func() {
		for _, name := range slices.Sorted(maps.Keys(store.pods)) {
			_, err := store.DeletePod(name, "")
			must(err)
		}
	})
	g.world.After(namespacePeriod, func() {
		if len(store.jobs)+len(store.pods) > 0 {
			g.empty()
		}
	})
}
