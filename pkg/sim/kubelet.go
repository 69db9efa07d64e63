package sim

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim/podlife"
)

// Forever is the run time of a pod that does not end on its own.
const Forever time.Duration = -1

// Act is the behavior of a pod: how long it runs, how it ends, and how long it takes to terminate.
type Act struct {
	// Delay is the additional time to schedule and start the pod.
	Delay time.Duration
	Run   time.Duration
	// Exit is the exit code of the named container, or of all containers if the name is "". OtherExit is the exit code
	// of the other containers.
	Exit, OtherExit int32
	Container       string
	// InitExit, if not 0, is the exit code of the first init container; the containers after it do not start.
	InitExit int32
	// SidecarExit is the exit code of the native sidecars at the end of the pod: it does not affect the pod's phase.
	SidecarExit int32
	// Ends are the exits of containers that end on their own, including init containers, by name; they take precedence
	// over the exit codes above.
	Ends []ContainerEnd
	// FailReason, if not "", is the reason of a pod that fails as a whole, without reporting how its containers ended.
	FailReason string
	// Conditions are set when the pod ends.
	Conditions []corev1.PodCondition
	// Terminate is how long the pod runs after its deletion, at most its grace period, and TerminateExit is the exit
	// code of all its containers then.
	Terminate     time.Duration
	TerminateExit int32
	// Restarts is the restart count of the first container once the pod has run for RestartsAfter.
	Restarts      int32
	RestartsAfter time.Duration
	// RemovedAfter, if not 0, is the time from the pod's creation until another client than the controller deletes it.
	RemovedAfter time.Duration
	// Restarting pods behave as with a real kubelet (podlife): each run of a container follows the Act for the pod's
	// attempt plus the container's restarts. Other pods end once, all containers together.
	Restarting bool
	// Unscheduled pods get no node and stay Pending.
	Unscheduled bool
	// NodeGone pods are on a node that becomes unreachable once they are deleted.
	NodeGone bool
}

// ContainerEnd is the end of a container.
type ContainerEnd struct {
	Name   string
	Exit   int32
	Reason string
	// Run is the run time of the container, if the pod is Restarting.
	Run time.Duration
}

// PodKey determines the behavior of a pod: its index (-1 in a NonIndexed Job), the controller's count of attempts, and
// its position among the pods created for the index, or for a NonIndexed Job, from 1.
type PodKey struct {
	Index   int32
	Attempt int
	Nth     int
}

// Behavior defines the behavior of a Job's pods. It always returns the same Act for a key.
type Behavior interface {
	Act(PodKey) *Act
}

// Scene assigns an Act to pods of an index (any, if negative) and an attempt (any, if zero). Nth, if not zero, is the
// position among the pods created for the index, or for a NonIndexed Job, independent of the controller's count.
type Scene struct {
	Index   int32
	Attempt int
	Nth     int
	Act     Act
}

// Script defines the behavior of a Job's pods: the last scene that matches a pod applies. A pod without a scene
// succeeds at once.
type Script []Scene

// Act implements Behavior.
func (s Script) Act(pod PodKey) *Act {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i].matches(pod) {
			return &s[i].Act
		}
	}
	return &Act{TerminateExit: 143}
}

func (s *Scene) matches(pod PodKey) bool {
	return (s.Index < 0 || s.Index == pod.Index) && (s.Attempt == 0 || s.Attempt == pod.Attempt) && (s.Nth == 0 || s.Nth == pod.Nth)
}

// kubelet simulates all nodes and the scheduler.
type kubelet struct {
	world *World
	// behaviors are by name of the Job. jobs maps pods to the names of their Jobs, so that a pod without its owner
	// continues. places are the positions of pods in the order of creation, and made counts the pods created.
	behaviors map[string]Behavior
	jobs      map[types.UID]string
	places    map[types.UID]int
	made      map[madeFor]int
	// lives are the Restarting pods that have not ended.
	lives map[types.UID]*podlife.Pod
}

// Nodes gives access to the scheduler, and to the nodes with their kubelets.
type Nodes struct{ k *kubelet }

// Nodes returns the Nodes of the World.
func (w *World) Nodes() Nodes { return Nodes{&w.kubelet} }

// AddScene adds a scene to the Script of a Job; it also applies to pods that are already running.
func (n Nodes) AddScene(job string, scene Scene) {
	script, _ := n.k.behaviors[job].(Script)
	n.k.behaviors[job] = append(script, scene)
}

// ActOf returns the behavior of a pod.
func (n Nodes) ActOf(pod *corev1.Pod) *Act { return n.k.act(pod) }

// Back makes the node of a pod reachable again: a pending deletion of the pod proceeds.
func (n Nodes) Back(pod *corev1.Pod) { n.k.back(pod) }

// madeFor is the Job and the index that pods are created for; the index is -1 in a NonIndexed Job.
type madeFor struct {
	job   string
	index int32
}

// startLatency is the time between a pod's creation and its start, exitKilled the exit code of a container that exceeds
// its grace period.
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
		delete(k.lives, c.OldPod.UID)
	case c.OldPod == nil:
		uid, name := c.NewPod.UID, c.NewPod.Name
		k.jobs[uid] = c.NewPod.Labels[batchv1.JobNameLabel]
		if len(c.NewPod.OwnerReferences) > 0 {
			k.jobs[uid] = c.NewPod.OwnerReferences[0].Name
		}
		created := madeFor{k.jobs[uid], indexOf(c.NewPod)}
		k.made[created]++
		k.places[uid] = k.made[created]
		k.expect(name, uid, k.act(c.NewPod))
	case c.OldPod.DeletionTimestamp == nil && c.NewPod.DeletionTimestamp != nil && c.NewPod.Spec.NodeName != "":
		k.terminate(c.NewPod)
	}
}

// after schedules an action of a node.
func (k *kubelet) after(text string, wait time.Duration, do func()) {
	k.world.schedule(origin{kind: FromNode, text: text}, wait, do)
}

// expect schedules the start of a new pod, and its deletion by another client, if its Act has one.
func (k *kubelet) expect(name string, uid types.UID, act *Act) {
	if !act.Unscheduled {
		k.after("start "+name, startLatency+act.Delay, func() { k.start(name, uid) })
	}
	if act.RemovedAfter > 0 {
		k.after("delete "+name, act.RemovedAfter, func() { _, _ = k.world.Store.DeletePod(name, uid) })
	}
}

func (k *kubelet) act(pod *corev1.Pod) *Act {
	behavior := k.behaviors[k.jobs[pod.UID]]
	if behavior == nil {
		behavior = Script{}
	}
	return behavior.Act(k.key(pod))
}

func (k *kubelet) key(pod *corev1.Pod) PodKey {
	return PodKey{indexOf(pod), attemptOf(pod), k.places[pod.UID]}
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
	if act.Restarting {
		k.startContainers(pod)
		return
	}
	if act.Run == 0 || act.InitExit != 0 {
		k.world.Store.editOnNode("node", name, func(p *corev1.Pod) { p.Spec.NodeName = "node" })
		k.end(name, uid, act, false)
		return
	}
	k.world.Store.editOnNode("run", name, func(p *corev1.Pod) {
		p.Spec.NodeName = "node"
		p.Status.Phase = corev1.PodRunning
		k.world.Store.SetPodCondition(p, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	})
	if act.Restarts > 0 {
		k.after("restart "+name, act.RestartsAfter, func() { k.restart(name, uid, act.Restarts) })
	}
	if act.Run != Forever {
		k.after("end "+name, act.Run, func() { k.end(name, uid, act, false) })
	}
}

// restart sets the restart count of a running pod's first container.
func (k *kubelet) restart(name string, uid types.UID, n int32) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.UID != uid || isTerminal(pod) {
		return
	}
	k.world.Store.editOnNode("restart", name, func(p *corev1.Pod) {
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

// back ends a pod that is being deleted, when its Act or its grace period ends it.
func (k *kubelet) back(pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil {
		return
	}
	name, uid, act := pod.Name, pod.UID, k.act(pod)
	wait, last := act.Terminate, *act
	if grace := time.Duration(gracePeriod(pod)) * time.Second; wait > grace {
		wait, last.TerminateExit = grace, exitKilled
	}
	k.after("terminate "+name, wait+time.Millisecond, func() {
		if life := k.lives[uid]; life != nil {
			k.stopContainers(name, life, last.TerminateExit)
		}
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

// end makes the containers of a pod exit, unless the pod has ended. If a terminating pod exits on its own, it is
// removed earlier.
func (k *kubelet) end(name string, uid types.UID, act *Act, terminated bool) {
	pod := k.world.Store.pods[name]
	if pod == nil || pod.UID != uid || isTerminal(pod) {
		return
	}
	if d := k.world.Decider; d != nil {
		act = d.End(pod, act, terminated)
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
	k.world.Store.editOnNode(verb, name, func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Reason = phase, edit.reason
		k.world.Store.SetPodCondition(p, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse})
		for _, c := range act.Conditions {
			k.world.Store.SetPodCondition(p, c)
		}
		p.Status.InitContainerStatuses, p.Status.ContainerStatuses = edit.init, edit.app
	})
	if deleted && !terminated {
		k.kill(name, uid)
	}
}

// ending is the status of all containers of a pod that ended.
type ending struct {
	init, app []corev1.ContainerStatus
	failed    bool
	reason    string
}

func (k *kubelet) ending(pod *corev1.Pod, act *Act, terminated bool) ending {
	var e ending
	act = act.of(pod)
	if act.FailReason != "" && !terminated {
		return ending{failed: true, reason: act.FailReason}
	}
	for i := range pod.Spec.InitContainers {
		c, end := &pod.Spec.InitContainers[i], ContainerEnd{}
		sidecar := ptr.Deref(c.RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
		if !terminated {
			end = act.endOfInit(c.Name, i, sidecar)
		}
		e.init = append(e.init, k.exited(c.Name, end))
		if end.Exit != 0 && !sidecar {
			e.failed = true
			return e // The others never started.
		}
	}
	for i := range pod.Spec.Containers {
		name := pod.Spec.Containers[i].Name
		end := act.end(name, act.exit(name))
		if terminated {
			end = ContainerEnd{Exit: act.TerminateExit}
		}
		e.failed = e.failed || end.Exit != 0
		e.app = append(e.app, k.exited(name, end))
	}
	return e
}

// endOfInit returns the end of the init container at a position. A sidecar ends with SidecarExit, unless the first init
// container fails.
func (a *Act) endOfInit(name string, place int, sidecar bool) ContainerEnd {
	switch {
	case sidecar && a.InitExit == 0:
		return a.end(name, a.SidecarExit)
	case place == 0:
		return a.end(name, a.InitExit)
	}
	return a.end(name, 0)
}

// of returns the Act for the containers that the pod has. If Ends contains none of them, the pod's first container gets
// the first failure in Ends.
func (a *Act) of(pod *corev1.Pod) *Act {
	has := func(e ContainerEnd) bool { return slices.Contains(apirules.ContainerNames(&pod.Spec), e.Name) }
	failed := slices.IndexFunc(a.Ends, func(e ContainerEnd) bool { return e.Exit != 0 })
	if failed < 0 || slices.ContainsFunc(a.Ends, has) {
		return a
	}
	other, end := *a, a.Ends[failed]
	end.Name = pod.Spec.Containers[0].Name
	other.Ends = []ContainerEnd{end}
	return &other
}

// end returns the end of a container in Ends, or else an end with the exit code.
func (a *Act) end(container string, exit int32) ContainerEnd {
	if i := slices.IndexFunc(a.Ends, func(e ContainerEnd) bool { return e.Name == container }); i >= 0 {
		return a.Ends[i]
	}
	return ContainerEnd{Exit: exit}
}

// exit returns the exit code of a container that is not an init container.
func (a *Act) exit(container string) int32 {
	if a.Container != "" && a.Container != container {
		return a.OtherExit
	}
	return a.Exit
}

func (k *kubelet) exited(name string, end ContainerEnd) corev1.ContainerStatus {
	code, reason := end.Exit, "Completed"
	if code != 0 {
		reason = cmp.Or(end.Reason, "Error")
	}
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, FinishedAt: metav1.Time{Time: k.world.Store.timestamp().Time}},
	}}
}
