package meaning

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// GivesReason reports whether a warning explains why its pod does not start. Some warnings only report a timeout, or an error
// that another event explains; the warnings of autoscalers are about nodes that do not exist.
func GivesReason(source, reason, message string) bool {
	switch reason {
	case "Failed", "BackOff":
		return !strings.HasPrefix(message, "Error: ")
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume":
		t := OfStart(reason, message)
		return t == nil || !slices.Contains([]TroubleKind{MountTimeout, NotRead, NotAttached, VolumeBusy}, t.Kind)
	}
	return OfAutoscaler(source, reason, message) == nil
}

// fleeting is trouble of the first attempts to start a pod, which usually passes within seconds, or of which the cause is unknown.
var fleeting = []TroubleKind{
	NotAttached, VolumeBusy, OwnerChange, NotRead, Attacher, MountTimeout, DriverMissing, StorageUnreachable, StorageUnknown, SecretsStore, ObjectMissing, Volume, VolumeAttach,
	NetworkNotReady, NetworkDenied, NetworkPlugin, RuntimeSlow, SandboxEnds, Sandbox,
	OnWindows, DeviceDriver, Devices,
}

// IsDecisive reports whether one warning suffices to say that its pod does not start: it names a cause that does not pass within seconds.
func IsDecisive(reason, message string) bool {
	t := OfStart(reason, message)
	return t != nil && !slices.Contains(fleeting, t.Kind)
}

// restarted matches the kubelet's event about a container that waits for its next restart.
var restarted = lazyregexp.New(`^Back-off restarting failed container(?: (\S+) in pod )?`)

// OfRestart reports whether an event of the kubelet is about a container that has failed and is restarted, and returns the name
// of the container, which kubelets before Kubernetes 1.27 leave out.
func OfRestart(reason, message string) (container string, is bool) {
	if reason != "BackOff" || !restarted.MatchString(message) {
		return "", false
	}
	return restarted.Group(message), true
}

// OfContainer returns the ConfigMap, Secret or key that a container refers to and that does not exist, the volume that is not mounted, or
// what the node lacks, from the kubelet's message about a container that it cannot set up; nil for other messages.
func OfContainer(message string) *Trouble {
	if t := troubleIn(volumes, message); t.IsAboutObject() || t != nil && t.Kind == VolumeGone {
		return t
	}
	return troubleIn(nodeLimits, message)
}

// IsAboutObject reports whether an object in a namespace, or a key of it, is missing.
func (t *Trouble) IsAboutObject() bool {
	return t != nil && t.Name != "" && (t.Kind == ObjectMissing || t.Kind == KeyMissing)
}

// passing is trouble with a volume or an image that may pass by itself.
var passing = []TroubleKind{
	RateLimit, PullsThrottled, RegistryFails, Unreachable, ProxyDown, LayerDamaged, NoDiskSpace,
	NotAttached, VolumeBusy, OwnerChange, Attacher, StorageUnreachable, MultiAttach, VolumeInUse, VolumeLimit, MountTimeout, SecretsStore,
	StillAttached, PullCanceled, DiskFails, NodeDisk, NodeMemory, NodeProcesses, NodeFiles, NotRead, ServicesNotRead,
}

// MayPass reports whether the trouble may pass by itself.
func (t *Trouble) MayPass() bool { return t != nil && slices.Contains(passing, t.Kind) }

// MayPass reports whether the error may pass by itself.
func (e *KnownError) MayPass() bool {
	return e != nil && e.Kind == ErrorRuntimeSlow
}

// ofTemplates is trouble with a volume, a sandbox or a device that a change of the pod template may solve. The rest is of the node or the
// cluster, as is some trouble with images.
var (
	ofTemplates = []TroubleKind{
		ObjectMissing, KeyMissing, OwnerChange, SidecarMissing, MultiAttach, VolumeInUse, VolumeMode, ClaimUnusable, HostPath, NoSocket, PathMissing, StorageUnknown, SecretsStore,
		WrongNode, NetworkMissing, NoRuntime, RuntimeMissing, SandboxMemory, SandboxEnds, HostPortTaken, OnWindows, ClaimNotReserved, NotAdmitted,
	}
	ofNodes = []TroubleKind{
		NoDiskSpace, DiskFails, PullsThrottled, ContentMissing, Unreachable, RegistryNoDNS, ProxyDown, RegistryTLS, RegistryExpired, RegistryPlain, RegistryFails,
		BlobsDenied, LayerDamaged, PullCanceled, WebPage, PublicDenied, ClusterRegistry, CloudRegistry, CredentialsExpired,
	}
)

// IsElsewhere reports whether the node or the cluster is at fault, and not the pod template.
func (t *Trouble) IsElsewhere() bool {
	switch {
	case t == nil:
		return false
	case t.IsDenied() && t.Pod.Secrets != "":
		return true
	case rowIn(images, t.Kind).kind != "" || t.Kind == Unexplained:
		return slices.Contains(ofNodes, t.Kind)
	}
	return !slices.Contains(ofTemplates, t.Kind)
}

// IsOfVolume reports whether the trouble is with a volume, and does not pass by itself.
func (t *Trouble) IsOfVolume() bool {
	return t != nil && rowIn(volumes, t.Kind).kind != "" && !t.MayPass()
}

// IsWrongImage reports whether another image solves the trouble, or most likely does.
func (t *Trouble) IsWrongImage() bool {
	return t != nil && slices.Contains([]TroubleKind{ImageNotFound, RepositoryNotFound, ShortName, Unexplained}, t.Kind)
}

// IsDenied reports whether a registry denies access to an image.
func (t *Trouble) IsDenied() bool {
	return t != nil && slices.Contains([]TroubleKind{Unauthorized, Unauthenticated, HubDenied}, t.Kind)
}

// IsUnbound reports whether the trouble is a claim that is not bound.
func (t *Trouble) IsUnbound() bool {
	return t != nil && t.Kind == ClaimUnusable && t.Detail == "is not bound"
}

// OfStart returns the meaning of a warning of the kubelet or the attach/detach controller about a pod with a node that does not
// start, from the reason and message of the warning; nil for other reasons.
func OfStart(reason, message string) *Trouble {
	switch reason {
	case "FailedMount", "FailedAttachVolume", "FailedMapVolume", "VolumePermissionChangeInProgress":
		return ofVolume(message)
	case "FailedCreatePodSandBox", "NetworkNotReady":
		return ofSandbox(message)
	case "FailedPrepareDynamicResources":
		return troubleIn(devices, message)
	}
	return nil
}
