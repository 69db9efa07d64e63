package sim

import (
	"cmp"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// Forever is the run time of a pod that does not end by itself.
const Forever time.Duration = -1

// Act is what a pod does: how long it runs, how it ends, and how long it takes to
// terminate.
type Act struct {
	Run time.Duration
	// Exit is the exit code of the named container, or of all if the name is "". OtherExit
	// is that of the others.
	Exit, OtherExit int32
	Container       string
	// InitExit, if not 0, is the exit code of the first init container, so that no
	// container starts.
	InitExit int32
	// Conditions are set when the pod ends.
	Conditions []corev1.PodCondition
	// Terminate is how long the pod runs after a deletion, at most its grace period,
	// and TerminateExit the exit code of all its containers then.
	Terminate     time.Duration
	TerminateExit int32
	// Restarts is how often the first container has been restarted once the pod has run
	// for RestartsAfter.
	Restarts      int32
	RestartsAfter time.Duration
	// Unscheduled pods get no node and stay Pending.
	Unscheduled bool
	// NodeGone pods have an unreachable node once they are deleted.
	NodeGone bool
}

// Scene assigns an Act to pods of an index (any, if negative) and an attempt (any, if
// zero). Nth, if not zero, counts the pods created for the index, or for a NonIndexed Job,
// independently of the controller's count.
type Scene struct {
	Index   int32
	Attempt int
	Nth     int
	Act     Act
}

// Script is what the pods of a Job do: the last scene that matches a pod applies. A
// pod without a scene succeeds at once.
type Script []Scene

func (s Script) act(index int32, attempt, nth int) *Act {
	act := &Act{TerminateExit: 143}
	for i := range s {
		scene := &s[i]
		if scene.matches(index, attempt, nth) {
			act = &scene.Act
		}
	}
	return act
}

func (s *Scene) matches(index int32, attempt, nth int) bool {
	return (s.Index < 0 || s.Index == index) && (s.Attempt == 0 || s.Attempt == attempt) && (s.Nth == 0 || s.Nth == nth)
}

// kubelet simulates all nodes and the scheduler.
type kubelet struct {
	world *World
	// scripts are by the name of the Job, jobs has the names by pod: a pod that loses its
	// owner continues. places are the positions in the order of creation, by pod, and made
	// is how many pods were created.
	scripts map[string]Script
	jobs    map[types.UID]string
	places  map[types.UID]int
	made    map[madeFor]int
	// matched has the scenes that matched a pod.
	matched map[*Scene]bool
}

// madeFor is what a pod was created for; the index is -1 in a NonIndexed Job.
type madeFor struct {
	job   string
	index int32
}

// startLatency is the time between a pod's creation and its start, exitKilled the
// exit code of a container that exceeds its grace period.
const (
	startLatency = 5 * time.Millisecond
	exitKilled   = 137
)

func (k *kubelet) committed(c Commit) {
	switch {
	case c.NewJob != nil || c.OldJob != nil:
	case c.NewPod == nil:
		delete(k.jobs, c.OldPod.UID)
		delete(k.places, c.OldPod.UID)
	case c.OldPod == nil:
		uid, name := c.NewPod.UID, c.NewPod.Name
		k.jobs[uid] = c.NewPod.Labels[batchv1.JobNameLabel]
		if len(c.NewPod.OwnerReferences) > 0 {
			k.jobs[uid] = c.NewPod.OwnerReferences[0].Name
		}
		created := madeFor{k.jobs[uid], indexOf(c.NewPod)}
		k.made[created]++
		k.places[uid] = k.made[created]
		k.recordMatches(c.NewPod)
		if !k.act(c.NewPod).Unscheduled {
			k.world.after(startLatency, func() { k.start(name, uid) })
		}
	case c.OldPod.DeletionTimestamp == nil && c.NewPod.DeletionTimestamp != nil && c.NewPod.Spec.NodeName != "":
		k.terminate(c.NewPod)
	}
}

func (k *kubelet) act(pod *corev1.Pod) *Act {
	return k.scripts[k.jobs[pod.UID]].act(indexOf(pod), attemptOf(pod), k.places[pod.UID])
}

func (k *kubelet) recordMatches(pod *corev1.Pod) {
	script := k.scripts[k.jobs[pod.UID]]
	for i := range script {
		if script[i].matches(indexOf(pod), attemptOf(pod), k.places[pod.UID]) {
			k.matched[&script[i]] = true
		}
	}
}

func attemptOf(pod *corev1.Pod) int {
	attempt, _ := strconv.Atoi(pod.Annotations[controller.AttemptAnnotation])
	return cmp.Or(attempt, 1)
}

func (k *kubelet) start(name string, uid types.UID) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.UID != uid || pod.DeletionTimestamp != nil || isTerminal(pod) {
		return
	}
	act := k.act(pod)
	if act.Run == 0 || act.InitExit != 0 {
		k.world.Store.EditPod("node", name, func(p *corev1.Pod) { p.Spec.NodeName = "node" })
		k.end(name, uid, act, false)
		return
	}
	k.world.Store.EditPod("run", name, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		p.Status.Phase = corev1.PodRunning
		k.world.Store.setPodCondition(p, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	})
	if act.Restarts > 0 {
		k.world.after(act.RestartsAfter, func() { k.restart(name, uid, act.Restarts) })
	}
	if act.Run != Forever {
		k.world.after(act.Run, func() { k.end(name, uid, act, false) })
	}
}

// restart sets the restart count of a running pod's first container.
func (k *kubelet) restart(name string, uid types.UID, n int32) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.UID != uid || isTerminal(pod) {
		return
	}
	k.world.Store.EditPod("restart", name, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name, RestartCount: n}}
	})
}

// terminate ends a pod that is being deleted, unless its node is unreachable.
func (k *kubelet) terminate(pod *corev1.Pod) {
	if k.act(pod).NodeGone {
		return
	}
	k.back(pod)
}

// back ends a pod that is being deleted, when it exits or its grace period is over.
func (k *kubelet) back(pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil {
		return
	}
	name, uid, act := pod.Name, pod.UID, k.act(pod)
	wait, last := act.Terminate, *act
	if grace := time.Duration(gracePeriod(pod)) * time.Second; wait > grace {
		wait, last.TerminateExit = grace, exitKilled
	}
	k.world.after(wait+time.Millisecond, func() {
		k.end(name, uid, &last, true)
		k.kill(name, uid)
	})
}

// kill removes a pod that has ended.
func (k *kubelet) kill(name string, uid types.UID) {
	if pod := k.world.Store.pods[name]; pod != nil && pod.UID == uid && pod.DeletionTimestamp != nil {
		k.world.Store.KillPod(name)
	}
}

// end makes the containers of a pod exit, unless they have. Those of a pod that is
// being deleted may exit earlier by themselves; then it is gone sooner.
func (k *kubelet) end(name string, uid types.UID, act *Act, terminated bool) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.UID != uid || isTerminal(pod) {
		return
	}
	deleted := pod.DeletionTimestamp != nil
	if deleted && !terminated && act.NodeGone {
		return
	}
	verb, phase := "succeed", corev1.PodSucceeded
	edit := k.ending(pod, act, terminated)
	if edit.failed {
		verb, phase = "fail", corev1.PodFailed
	}
	k.world.Store.EditPod(verb, name, func(p *corev1.Pod) {
		p.Status.Phase = phase
		k.world.Store.setPodCondition(p, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse})
		for _, c := range act.Conditions {
			k.world.Store.setPodCondition(p, c)
		}
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses = edit.init, edit.app
	})
	if deleted && !terminated {
		k.kill(name, uid)
	}
}

// ending is the state of all containers of a pod that ended.
type ending struct {
	init, app []corev1.ContainerStatus
	failed    bool
}

func (k *kubelet) ending(pod *corev1.Pod, act *Act, terminated bool) ending {
	var e ending
	for i := range pod.Spec.InitContainers {
		c, code := &pod.Spec.InitContainers[i], int32(0)
		if i == 0 && !terminated {
			code = act.InitExit
		}
		e.init = append(e.init, k.exited(c.Name, code))
		if code != 0 && ptr.Deref(c.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways {
			e.failed = true
			return e // The others never started.
		}
	}
	for i := range pod.Spec.Containers {
		name := pod.Spec.Containers[i].Name
		code := act.exit(name)
		if terminated {
			code = act.TerminateExit
		}
		e.failed = e.failed || code != 0
		e.app = append(e.app, k.exited(name, code))
	}
	return e
}

// exit is how a container ends by itself.
func (a *Act) exit(container string) int32 {
	if a.Container != "" && a.Container != container {
		return a.OtherExit
	}
	return a.Exit
}

func (k *kubelet) exited(name string, code int32) corev1.ContainerStatus {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.Time{Time: k.world.Store.timestamp().Time}},
	}}
}
