package meaning

import "github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"

// Volumes of a pod with a node.
const (
	ObjectMissing TroubleKind = "ObjectMissing" // that a volume refers to
	KeyMissing    TroubleKind = "KeyMissing"    // that a volume refers to
	DriverMissing TroubleKind = "DriverMissing" // the node lacks the CSI driver of the volume
	Attacher      TroubleKind = "Attacher"      // the attacher of the CSI driver does not attach the volume
	MultiAttach   TroubleKind = "MultiAttach"   // another node has the volume
	MountTimeout  TroubleKind = "MountTimeout"  // the kubelet timed out waiting for the volume
	HostPath      TroubleKind = "HostPath"      // the hostPath has another type
	MountDenied   TroubleKind = "MountDenied"   // permission denied
	Volume        TroubleKind = "Volume"        // other trouble with a volume
)

// volumes are messages of the kubelet, the attach/detach controller and CSI drivers about volumes.
var volumes = []row[TroubleKind]{
	{
		kind:     MultiAttach,
		patterns: re(`^Multi-Attach error for volume "(?P<volume>[^"]*)" Volume is already (?P<said>.+)`),
		saysAll:  true,
		brief:    "volume in use",
		text:     "{volume} is already {said}",
		advice:   "delete the pod that uses the volume, or wait until it ends; for pods on several nodes, use a volume with access mode ReadWriteMany",
	},
	{
		kind:     DriverMissing,
		patterns: re(`driver name (?P<name>\S+) not found in the list of registered CSI drivers`, `CSINode \S+ does not contain driver (?P<name>\S+)`),
		brief:    "CSI driver not registered",
		text:     "CSI driver {name}, which {volume} needs, is not registered on its node",
		advice:   "check that the node pod of the CSI driver runs on that node (its DaemonSet); mounting is retried automatically",
	},
	{
		kind:     Attacher,
		patterns: re(`waiting for external-attacher of (?P<name>\S+) CSI driver`),
		brief:    "attacher",
		text:     "CSI driver {name} did not attach {volume} in time",
		advice:   "check whether the controller of the CSI driver is running; the attachment is retried automatically",
	},
	{
		kind:     KeyMissing,
		patterns: re(`references non-existent (?P<object>config|secret) key: (?P<key>[-._a-zA-Z0-9]+)`),
		brief:    "no key {key} in {kind and name}",
		text:     "{object, needed by its volume} has no key {key}",
		advice:   "add key {key} to {object}; the pod then starts automatically",
	},
	{
		kind:     ObjectMissing,
		patterns: re(`(?i)(?P<object>configmap|secret|persistentvolumeclaim)s? "(?P<name>[^"]+)" not found`),
		brief:    "no {kind and name}",
		text:     "{object, needed by its volume} does not exist",
		advice:   "create {kind and name}; the pod then starts automatically",
	},
	{
		kind:     HostPath,
		patterns: re(`hostPath type check failed: (?P<said>.+)`),
		keepsEnd: true,
		brief:    "hostPath",
		text:     "{volume} is not what its hostPath type demands",
		advice:   "create the path on the node, or recreate the Job with another hostPath type",
	},
	{
		kind:     MountDenied,
		patterns: re(`(?i)access denied by server|permission ?denied|operation not permitted`),
		keepsEnd: true,
		brief:    "mount denied",
		text:     "mounting {volume} was denied",
		advice:   "grant the node or the driver access to the volume; mounting is retried automatically",
	},
	{
		kind:     MountTimeout,
		patterns: re(`timed out waiting for the condition$|context deadline exceeded$|DeadlineExceeded`),
		brief:    "mount timed out",
		text:     "{volume} was not attached or mounted in time",
		advice:   "find out what {volume} waits for",
	},
	{
		kind:     Volume,
		keepsEnd: true,
		brief:    "volume",
		text:     "{volume} cannot be attached or mounted",
		advice:   "resolve what the message names; mounting is retried automatically",
	},
}

// aboutVolume matches the volume in a message of the kubelet.
var aboutVolume = lazyregexp.New(`for volume "([^"]+)"|unmounted volumes=\[([^\] ]+)`)

// ofVolume returns the meaning of a message about a volume.
func ofVolume(message string) *Trouble {
	t := troubleIn(volumes, message)
	if t != nil && t.Volume == "" {
		t.Volume = aboutVolume.Group(message)
	}
	return t
}
