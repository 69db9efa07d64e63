package logs

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// defaultContainerAnnotation is kubectl's annotation for the container to use if none is named.
const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// noReason replaces a reason that the status leaves empty.
const noReason = "-"

// Pod holds only the fields of a pod that reading its logs needs.
type Pod struct {
	UID     types.UID
	Name    string
	Job     types.UID // the UID of the controlling Job
	JobName string
	Node    string
	Index   int32 // reconcile.NoIndex for none
	Attempt int32 // 1-based; 0 if the pod does not say, until podSet counts it
	Phase   corev1.PodPhase
	Why     Reason // why the pod as a whole failed, or is not scheduled
	// DefaultContainer is the container to use if none is named.
	DefaultContainer string
	Containers       []Container // init containers first

	Created time.Time // attempts of an index are in this order
}

// Container is a container of a pod, with the state of its logs.
type Container struct {
	Name           string
	HasLog         bool   // it has been started, perhaps before a restart
	Waiting        Reason // why it does not run
	Ended          bool   // it will not write anymore
	Failed         bool   // its last run has failed
	Message        string // its termination message
	Restarted      bool   // the log of the previous run exists
	PreviousFailed bool   // the previous run has failed
}

// Reason is a reason with its message, as in a status; the zero value means none.
type Reason struct{ Reason, Message string }

func newReason(reason, message string) Reason {
	return Reason{Reason: cmp.Or(reason, noReason), Message: message}
}

func (r Reason) String() string {
	if r.Message == "" {
		return r.Reason
	}
	return r.Reason + ": " + r.Message
}

// NewPod returns the Pod for a pod. It shares only strings with it.
func NewPod(pod *corev1.Pod) *Pod {
	p := &Pod{
		UID: pod.UID, Name: pod.Name, Job: observe.JobUID(pod), Node: pod.Spec.NodeName, Index: observe.Pod(pod).Index, Attempt: observe.Attempt(pod), Created: pod.CreationTimestamp.Time,
		Phase: pod.Status.Phase, Why: podReason(pod), DefaultContainer: pod.Annotations[defaultContainerAnnotation],
	}
	if p.Job != "" {
		p.JobName = metav1.GetControllerOfNoCopy(pod).Name
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		policy := pod.Spec.RestartPolicy
		if c.RestartPolicy != nil {
			policy = corev1.RestartPolicy(*c.RestartPolicy)
		}
		p.Containers = append(p.Containers, newContainer(p, c.Name, policy, pod.Status.InitContainerStatuses))
	}
	for i := range pod.Spec.Containers {
		name := pod.Spec.Containers[i].Name
		p.DefaultContainer = cmp.Or(p.DefaultContainer, name)
		p.Containers = append(p.Containers, newContainer(p, name, pod.Spec.RestartPolicy, pod.Status.ContainerStatuses))
	}
	return p
}

func podReason(pod *corev1.Pod) Reason {
	if pod.Status.Reason != "" {
		return newReason(pod.Status.Reason, pod.Status.Message)
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return newReason(c.Reason, c.Message)
		}
	}
	return Reason{}
}

func newContainer(pod *Pod, name string, policy corev1.RestartPolicy, statuses []corev1.ContainerStatus) Container {
	c := Container{Name: name, Ended: pod.IsTerminal()}
	i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return c
	}
	state, last := statuses[i].State, statuses[i].LastTerminationState.Terminated
	if waiting := state.Waiting; waiting != nil {
		c.Waiting = newReason(waiting.Reason, waiting.Message)
	}
	if ran := state.Terminated; ran != nil {
		c.Failed, c.Message = ran.ExitCode != 0, ran.Message
		c.Ended = c.Ended || policy == corev1.RestartPolicyNever || (policy == corev1.RestartPolicyOnFailure && !c.Failed)
	}
	c.Restarted = last != nil
	c.PreviousFailed = last != nil && last.ExitCode != 0
	c.HasLog = state.Running != nil || state.Terminated != nil || last != nil
	return c
}

// IsIndexed reports whether the pod has a completion index.
func (p *Pod) IsIndexed() bool { return p.Index != reconcile.NoIndex }

// IsTerminal reports whether the pod has failed or succeeded.
func (p *Pod) IsTerminal() bool {
	return p.Phase == corev1.PodFailed || p.Phase == corev1.PodSucceeded
}

// Container returns the container with the name, or nil if the pod has none.
func (p *Pod) Container(name string) *Container {
	for i := range p.Containers {
		if p.Containers[i].Name == name {
			return &p.Containers[i]
		}
	}
	return nil
}

// hasFailed reports whether the pod, or any of its containers, has failed; the pod may still run.
func (p *Pod) hasFailed() bool {
	return p.Phase == corev1.PodFailed || slices.ContainsFunc(p.Containers, func(c Container) bool { return c.hasFailed() })
}

// hasFailed reports whether the last or the previous run has failed.
func (c *Container) hasFailed() bool { return c.Failed || c.PreviousFailed }

// isStarting reports whether the container waits only for the usual steps of starting a pod.
func (c *Container) isStarting(pod *Pod) bool {
	usual := []Reason{{}, {Reason: "ContainerCreating"}, {Reason: "PodInitializing"}}
	return pod.Why == Reason{} && !pod.IsTerminal() && slices.Contains(usual, c.Waiting)
}
