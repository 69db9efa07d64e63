package meaning

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// The sandbox of a pod, and its network.
const (
	NoAddress       TroubleKind = "NoAddress"       // no IP address is left
	NetworkNotReady TroubleKind = "NetworkNotReady" // the network plugin of the node is not ready
	NetworkDenied   TroubleKind = "NetworkDenied"   // the network plugin may not read the API server
	NetworkMissing  TroubleKind = "NetworkMissing"  // a NetworkAttachmentDefinition does not exist
	NetworkPlugin   TroubleKind = "NetworkPlugin"   // other trouble with the network plugin
	NoRuntime       TroubleKind = "NoRuntime"       // the node lacks the handler of the RuntimeClass
	SandboxImage    TroubleKind = "SandboxImage"    // the sandbox image cannot be pulled
	RuntimeSlow     TroubleKind = "RuntimeSlow"     // the container runtime does not create the sandbox in time
	RuntimeBusy     TroubleKind = "RuntimeBusy"     // an earlier attempt to create the sandbox has not ended
	SandboxMemory   TroubleKind = "SandboxMemory"   // the memory limit of the pod is too low for its sandbox
	Sandbox         TroubleKind = "Sandbox"         // other trouble with the sandbox
)

// sandboxes are messages of the kubelet and network plugins about the sandbox of a pod.
var sandboxes = []row[TroubleKind]{
	{
		kind: NoAddress,
		patterns: re(`(?i)failed to assign an IP address|no (?:more )?(?:free|available) (?:IP|address)|no IP addresses? (?:is |are )?(?:available|left)|` +
			`no IPs? available|no more free affine blocks|no unallocated|range is full|address pool .*exhausted|insufficient .*(?:IP|address)|` +
			`failed to request IPs|failed to allocate (?:IP|address)|IPAM .*(?:full|exhausted)|not enough IPs|ranges are exhausted`),
		brief:  "no IP address",
		text:   "{network} has no IP address left for it",
		advice: "free IP addresses, or give the network plugin a larger range; the kubelet retries automatically",
	},
	{
		kind: NetworkNotReady,
		patterns: re(`(?i)cni plugin not initialized|cni config uninitialized|network is not ready|network plugin is not ready|NetworkPluginNotReady`,
			// Files, sockets and ports of plugins that do not run: Calico, Flannel, Multus, Cilium, Amazon, Azure.
			`Calico is currently not ready|calico/nodename: no such file|/subnet\.env|readinessindicatorfile|`+
				`(?:multus|cilium)\.sock: connect|127\.0\.0\.1:(?:50051|10090): connect`),
		brief:  "network not ready",
		text:   "the network plugin of its node is not ready",
		advice: "check the pods of the network plugin on the node",
	},
	{
		kind:     NetworkDenied,
		patterns: re(`connection is unauthorized|\(add\): .*: Unauthorized$`),
		brief:    "network unauthorized",
		text:     "the API server rejects {network} as unauthorized",
		advice:   "restart the pod of the network plugin on the node, which renews its token, and check the plugin's ClusterRole",
	},
	{
		kind:     NetworkMissing,
		patterns: re(`cannot find a network-attachment-definition \((?P<name>[^)]+)\) in namespace \((?P<namespace>[^)]+)\)`),
		brief:    "network missing",
		text:     "NetworkAttachmentDefinition {name} in namespace {namespace} does not exist",
		advice:   "create NetworkAttachmentDefinition {name}, or correct the annotation k8s.v1.cni.cncf.io/networks of the pod template",
	},
	{
		kind: NoRuntime,
		patterns: re(`(?i)no runtime (?:handler )?for "(?P<name>[^"]+)" is configured`, `(?i)failed to find runtime handler (?P<name>\S+)`,
			`(?i)runtime handler "?(?P<name>[^" ]+)"? not supported`),
		brief:  "runtime handler",
		text:   "the container runtime of its node does not have the runtime handler {name} (runtimeClassName)",
		advice: "have the pods run on nodes that have the runtime handler, or {recreate} with another runtimeClassName",
	},
	{
		kind: SandboxImage,
		patterns: re(`(?i)failed to (?:get|pull|start) (?:sandbox )?image "(?P<name>[^"]+)".*: (?P<detail>dial tcp .+)`,
			`(?i)failed to (?:get|pull|start) (?:sandbox )?image "(?P<name>[^"]+)"`),
		keepsEnd: true,
		brief:    "sandbox image",
		text:     "the sandbox image {name} cannot be pulled on its node",
		advice:   "make the sandbox image available to the node: its container runtime's configuration names it",
	},
	{
		kind: NetworkPlugin,
		patterns: re(`failed to find plugin "(?P<name>[^"]+)" in path`,
			`(?i)failed to set ?up (?:pod )?network|failed to setup network for sandbox|network for (?:pod|sandbox)|\bcni\b`),
		yieldsTo: []TroubleKind{NoAddress, NetworkNotReady, NetworkDenied, NetworkMissing}, // These messages say more.
		keepsEnd: true,
		brief:    "network plugin",
		text:     "{network} failed",
		advice:   "check the pods of the network plugin on the node",
	},
	{
		kind:     RuntimeSlow,
		patterns: re(`operation timeout: context deadline exceeded$`, `code = DeadlineExceeded desc = context deadline exceeded$`),
		yieldsTo: []TroubleKind{NetworkPlugin, SandboxImage},
		brief:    "runtime timed out",
		text:     "the container runtime of its node timed out creating its sandbox",
		advice:   "lower the load of the node (its disk above all), or restart its container runtime; the kubelet retries automatically",
	},
	{
		kind:     RuntimeBusy,
		patterns: re(`failed to reserve sandbox name`, `The container name \S+ is already in use by container`),
		brief:    "runtime busy",
		text:     "its node's container runtime still works on an earlier attempt to create its sandbox",
		advice:   "lower the load of the node (its disk above all), or restart its container runtime; the kubelet retries automatically",
	},
	{
		kind:     SandboxMemory,
		patterns: re(`OOM-killed|memory limit .*too low|write init-p: broken pipe`),
		brief:    "memory limit",
		text:     "its memory limit is too low to start a container",
		advice:   "{recreate} with a higher memory limit, and check its unit (128Mi, not 128m)",
	},
	{
		kind:     Sandbox,
		keepsEnd: true,
		brief:    "sandbox",
		text:     "its sandbox cannot be created",
		advice:   "look for the error in the logs of the network plugin and of the container runtime on the node; the kubelet retries automatically",
	},
}

// plugin matches the name of the network plugin that failed.
var plugin = lazyregexp.New(`plugin type="([^"]+)"|networkPlugin cni failed|(?:^|[ "])(aws-cni|calico|cilium-cni|flannel|weave-net|azure-vnet|multus-cni)(?:[ "]|$)`)

// ofSandbox returns the meaning of a message about the sandbox of a pod.
func ofSandbox(message string) *Trouble {
	t := troubleIn(sandboxes, message)
	if t != nil && t.Name == "" && slices.Contains([]TroubleKind{NoAddress, NetworkPlugin, NetworkNotReady, NetworkDenied}, t.Kind) {
		t.Name = plugin.Group(message)
	}
	return t
}
