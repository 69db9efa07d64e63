package explain

// Unfit is one reason why no node can take a pod.
type Unfit struct {
	Kind UnfitKind `json:"kind"`
	// Nodes is the number of nodes for which the reason holds; 0 if it holds for the pod, whatever the node.
	Nodes int32 `json:"nodes,omitempty"`
	// Name is the resource (nvidia.com/gpu), the taint (dedicated: batch), or the claim; "" if the scheduler names none.
	Name string `json:"name,omitempty"`
	// Requested is the amount of the resource that the Job's pod template requests; "" if it requests none.
	Requested string `json:"requested,omitempty"`
	// Message is the scheduler's message.
	Message string `json:"message"`
}

// UnfitKind is a kind of reason why no node can take a pod: a filter of kube-scheduler.
type UnfitKind string

// The reasons.
const (
	UnfitResource       UnfitKind = "InsufficientResource"
	UnfitPodCount       UnfitKind = "TooManyPods"
	UnfitNodeAffinity   UnfitKind = "NodeAffinity" // or nodeSelector
	UnfitNodeName       UnfitKind = "NodeName"
	UnfitTaint          UnfitKind = "Taint"
	UnfitCordoned       UnfitKind = "Cordoned" // spec.unschedulable of the node
	UnfitTopologySpread UnfitKind = "TopologySpread"
	UnfitPodAffinity    UnfitKind = "PodAffinity" // or anti-affinity
	UnfitHostPort       UnfitKind = "HostPort"
	UnfitVolumeNode     UnfitKind = "VolumeNodeAffinity" // the volume is in another zone, or on another node
	UnfitVolumeCount    UnfitKind = "VolumeLimit"
	UnfitNoVolume       UnfitKind = "NoVolume" // there is no volume for the claim to bind to
	UnfitClaimMissing   UnfitKind = "ClaimMissing"
	UnfitClaimDeleted   UnfitKind = "ClaimDeleted" // the claim is being deleted
	UnfitClaimUnbound   UnfitKind = "ClaimUnbound"
	UnfitClaimInUse     UnfitKind = "ClaimInUse" // ReadWriteOncePod
	UnfitDevices        UnfitKind = "Devices"    // ResourceClaims
	UnfitNoNodes        UnfitKind = "NoNodes"    // the cluster has none
	UnfitOther          UnfitKind = "Other"
)

// IsAboutClaim reports whether the reason is about a claim of the pod, or its volume.
func (u *Unfit) IsAboutClaim() bool {
	switch u.Kind {
	case UnfitClaimMissing, UnfitClaimDeleted, UnfitClaimUnbound, UnfitClaimInUse, UnfitNoVolume, UnfitVolumeNode:
		return true
	}
	return false
}

// Autoscaler is an autoscaler's statement about a pod that no node can take.
type Autoscaler struct {
	// By is ByClusterAutoscaler or ByKarpenter.
	By string `json:"by"`
	// Adds reports whether the autoscaler adds a node for the pod.
	Adds bool `json:"adds,omitempty"`
	// Why is the autoscaler's reason for adding no node; "" if it gives none.
	Why string `json:"why,omitempty"`
}

// Claim is a PersistentVolumeClaim of a pod.
type Claim struct {
	Name string `json:"name"`
	// Missing reports whether the claim does not exist. Phase and StorageClass are set for a claim that was read.
	Missing      bool   `json:"missing,omitempty"`
	Phase        string `json:"phase,omitempty"`
	StorageClass string `json:"storageClass,omitempty"`
	// Warning is the latest warning about a claim that is not bound.
	Warning string `json:"warning,omitempty"`
}
