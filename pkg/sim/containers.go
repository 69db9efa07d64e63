package sim

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim/podlife"
)

// startContainers starts a Restarting pod on its node.
func (k *kubelet) startContainers(pod *corev1.Pod) {
	name, uid := pod.Name, pod.UID
	life := podlife.Start(&pod.Spec, k.world.Now(), k.runs(pod))
	k.lives[uid] = life
	k.world.Store.editOnNode("run", name, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		if _, more := life.Next(); more {
			k.setLife(p, life)
		}
	})
	k.follow(name, uid)
}

// runs returns the runs of a pod's containers; each restart counts as a further attempt.
func (k *kubelet) runs(pod *corev1.Pod) podlife.Runs {
	key, behavior := k.key(pod), k.behaviors[k.jobs[pod.UID]]
	return func(container string, restarts int32) podlife.Run {
		key := key
		key.Attempt += int(restarts)
		return behavior.Act(key).runOf(&pod.Spec, container)
	}
}

// runOf returns one run of a container. An init container that is not in Ends succeeds at once, and a sidecar runs
// until the pod ends.
func (a *Act) runOf(spec *corev1.PodSpec, container string) podlife.Run {
	run := podlife.Run{For: a.Run, Exit: a.exit(container), Evicted: a.Conditions}
	for i := range spec.InitContainers {
		switch c := &spec.InitContainers[i]; {
		case c.Name != container:
		case ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways:
			run = podlife.Run{For: podlife.Forever, Exit: a.SidecarExit}
		default:
			run = podlife.Run{}
		}
	}
	for _, end := range a.Ends {
		if end.Name == container {
			run.For, run.Exit, run.Reason = end.Run, end.Exit, end.Reason
		}
	}
	return run
}

// follow applies the changes of a pod that are due, and schedules the next.
func (k *kubelet) follow(name string, uid types.UID) {
	pod, life := k.world.Store.pods[name], k.lives[uid]
	if pod == nil || pod.UID != uid || isTerminal(pod) || life == nil {
		return
	}
	changed := life.Advance(k.world.Now(), pod.DeletionTimestamp != nil)
	at, more := life.Next()
	if changed || !more {
		k.report(pod, life)
	}
	if more {
		k.after("follow "+name, at.Sub(k.world.Now()), func() { k.follow(name, uid) })
	}
}

// stopContainers ends the containers of a pod that is being deleted.
func (k *kubelet) stopContainers(name string, life *podlife.Pod, exit int32) {
	life.Kill(k.world.Now(), exit)
	k.report(k.world.Store.pods[name], life)
}

// report stores the status that the kubelet reports for a pod. It then removes a terminating pod that has ended.
func (k *kubelet) report(pod *corev1.Pod, life *podlife.Pod) {
	name, uid, deleted := pod.Name, pod.UID, pod.DeletionTimestamp != nil
	verb := "restart"
	if life.Phase() != pod.Status.Phase {
		verb = map[corev1.PodPhase]string{corev1.PodSucceeded: "succeed", corev1.PodFailed: "fail", corev1.PodRunning: "run"}[life.Phase()]
	}
	k.world.Store.editOnNode(verb, name, func(p *corev1.Pod) { k.setLife(p, life) })
	if !isTerminal(k.world.Store.pods[name]) {
		return
	}
	delete(k.lives, uid)
	if deleted {
		k.kill(name, uid)
	}
}

// setLife sets the status of a pod from its containers.
func (k *kubelet) setLife(pod *corev1.Pod, life *podlife.Pod) {
	life.SetStatus(&pod.Status)
	ready := corev1.ConditionFalse
	if life.IsReady() && pod.Status.Phase == corev1.PodRunning {
		ready = corev1.ConditionTrue
	}
	if ready == corev1.ConditionTrue || len(pod.Status.Conditions) > 0 || isTerminal(pod) {
		k.world.Store.SetPodCondition(pod, corev1.PodCondition{Type: corev1.PodReady, Status: ready})
	}
	for _, c := range life.Eviction() {
		k.world.Store.SetPodCondition(pod, c)
	}
}
