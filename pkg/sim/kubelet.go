package sim

import (
	"cmp"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// Forever is the run time of a pod that does not end by itself.
const Forever time.Duration = -1

// Act is what a pod does: how long it runs, how it ends, and how long it takes to
// end when it is deleted.
type Act struct {
	Run  time.Duration
	Exit int32
	// Terminate is how long the pod goes on after a deletion, and TerminateExit
	// how it ends then.
	Terminate     time.Duration
	TerminateExit int32
	// Unscheduled pods get no node and stay Pending.
	Unscheduled bool
}

// Scene gives an Act to pods of an index (any, if negative) and an attempt (any,
// if zero).
type Scene struct {
	Index   int32
	Attempt int
	Act     Act
}

// Script is what the pods of a Job do: the last scene that fits a pod counts. A
// pod without a scene succeeds at once.
type Script []Scene

func (s Script) act(index int32, attempt int) Act {
	act := Act{TerminateExit: 143}
	for _, scene := range s {
		if (scene.Index < 0 || scene.Index == index) && (scene.Attempt == 0 || scene.Attempt == attempt) {
			act = scene.Act
		}
	}
	return act
}

// kubelet plays all nodes and the scheduler.
type kubelet struct {
	world   *World
	scripts map[string]Script
}

// startLatency is the time between a pod's creation and its start.
const startLatency = 5 * time.Millisecond

func (k *kubelet) committed(c Commit) {
	switch {
	case c.NewPod == nil:
	case c.OldPod == nil:
		name := c.NewPod.Name
		if !k.act(c.NewPod).Unscheduled {
			k.world.after(startLatency, func() { k.start(name) })
		}
	case c.OldPod.DeletionTimestamp == nil && c.NewPod.DeletionTimestamp != nil && c.NewPod.Spec.NodeName != "":
		name, act := c.NewPod.Name, k.act(c.NewPod)
		k.world.after(act.Terminate+time.Millisecond, func() {
			k.end(name, act.TerminateExit)
			k.world.Store.EndPod(name)
		})
	}
}

func (k *kubelet) act(pod *corev1.Pod) Act {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		index = -1
	}
	attempt, _ := strconv.Atoi(pod.Annotations[controller.AttemptAnnotation])
	return k.scripts[pod.OwnerReferences[0].Name].act(int32(index), cmp.Or(attempt, 1))
}

func (k *kubelet) start(name string) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.DeletionTimestamp != nil {
		return
	}
	act := k.act(pod)
	if act.Run == 0 {
		k.world.Store.EditPod("node", name, func(p *corev1.Pod) { p.Spec.NodeName = "node" })
		k.end(name, act.Exit)
		return
	}
	k.world.Store.EditPod("run", name, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: k.world.Store.timestamp()}}
	})
	if act.Run != Forever {
		k.world.after(act.Run, func() { k.end(name, act.Exit) })
	}
}

// end lets the containers of a pod exit, unless they have.
func (k *kubelet) end(name string, exit int32) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	now := k.world.Store.timestamp()
	verb, phase, reason := "succeed", corev1.PodSucceeded, "Completed"
	if exit != 0 {
		verb, phase, reason = "fail", corev1.PodFailed, "Error"
	}
	k.world.Store.EditPod(verb, name, func(p *corev1.Pod) {
		p.Status.Phase = phase
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}}
		p.Status.ContainerStatuses = nil
		for _, c := range p.Spec.Containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Reason: reason, FinishedAt: metav1.NewTime(now.Time)},
			}})
		}
	})
}
