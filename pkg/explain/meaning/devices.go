package meaning

// Devices of ResourceClaims that the kubelet cannot prepare.
const (
	DeviceDriver TroubleKind = "DeviceDriver" // the driver of the devices does not run on the node
	Devices      TroubleKind = "Devices"      // other trouble with devices
)

// devices are messages of the kubelet about the ResourceClaims of a pod.
var devices = []row[TroubleKind]{
	{
		kind:     DeviceDriver,
		patterns: re(`DRA driver (?P<name>\S+) is not registered`, `(?:plugin|driver) name (?P<name>\S+) not found in the list of registered DRA`),
		brief:    "device driver missing",
		text:     "DRA driver {name} of its devices does not run on {node}",
		advice:   "check the pod of DRA driver {name} on {node}, which belongs to its DaemonSet" + retried,
	},
	{
		kind:     Devices,
		keepsEnd: true, brief: "devices",
		text:   "the devices of its ResourceClaims cannot be prepared",
		advice: "look for the error in the log of the DRA driver's pod on {node}" + retried,
	},
}
