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

// Trouble is the meaning of a message about a pod that does not start, or that is not created.
type Trouble struct {
	Kind TroubleKind `json:"kind"`
	// Object is the kind of object that is missing or lacks Key: ConfigMap, Secret or claim. Name is its name, or the name of
	// the CSI driver, network plugin, RuntimeClass handler, or Service; "" if the message names none.
	Object string `json:"object,omitempty"`
	Name   string `json:"name,omitempty"`
	Key    string `json:"key,omitempty"`
	// Volume is the name of the volume that the message is about.
	Volume string `json:"volume,omitempty"`
	// Said is the most specific part of the message; "" if Kind is as specific.
	Said string `json:"said,omitempty"`
}

// TroubleKind is the meaning of a message.
type TroubleKind string

// The meanings.
const (
	TroubleRateLimit       TroubleKind = "RateLimit"       // the registry limits the rate of pulls
	TroubleUnauthorized    TroubleKind = "Unauthorized"    // the registry denies access
	TroubleImageNotFound   TroubleKind = "ImageNotFound"   // the registry lacks the image
	TroubleNoPlatform      TroubleKind = "NoPlatform"      // the image is for other platforms
	TroubleNotOnNode       TroubleKind = "NotOnNode"       // the image is not on the node, and imagePullPolicy is Never
	TroubleUnreachable     TroubleKind = "Unreachable"     // the registry does not answer
	TroubleRegistryTLS     TroubleKind = "RegistryTLS"     // the registry's certificate is not accepted
	TroubleRegistryFails   TroubleKind = "RegistryFails"   // the registry responds with an internal error
	TroubleSignature       TroubleKind = "Signature"       // the signature of the image is missing or invalid
	TroubleNoDiskSpace     TroubleKind = "NoDiskSpace"     // the node has no disk space for the image
	TroublePullsThrottled  TroubleKind = "PullsThrottled"  // the kubelet limits the rate of pulls
	TroubleObjectMissing   TroubleKind = "ObjectMissing"   // that a volume refers to
	TroubleKeyMissing      TroubleKind = "KeyMissing"      // that a volume refers to
	TroubleDriverMissing   TroubleKind = "DriverMissing"   // the node lacks the CSI driver of the volume
	TroubleAttacher        TroubleKind = "Attacher"        // the attacher of the CSI driver does not attach the volume
	TroubleMultiAttach     TroubleKind = "MultiAttach"     // another node has the volume
	TroubleMountTimeout    TroubleKind = "MountTimeout"    // the kubelet timed out waiting for the volume
	TroubleHostPath        TroubleKind = "HostPath"        // the hostPath has another type
	TroubleMountDenied     TroubleKind = "MountDenied"     // permission denied
	TroubleVolume          TroubleKind = "Volume"          // other trouble with a volume
	TroubleNoAddress       TroubleKind = "NoAddress"       // no IP address is left
	TroubleNetworkNotReady TroubleKind = "NetworkNotReady" // the network plugin of the node is not ready
	TroubleNetworkPlugin   TroubleKind = "NetworkPlugin"   // other trouble with the network plugin
	TroubleNoRuntime       TroubleKind = "NoRuntime"       // the node lacks the handler of the RuntimeClass
	TroubleSandboxImage    TroubleKind = "SandboxImage"    // the sandbox image cannot be pulled
	TroubleSandbox         TroubleKind = "Sandbox"         // other trouble with the sandbox
	TroubleNoEndpoints     TroubleKind = "NoEndpoints"     // the webhook's Service has no endpoints
	TroubleNoService       TroubleKind = "NoService"       // the webhook's Service does not exist
	TroubleRefused         TroubleKind = "Refused"         // the webhook refuses connections
	TroubleNoAnswer        TroubleKind = "NoAnswer"        // the webhook does not respond in time
	TroubleCertificate     TroubleKind = "Certificate"     // the certificate of the webhook is not accepted
	TroubleNoHost          TroubleKind = "NoHost"          // the webhook's name has no address
)
