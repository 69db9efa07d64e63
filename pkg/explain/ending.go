package explain

// EndKind is what ended a pod from outside its containers.
type EndKind string

// The kinds of Ending.
const (
	EndProbe        EndKind = "Probe"        // the kubelet killed a container whose liveness or startup probe failed
	EndRejected     EndKind = "Rejected"     // the kubelet did not admit the pod, which never ran
	EndEvicted      EndKind = "Evicted"      // by the kubelet, an autoscaler, or any client of the Eviction API
	EndPreempted    EndKind = "Preempted"    // by the scheduler or the kubelet, for a pod with a higher priority
	EndTaint        EndKind = "Taint"        // a NoExecute taint of the node
	EndNodeGone     EndKind = "NodeGone"     // the node no longer exists
	EndNodeShutdown EndKind = "NodeShutdown" // the node shut down
	EndPodDeadline  EndKind = "PodDeadline"  // activeDeadlineSeconds of the pod itself
	EndDisrupted    EndKind = "Disrupted"    // another reason of the condition DisruptionTarget
)

// Components that end pods.
const (
	ByKubelet           = "kubelet"
	ByScheduler         = "scheduler"
	ByKarpenter         = "karpenter"
	ByClusterAutoscaler = "cluster-autoscaler"
	ByDescheduler       = "descheduler"
)

// Ending is what ended a pod from outside its containers, as the pod's own status or an event about it shows. It is
// comparable: what differs between pods is in the message of the Cause.
type Ending struct {
	Kind EndKind `json:"kind"`
	// By is the component that ended the pod, such as "karpenter"; "" if that is not known.
	By string `json:"by,omitempty"`
	// Reason is that of the pod's status, of its condition DisruptionTarget, or else of the event.
	Reason string `json:"reason,omitempty"`
	// Container is the one whose Probe failed.
	Container string `json:"container,omitempty"`
	// Probe is liveness or startup.
	Probe string `json:"probe,omitempty"`
}

// IsDisruption reports whether the pod gets the condition DisruptionTarget, on which a podFailurePolicy can decide.
func (e *Ending) IsDisruption() bool {
	switch e.Kind {
	case EndPreempted, EndTaint, EndNodeGone, EndNodeShutdown, EndDisrupted:
		return true
	case EndEvicted: // Not if the pod exceeded a limit of its own.
		return e.By != ByKubelet
	}
	return false
}
