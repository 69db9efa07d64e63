package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Volumes of a pod with a node.
const (
	ObjectMissing TroubleKind = "ObjectMissing" // that a volume refers to
	KeyMissing    TroubleKind = "KeyMissing"    // that a volume refers to
	DriverMissing TroubleKind = "DriverMissing" // the node lacks the CSI driver of the volume
	Attacher      TroubleKind = "Attacher"      // the attacher of the CSI driver does not attach the volume
	MultiAttach   TroubleKind = "MultiAttach"   // another node has the volume
	StillAttached TroubleKind = "StillAttached" // the volume is not detached from another node, where no pod uses it
	VolumeInUse   TroubleKind = "VolumeInUse"   // the storage reports that the volume is in use elsewhere
	MachineGone   TroubleKind = "MachineGone"   // the cloud no longer has the machine of the node
	VolumeLimit   TroubleKind = "VolumeLimit"   // no more volumes can be attached to the node
	WrongNode     TroubleKind = "WrongNode"     // the volume is in another zone, or bound to other nodes
	NotAttached   TroubleKind = "NotAttached"   // the volume is not attached to the node
	OwnerChange   TroubleKind = "OwnerChange"   // the node changes the owner of each file of the volume
	DeviceHeld    TroubleKind = "DeviceHeld"    // something else on the node holds the device
	VolumeBusy    TroubleKind = "VolumeBusy"    // an earlier operation on the volume has not ended
	ClaimUnusable TroubleKind = "ClaimUnusable" // the claim is not bound, or is being deleted
	VolumeMode    TroubleKind = "VolumeMode"    // a block device is mounted, or a file system is used as a device
	MountTimeout  TroubleKind = "MountTimeout"  // the kubelet timed out waiting for the volume
	HostPath      TroubleKind = "HostPath"      // the hostPath has another type
	PathMissing   TroubleKind = "PathMissing"   // the directory of the volume does not exist
	FileSystem    TroubleKind = "FileSystem"    // the file system of the volume is damaged
	// FileSystemType: the file system of the volume has another type, or the node lacks a program to mount it.
	FileSystemType      TroubleKind = "FileSystemType"
	MountHelper         TroubleKind = "MountHelper"         // the node may lack the program that mounts file systems of this type
	StorageUnknown      TroubleKind = "StorageUnknown"      // the node cannot resolve the name of the volume's server
	NFSVersion          TroubleKind = "NFSVersion"          // the server does not support the version of NFS
	NFSLocks            TroubleKind = "NFSLocks"            // the node lacks the program that locks files of NFS
	BucketDenied        TroubleKind = "BucketDenied"        // a bucket denies access
	StorageUnreachable  TroubleKind = "StorageUnreachable"  // the server of the volume does not answer
	SecretsStore        TroubleKind = "SecretsStore"        // a store of secrets does not return them
	SecretsStoreDenied  TroubleKind = "SecretsStoreDenied"  // a store of secrets denies the pod's identity access
	SecretsProvider     TroubleKind = "SecretsProvider"     // the node lacks the provider of a store of secrets
	SecretsStoreUnknown TroubleKind = "SecretsStoreUnknown" // the host name of a store of secrets cannot be resolved
	DeviceUnusable      TroubleKind = "DeviceUnusable"      // the file system of a device cannot be mounted
	NoSocket            TroubleKind = "NoSocket"            // the node lacks the socket of a hostPath
	BucketMount         TroubleKind = "BucketMount"         // the program that mounts a bucket fails
	SidecarMissing      TroubleKind = "SidecarMissing"      // the pod lacks the sidecar that mounts the volume
	ExportDenied        TroubleKind = "ExportDenied"        // the NFS server denies the node access
	FileSystemDenied    TroubleKind = "FileSystemDenied"    // Elastic File System denies the node access
	ShareDenied         TroubleKind = "ShareDenied"         // the SMB server denies access
	DriverDenied        TroubleKind = "DriverDenied"        // the cloud denies the CSI driver a permission
	VolumeAttach        TroubleKind = "VolumeAttach"        // other trouble with attaching a volume
	MountDenied         TroubleKind = "MountDenied"         // permission denied
	VolumeFaulted       TroubleKind = "VolumeFaulted"       // the storage cannot use the volume
	NoDriverObject      TroubleKind = "NoDriverObject"      // the CSIDriver object of the volume does not exist
	MountBroken         TroubleKind = "MountBroken"         // an earlier mount of the volume no longer works
	VolumeGone          TroubleKind = "VolumeGone"          // the kubelet has not mounted a volume of the container
	Volume              TroubleKind = "Volume"              // other trouble with a volume
)

// volumes are messages of the kubelet, the attach/detach controller and CSI drivers about volumes.
var volumes = slices.Concat(secretsStores, []row[TroubleKind]{
	{
		kind:     MultiAttach,
		patterns: re(`^(?:Multi-Attach error|Waiting for detach) for volume "(?P<volume>[^"]*)" Volume is already used by (?:pod\(s\) )?(?P<detail>.+)`),
		complete: true, brief: "volume in use",
		text:   "{volume} is already used by {detail}",
		advice: "{recreate} with podAffinity to the pod that uses the volume, as both can use it on one node{or wait}; for pods on several nodes, use a volume with access mode ReadWriteMany in place of ReadWriteOnce",
	},
	{
		kind:     StillAttached,
		patterns: re(`^(?:Multi-Attach error|Waiting for detach) for volume "(?P<volume>[^"]*)" Volume is already exclusively attached to one node`, `is currently being detached`),
		brief:    "attached elsewhere",
		text:     "{volume} is still attached to another node, where no pod uses it anymore",
		advice:   "wait: it is detached automatically, after 6m from a node that does not answer; if it is not, see which node has it: a node that is down for good needs the taint node.kubernetes.io/out-of-service, or its Node object deleted",
	},
	{
		kind: VolumeInUse,
		patterns: re(`is already being used by '\S*?(?P<name>[^/']+)'`, `currently attached to different node (?P<name>\S+)`, `already attached to node\(\S*?(?P<name>[^/)]+)\)`,
			`already in use by another pod|already attached to (?:an|a|another) (?:instance|server|node|VM|droplet|machine)|is still being used`),
		brief:  "volume in use",
		text:   "{volume} is still in use elsewhere{in brackets}",
		advice: "wait until the pod that uses the volume has ended and the volume is detached; while that pod runs, {recreate} with podAffinity to it, as both can use the volume on one node; for pods on several nodes, use a volume with access mode ReadWriteMany",
	},
	{
		kind:     MachineGone,
		patterns: re(`[Ii]nstance "?(?P<name>[^" ]+)"? not found`, `InvalidInstanceID\.NotFound`),
		brief:    "machine gone",
		text:     "the machine of its node{in brackets} no longer exists",
		advice:   "delete the pod, which then counts as failed, so that its replacement runs on another node; and the Node object, if it is still there",
	},
	{
		kind:     VolumeLimit,
		patterns: re(`(?P<detail>maximum number of data disks allowed to be attached to a VM of this size is \d+)`, `Attachment limit exceeded|AttachmentLimitExceeded|volume attachment limit`),
		brief:    "node's volume limit",
		text:     "no more volumes can be attached to its node",
		advice:   "wait until a volume is detached from {node}, or have the pod run on another one; correct the limit that the CSI driver reports in CSINode",
	},
	{
		kind:     WrongNode,
		patterns: re(`ZoneMismatch|not in the same (?:availability )?zone|because it is not in zone|NodeAffinity check failed`),
		brief:    "volume of other nodes",
		text:     "{volume} cannot be used on its node, only in another zone or on other nodes",
		advice:   "have the pod run on a node of the volume (its node affinity), or recreate the volume with volumeBindingMode WaitForFirstConsumer",
	},
	{
		kind:     NotAttached,
		patterns: re(`not attached according to node status|list of VolumesInUse|hasn't been attached yet|GET error for volume attachment`),
		brief:    "not attached",
		text:     "{volume} is not attached to its node",
		advice:   "wait: it is attached automatically; if it is not, delete the pod, which then counts as failed, or check the controller of the CSI driver",
	},
	{
		kind:     VolumeBusy,
		patterns: re(`(?i)an operation with the given volume\b.* (?:already exists|is already in progress)`),
		brief:    "volume busy",
		text:     "an earlier operation on {volume} has not ended",
		advice:   "wait; if it does not end, the log of the CSI driver on {node}, or in its controller, has the reason",
	},
	{
		kind:     OwnerChange,
		patterns: re(`[Ss]etting volume ownership for (?:\S*/volumes/[^/ ]+/(?P<volume>[^/ ]+))?`),
		brief:    "changing owners",
		text:     "its node is still changing the owner of each file of {volume} (fsGroup)",
		advice:   "{recreate} with fsGroupChangePolicy: OnRootMismatch in the securityContext of the pod template, which leaves the files alone if the root of the volume has the group already; or without fsGroup",
	},
	{
		kind:     DeviceHeld,
		patterns: re(`(?P<detail>is apparently in use by the system)`, `(?P<detail>already mounted or \S+ mount point busy|already mounted or mount point busy)`),
		complete: true, brief: "device in use",
		text:   "something else on its node holds the device of {volume} ({detail})",
		advice: "have multipathd on {node} leave the device alone (blacklist in /etc/multipath.conf, and restart it): it takes those of Longhorn and other CSI drivers; otherwise, find what mounts it there (lsblk)",
	},
	{
		kind:     ClaimUnusable,
		patterns: re(`(?i)\b(?:PVC|claim) "?(?:(?P<namespace>[a-z0-9-]+)/)?(?P<name>[a-z0-9.-]+)"?:?(?: PVC| claim)? (?P<detail>is not bound|is being deleted)`),
		complete: true, brief: "claim {detail}",
		text:   "its claim {name} {detail}",
		advice: "find out why the claim {detail}",
	},
	{
		kind:     VolumeMode,
		patterns: re(`volume (?P<volume>\S+) has (?P<detail>volumeMode \w+, but is specified in \w+)`),
		complete: true, brief: "volumeMode",
		text:   "{volume} has {detail}",
		advice: "use volumeDevices for a claim with volumeMode Block, and volumeMounts for other claims",
	},
	{
		kind: DriverMissing,
		patterns: re(`driver name (?P<name>\S+) not found in the list of registered CSI drivers`, `CSINode \S+ does not contain driver (?P<name>\S+)`,
			`dial unix \S*/plugins/(?P<name>[^/]+)/\S+: connect: `),
		brief:  "CSI driver missing",
		text:   "CSI driver {name}, which {volume} needs, is not found on its node",
		advice: "check that the node pod of the CSI driver runs on {node} (its DaemonSet), and registers there (kubectl describe csinode){?; mounting is retried automatically}",
	},
	{
		kind:     Attacher,
		patterns: re(`waiting for external-attacher of (?P<name>\S+) CSI driver`),
		brief:    "attacher",
		text:     "CSI driver {name} did not attach {volume} in time",
		advice:   "check whether the controller of the CSI driver is running{?; the attachment is retried automatically}",
	},
	{
		kind: KeyMissing,
		patterns: re(`references non-existent (?P<object>config|secret) key: (?P<key>[-._a-zA-Z0-9]+)`,
			`couldn't find key (?P<key>[-._a-zA-Z0-9]+) in (?i:(?P<object>configmap|secret)) (?P<namespace>[-a-z0-9]+)/(?P<name>[-.a-z0-9]+)`),
		brief:     "no key {key} in {kind and name}",
		text:      "{object} has no key {key}",
		was:       "{object} had no key {key}",
		advice:    "add key {key} to {object}{?; the pod then starts automatically}",
		wasAdvice: "check whether {object} has key {key} by now: if it has, " + replacePod + "; otherwise add the key",
	},
	{
		kind: ObjectMissing,
		patterns: re(`failed to find the (?P<object>secret) (?P<name>\S+) in the namespace (?P<namespace>\S+) with error: .* not found`,
			`failed to load (?P<object>secret) "(?P<namespace>[^"/]+)/(?P<name>[^"]+)": .* not found`,
			`failed to get (?P<object>secretproviderclass) (?P<namespace>[^/ ]+)/(?P<name>[^ ,]+), error: .* not found`,
			`(?i)(?P<object>configmap|secret|persistentvolumeclaim|serviceaccount)s? "(?P<name>[^"]+)" not found`),
		brief:     "no {kind and name}",
		text:      "{object} does not exist",
		was:       "{object} did not exist",
		advice:    "create {object}{?; the pod then starts automatically}",
		wasAdvice: "check whether {object} exists by now: if it does, " + replacePod + "; otherwise create it",
	},
	{
		kind:     SidecarMissing, // of GKE's driver for Cloud Storage
		patterns: re(`failed to (?:find the sidecar container in|inject the sidecar container into the) Pod spec`),
		brief:    "no sidecar",
		text:     "its pod lacks the sidecar of the driver that mounts {volume}",
		advice:   "{recreate} with the annotation gke-gcsfuse/volumes: \"true\" in the pod template, with which a webhook of GKE adds the sidecar; if the template has it, the webhook did not answer: delete the pod",
	},
	{
		kind:     NoSocket,
		patterns: re(`hostPath type check failed[:,] (?P<name>\S+) is not a socket file`),
		brief:    "no socket {name}",
		text:     "its node has no socket {name}, which {volume} mounts",
		advice:   "have the pod run on a node where the program with this socket runs (a node with containerd or CRI-O has no docker.sock), or {recreate} without the volume",
	},
	{
		kind: HostPath, yieldsTo: []TroubleKind{NoSocket},
		patterns: re(`hostPath type check failed[:,] (?P<name>\S+) is not an? (?P<detail>[\w ]+)`),
		complete: true, brief: "hostPath",
		text:   "its node has no {detail} {name}, as the type of {volume} (hostPath) demands",
		advice: "create the {detail} {name} on {node}, or {recreate} with the right path, or another type (DirectoryOrCreate and FileOrCreate create it)",
	},
	{
		kind:     PathMissing,
		patterns: re(`mounting (?P<detail>\S+) failed, reason given by server: No such file or directory`, `(?P<detail>mount error\(2\): No such file or directory)`, `path "(?P<detail>[^"]+)" does not exist`),
		brief:    "no such directory",
		text:     "the directory of {volume} does not exist",
		advice:   "create the directory on the server or on {node}, or correct its path in the PersistentVolume{?; mounting is retried automatically}",
	},
	{
		kind:     FileSystem,
		patterns: re(`(?P<detail>'fsck' found errors on device \S+ but could not correct them)`, `(?P<detail>Structure needs cleaning)`),
		brief:    "damaged file system",
		text:     "the file system of {volume} is damaged",
		advice:   "repair the file system (fsck or xfs_repair, while no pod uses the volume), or restore the volume from a backup",
	},
	{
		kind:     MountHelper,
		patterns: re(`-t (?P<name>\w+) .*: bad option; for several filesystems`, `mount: .*(?:/sbin/)?mount\.(?P<name>\w+): (?:command )?not found`),
		complete: true, brief: "no mount.{name}",
		text:   "{volume} cannot be mounted: its node may lack the program mount.{name}",
		advice: "for NFS and SMB, install the client on the nodes (nfs-common or nfs-utils, cifs-utils); if it is there, correct mountOptions of the volume",
	},
	{
		kind:     DeviceUnusable,
		patterns: re(`(?P<detail>bad superblock on (?P<name>/dev/[^ ,]+))`),
		complete: true, brief: "unusable device",
		text:   "the file system of {volume} on device {name} is damaged, or not of its fsType",
		advice: "check the file system of the device (blkid, and fsck or xfs_repair while no pod uses the volume), and fsType of the volume, or restore it from a backup",
	},
	{
		kind: FileSystemType, yieldsTo: []TroubleKind{DeviceUnusable},
		patterns: re(`(?P<detail>wrong fs type, bad option, bad superblock on [^ ,]+)`, `(?P<detail>\S+ as \S+ but current format is \w+)`, `(?P<detail>unknown filesystem type \S+)`),
		brief:    "file system type",
		text:     "{volume} cannot be mounted with its type and options",
		advice:   "for NFS and SMB, install the client on the nodes (nfs-common or nfs-utils, cifs-utils); otherwise compare fsType and mountOptions of the volume with its file system",
	},
	{
		kind: StorageUnknown, yieldsTo: []TroubleKind{SecretsStoreUnknown},
		patterns: re(`Failed to resolve (?:server )?"?(?P<name>[^" :]+)`, `\blookup (?P<name>[\w.-]*\w)\.?(?: on \S+)?: no such host`),
		brief:    "unknown server {name}",
		text:     "its node cannot resolve {name}, the server of {volume}",
		advice:   "correct the name of the server{of class}, or use its address: a node does not use the DNS of the cluster, so that it cannot resolve names of Services (for EFS, its file system needs a mount target in the zone of {node}){?; mounting is retried automatically}",
	},
	{
		kind:     NFSVersion,
		patterns: re(`mount\.nfs4?: (?P<detail>Protocol not supported|requested NFS version or transport protocol is not supported)`),
		brief:    "NFS version",
		text:     "the NFS server of {volume} does not support the version of the mount",
		advice:   "set nfsvers in mountOptions of the PersistentVolume to a version that the server has (4.1, 4 or 3){?; mounting is retried automatically}",
	},
	{
		kind:     NFSLocks,
		patterns: re(`(?P<detail>rpc\.statd is not running but is required for remote locking)`),
		brief:    "no rpc.statd",
		text:     "its node cannot lock files of {volume}",
		advice:   "install the NFS client with rpc.statd on the nodes (nfs-common or nfs-utils), or set nfsvers=4 or nolock in mountOptions of the PersistentVolume{?; mounting is retried automatically}",
	},
	{
		kind:     BucketMount, // of csi-s3, whose message leaves out the error
		patterns: re(`Error fuseMount command: (?P<name>\S+) args: .*?--endpoint (?P<detail>\S+?)/? `),
		complete: true, brief: "bucket not mounted",
		text:   "{name} cannot mount {volume} from {detail}",
		advice: "check whether {node} reaches {detail}, and the bucket and its keys (the Secret of the StorageClass): the log of the CSI driver's pod there has the error{?; mounting is retried automatically}",
	},
	{
		kind:     BucketDenied,
		patterns: re(`(?P<detail>ListObjectsV2 failed for bucket \S+).*(?:Forbidden|Access ?Denied)`, `(?P<detail>\S+ does not have storage\.\S+ access to the Google Cloud Storage bucket)`),
		brief:    "bucket denied",
		text:     "the bucket of {volume} denies access",
		advice:   "give the identity that mounts the bucket (the role of the CSI driver, or the identity of the pod's ServiceAccount) the right to list and read it{?; mounting is retried automatically}",
	},
	{
		kind: StorageUnreachable, yieldsTo: []TroubleKind{DriverMissing, SecretsStore, StorageUnknown},
		patterns: re(`(?P<detail>mount error\((?:111|112|113|115)\): [A-Z][\w ]*?)(?: Refer |$)`, `(?P<detail>rbd: map failed: .*Connection timed out)`,
			serverAway, `timeout waiting for device node to appear`),
		keepsEnd: true, brief: "storage unreachable",
		text:   "its node cannot reach the server of {volume}",
		advice: "check the name of the server{in brackets}, and firewalls between node and server{?; mounting is retried automatically}",
	},
	{
		kind:     FileSystemDenied, // The helper of EFS mounts through a proxy on the node.
		patterns: re(`access denied by server while mounting 127\.0\.0\.1:`),
		brief:    "EFS denied",
		text:     "Elastic File System denies its node access to {volume}",
		advice:   "check the policy of the file system, its access point, and the role of the CSI driver or the node (mount option iam){?; mounting is retried automatically}",
	},
	{
		kind: ExportDenied, yieldsTo: []TroubleKind{FileSystemDenied},
		patterns: re(`access denied by server while mounting (?P<name>[^\s:]+):(?P<detail>/\S*)`),
		complete: true, brief: "NFS denied",
		text:   "NFS server {name} denies its node access to {detail} (volume {its name})",
		advice: "export the path to the addresses of the nodes, and compare path and mountOptions (nfsvers) of the volume with the export{?; mounting is retried automatically}",
	},
	{
		kind:     ShareDenied,
		patterns: re(`(?:.*//(?P<name>[^/\s]+)/.*)?mount error\(13\): Permission denied`),
		brief:    "share denied",
		text:     "the SMB server{in brackets} denies access to {volume}",
		advice:   "correct user and password in the Secret of the volume (of Azure Files: the account's key), and the firewall of the server{?; mounting is retried automatically}",
	},
	{
		kind: DriverDenied, yieldsTo: []TroubleKind{SecretsStoreDenied},
		patterns: re(`is not authorized to perform: (?P<name>\w+:\w+)`, `does not have authorization to perform action '(?P<name>[^']+)'`, `Required '(?P<name>[\w.]+)' permission for`),
		brief:    "driver not authorized",
		text:     "the CSI driver of {volume} lacks the permission {name}",
		advice:   "give the role of the CSI driver (or of its nodes) the permission {name}{?; it is retried automatically}",
	},
	{
		kind: MountDenied,
		patterns: re(`(?P<detail>applyFSGroup failed)`, `(?P<detail>UnauthorizedOperation: You are not authorized[^.]*)`,
			`(?P<detail>no relationship found between node \S+ and this object)`, rightDenied),
		yieldsTo: []TroubleKind{SecretsStore, SecretsStoreDenied, BucketDenied, MountBroken, ExportDenied, FileSystemDenied, ShareDenied, DriverDenied},
		keepsEnd: true, brief: "mount denied",
		text:   "mounting {volume} was denied",
		advice: "grant the node or the driver access to the volume on its server{in brackets}, with the credentials that it uses{?; mounting is retried automatically}",
	},
	{
		kind:     MountTimeout,
		patterns: re(`timed out waiting for the condition$|context deadline exceeded$|DeadlineExceeded`),
		brief:    "mount timed out",
		text:     "{volume} was not attached or mounted in time",
		advice:   "find out what {volume} waits for: the log of the CSI driver's pod on {node}, and its VolumeAttachment, say more than the kubelet, which has only waited",
	},
	{
		kind:     VolumeFaulted, // of Longhorn
		patterns: re(`volume (?P<volume>\S+) (?:is )?(?P<detail>not (?:scheduled|ready for workloads))`),
		complete: true, brief: "volume {detail}",
		text:   "Longhorn reports that {volume} is {detail}",
		advice: "see state and robustness of the volume in Longhorn (kubectl get volumes.longhorn.io -A): one that is not scheduled needs disk space on the nodes of Longhorn, or fewer replicas, a faulted one needs a replica salvaged, and a degraded one its nodes and disks back{?; attaching is retried automatically}",
	},
	{
		kind:     NoDriverObject,
		patterns: re(`not supported by driver (?P<name>\S+) \(no CSIDriver object\)`),
		complete: true, brief: "no CSIDriver",
		text:   "CSIDriver {name}, which {volume} needs, does not exist",
		advice: "install CSI driver {name} again, which creates its CSIDriver object{?; mounting is retried automatically}",
	},
	{
		kind:     MountBroken,
		patterns: re(`(?:stat|lstat|mkdir) /var/lib/kubelet/\S+: (?P<detail>permission denied|stale (?:NFS )?file handle|transport endpoint is not connected|input/output error|host is down)`),
		complete: true, brief: "broken mount",
		text:   "a mount of {volume} on its node is broken ({detail})",
		advice: "delete the pod, which then counts as failed: the volume is mounted again for the next one; if that does not help, restart the pod of the CSI driver on {node}, or unmount the volume there",
	},
	{
		kind:     VolumeGone,
		patterns: re(`cannot find volume "(?P<volume>[^"]+)" to mount into container`),
		brief:    "volume not mounted",
		text:     "volume {its name}{of account} is not mounted",
		advice:   "delete the pod, which then counts as failed: the next one mounts its volumes again; if that does not help, the log of the kubelet on {node} says why volume {its name} is not mounted",
	},
	{
		kind:     Volume,
		keepsEnd: true, brief: "volume",
		text:   "{volume} cannot be mounted{from}",
		advice: "look for the error in the log of the CSI driver's pod on {node}, or on the server of the volume{in brackets}{?; mounting is retried automatically}",
	},
})

// attaching is the row of other trouble with attaching a volume, which the node is not involved in.
var attaching = row[TroubleKind]{
	kind:     VolumeAttach,
	keepsEnd: true,
	brief:    "volume",
	text:     "{volume} cannot be attached to its node",
	advice:   "look for the error in the log of the CSI driver's controller, or in the storage{?; attaching is retried automatically}",
}

// replacePod is advice on a pod that its kubelet no longer tries to start.
const replacePod = "delete the pod, which then counts as failed, or {recreate}"

// aboutVolume matches the volume in a message of the kubelet.
var aboutVolume = lazyregexp.New(`for volume "([^"]+)"|unmounted volumes=\[([^\] ]+)`)

// ofVolume returns the meaning of a message about a volume.
func ofVolume(message string) *Trouble {
	t := cmp.Or(troubleIn(nodeLimits, message), troubleIn(volumes, message))
	if t != nil && t.Volume == "" {
		t.Volume = aboutVolume.Group(message)
	}
	switch {
	case t == nil:
	case t.Kind == Volume && strings.HasPrefix(message, "AttachVolume."):
		t.Kind = VolumeAttach
	case slices.Contains([]TroubleKind{Volume, MountTimeout, MountDenied, StorageUnreachable}, t.Kind):
		t.Name = cmp.Or(t.Name, volumeServer.Group(message))
	}
	return t
}

// volumeServer matches the server of a volume in the command that mounts it, or in the address of a request.
var volumeServer = lazyregexp.New(`(?:\bendpoint|\burl|\bGet|\bPost|\bPut|\bHead)[=:\s"]+(\w+://[^/\s"',\]]+)|(?:^|[\s"'])//([\w.<>-]+)/|(?:^|[\s"'@])([\w-]+\.[\w.-]+):/\w|\bdial (?:tcp|udp) (\S+:\d+)`)
