package meaning

import (
	"cmp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// The sandbox of a pod, and its network.
const (
	NoAddress       TroubleKind = "NoAddress"       // no IP address is left
	NetworkNotReady TroubleKind = "NetworkNotReady" // the network plugin of the node is not ready
	NetworkDenied   TroubleKind = "NetworkDenied"   // the network plugin may not read the API server
	NetworkNoServer TroubleKind = "NetworkNoServer" // the network plugin does not reach the API server
	NetworkMissing  TroubleKind = "NetworkMissing"  // a NetworkAttachmentDefinition does not exist
	NetworkPlugin   TroubleKind = "NetworkPlugin"   // other trouble with the network plugin
	NoRuntime       TroubleKind = "NoRuntime"       // the node lacks the handler of the RuntimeClass
	SandboxImage    TroubleKind = "SandboxImage"    // the sandbox image cannot be pulled
	SandboxRegistry TroubleKind = "SandboxRegistry" // the registry of the sandbox image does not answer
	RuntimeSlow     TroubleKind = "RuntimeSlow"     // the container runtime does not create the sandbox in time
	RuntimeDown     TroubleKind = "RuntimeDown"     // the container runtime does not answer
	SandboxMemory   TroubleKind = "SandboxMemory"   // the memory limit of the pod is too low for its sandbox
	SandboxEnds     TroubleKind = "SandboxEnds"     // the first process of the sandbox ends at once
	CgroupDrivers   TroubleKind = "CgroupDrivers"   // kubelet and container runtime manage cgroups in different ways
	RuntimeMissing  TroubleKind = "RuntimeMissing"  // the node lacks the program that the container runtime calls
	ResolvMissing   TroubleKind = "ResolvMissing"   // the kubelet's resolvConf does not exist
	BridgeAddress   TroubleKind = "BridgeAddress"   // the bridge of the network plugin has the address of another network
	HostPortTaken   TroubleKind = "HostPortTaken"   // another program on the node has the host port
	OnWindows       TroubleKind = "OnWindows"       // the node runs Windows, which reports an error
	Sandbox         TroubleKind = "Sandbox"         // other trouble with the sandbox
)

// sandboxes are messages of the kubelet and network plugins about the sandbox of a pod.
var sandboxes = []row[TroubleKind]{
	{
		kind: NoAddress,
		patterns: re(`(?i)failed to assign an IP address|no (?:more )?(?:free|available) (?:IP|address)|no IP addresses? (?:is |are )?(?:available|left)|` +
			`no IPs? available|no more free affine blocks|no unallocated|range is full|address pool .*exhausted|insufficient .*(?:IP|address)|` +
			`failed to request IPs|failed to allocate (?:IP|address)|IPAM .*(?:full|exhausted)|not enough IPs|ranges are exhausted`),
		brief: "no IP address", text: "{network} has no IP address left for it",
		advice: "free IP addresses, or give the network plugin a larger range" + retried,
	},
	{
		kind: NetworkNotReady,
		patterns: re(`(?i)\b(?:cni|network)\b.*\b(?:not ready|not initiali[sz]ed|uninitiali[sz]ed)|NetworkPluginNotReady`,
			// Files, sockets and ports of plugins that do not run: Flannel, Calico, Multus, Cilium, Amazon, Azure.
			`(?P<detail>/\S*/(?P<name>flannel|calico)/(?:subnet\.env|nodename): no such file or directory)`,
			`Calico is currently not ready|readinessindicatorfile|`+
				`(?:multus|cilium)\.sock: connect|127\.0\.0\.1:(?:50051|10090): connect`),
		complete: true, brief: "network not ready", text: "{network} is not ready{(detail)}",
		advice: "check the pods of the network plugin on {node}, and their logs",
	},
	{
		kind:     NetworkDenied,
		patterns: re(`(?i)\bunauthorized\b`),
		brief:    "network unauthorized", text: "the API server rejects {network} as unauthorized",
		advice: "restart the pod of the network plugin on {node}, which renews its token, and check the plugin's ClusterRole",
	},
	{
		kind: NetworkNoServer, yieldsTo: []TroubleKind{NetworkDenied},
		patterns: re(`(?:Get|Post|Put|Patch) "?(?P<detail>https://[^/"\s]+)/apis?/.*(?:dial tcp|timeout|cannotconnect|connection refused|EOF|context deadline exceeded|no route to host)`,
			`server was unable to return a response in the time allotted|Timeout: request did not complete|etcdserver: (?:request timed out|leader changed)`),
		complete: true, brief: "API server unreachable", text: "{network} gets no answer from the API server{(detail)}",
		advice: "check whether the API server and etcd answer others in time; if so, kube-proxy, or what takes its place, on {node}, and the network between the node and the API server; then the pods of the network plugin there" + retried,
	},
	{
		kind:     NetworkMissing,
		patterns: re(`cannot find a network-attachment-definition \((?P<name>[^)]+)\) in namespace \((?P<namespace>[^)]+)\)`),
		brief:    "network missing", text: "NetworkAttachmentDefinition {name} in namespace {namespace} does not exist",
		advice: "create NetworkAttachmentDefinition {name}, or correct the annotation k8s.v1.cni.cncf.io/networks of the pod template",
	},
	{
		kind: NoRuntime,
		patterns: re(`(?i)no runtime (?:handler )?for "(?P<name>[^"]+)" is configured`, `(?i)failed to find runtime handler (?P<name>\S+)`,
			`(?i)runtime handler "?(?P<name>[^" ]+)"? not supported`),
		brief: "runtime handler", text: "the container runtime of its node does not have the runtime handler {name} (runtimeClassName)",
		advice: "have the pods run on nodes that have the runtime handler, or {recreate} with another runtimeClassName",
	},
	{
		kind: SandboxImage, yieldsTo: []TroubleKind{SandboxRegistry},
		patterns: re(`(?i)failed to (?:get|pull|start) (?:sandbox )?image "(?P<name>[^"]+)"`),
		keepsEnd: true, brief: "sandbox image", text: "the sandbox image {name} cannot be pulled on its node",
		advice: "import image {name} on {node} (ctr -n k8s.io images import), have its container runtime pull it from a mirror or with credentials, or name another image in the runtime's configuration (sandbox_image)",
	},
	{
		kind:     SandboxRegistry,
		patterns: re(`(?i)failed to (?:get|pull|start) (?:sandbox )?image "(?P<key>[^"]+)".*"https?://(?P<name>[^/"]+)/[^"]*": (?P<detail>(?:dial|read|proxyconnect) tcp .+|net/http: .+|EOF|context deadline exceeded.*)$`),
		brief:    "sandbox image", text: "its node does not reach {name} for the sandbox image {key}",
		advice: "let the node reach {name} (network, DNS, firewall, or a proxy for its container runtime), configure a mirror of it, or import image {key} on {node}" + retried,
	},
	{
		kind: NetworkPlugin,
		patterns: re(`failed to find plugin "(?P<name>[^"]+)" in path`,
			`(?i)failed to set ?up (?:pod )?network|failed to setup network for sandbox|network for (?:pod|sandbox)|\bcni\b`),
		yieldsTo: []TroubleKind{NoAddress, NetworkNoServer, NetworkNotReady, NetworkDenied, NetworkMissing, BridgeAddress, HostPortTaken}, // These messages say more.
		keepsEnd: true, brief: "network plugin", text: "{network} failed",
		advice: "check the pods of the network plugin on {node}, and their logs",
	},
	{
		kind: RuntimeSlow, yieldsTo: []TroubleKind{NetworkPlugin, SandboxImage, SandboxRegistry},
		patterns: re(`context deadline exceeded$`, `failed to reserve sandbox name`, `The container name \S+ is already in use by container`),
		brief:    "runtime timed out", text: "the container runtime of its node timed out creating its sandbox",
		advice: "lower the load of {node} (its disk above all), or restart its container runtime" + retried,
	},
	{
		kind:     RuntimeDown,
		patterns: re(`code = Unavailable desc = (?P<detail>transport is closing|error reading from server: EOF)$`, `(?P<detail>dial unix \S*(?:containerd|crio|docker\w*|cri-dockerd)\.sock: connect: [a-z ]+)`),
		complete: true, brief: "runtime down", text: "the container runtime of its node does not answer{(detail)}",
		advice: "check whether the container runtime of {node} runs, and restart it (systemctl status containerd, crio or docker)" + retried,
	},
	{
		kind:     SandboxMemory,
		patterns: re(`OOM-killed|memory limit .*too low|write init-p: broken pipe`),
		brief:    "memory limit", text: "its memory limit{(memory)} is too low to start a container",
		advice: "{recreate} with a higher memory limit, and check its unit (128Mi, not 128m)",
	},
	{
		kind:     SandboxEnds,
		patterns: re(`(?i)final child's pid from pipe.*EOF`),
		complete: true, brief: "sandbox ends", text: "the first process of its sandbox ends at once (final child's pid from pipe: EOF)",
		advice: "check the memory limit of the pod and its unit (128Mi, not 128m), which may be too low for the runtime; otherwise restart the container runtime of {node}, or update it" + retried,
	},
	{
		kind:     CgroupDrivers,
		patterns: re(`expected cgroupsPath to be of format "slice:prefix:name" for systemd cgroups`),
		brief:    "cgroup drivers", text: "kubelet and container runtime of its node use different cgroup drivers",
		advice: "set the same cgroup driver on {node} for both: cgroupDriver systemd of the kubelet goes with SystemdCgroup = true of containerd; then restart them",
	},
	{
		kind:     RuntimeMissing,
		patterns: re(`exec: "(?P<name>[^"]+)": executable file not found in \$PATH`),
		brief:    "no {name}", text: "its node lacks the program {name}, which its container runtime calls",
		advice: "install {name} on {node} (nvidia-container-runtime is in the NVIDIA Container Toolkit), or {recreate} with another runtimeClassName, or have the pod run on another node",
	},
	{
		kind:     ResolvMissing,
		patterns: re(`open (?P<name>\S*resolv\.conf): no such file or directory`),
		brief:    "no {name}", text: "its node has no file {name}, from which its kubelet takes the DNS servers",
		advice: "correct resolvConf in the configuration of the kubelet (/run/systemd/resolve/resolv.conf needs systemd-resolved, otherwise /etc/resolv.conf)",
	},
	{
		kind:     BridgeAddress,
		patterns: re(`"(?P<name>\w+)" already has an IP address different from (?P<detail>[0-9a-f.:/]+)`),
		complete: true, brief: "bridge {name}",
		text:   "network bridge {name} of its node lacks address {detail}, as the node's range for pods has changed",
		advice: "delete the bridge on {node} (ip link delete {name}), and the network plugin creates it again; a restart of {node} does that, too",
	},
	{
		kind:     HostPortTaken,
		patterns: re(`cannot open hostport (?P<name>\d+) for pod`),
		brief:    "host port {name}", text: "another program on its node has its host port {name}",
		advice: "{recreate} without hostPort, or have the pod run on a node where the port is free",
	},
	{
		kind: OnWindows, yieldsTo: []TroubleKind{NetworkPlugin, NoAddress, SandboxImage, SandboxRegistry},
		patterns: re(append([]string{`(?i)(?P<detail>(?:container operating system|operating system of the container) does not match the (?:host operating system|operating system of the host))`}, inWindows...)...),
		brief:    "node runs Windows", text: "{node} (Windows) cannot create its sandbox",
		advice: "if its image is for Linux, {recreate} with nodeSelector kubernetes.io/os: linux, which keeps its pods off nodes with Windows; for Windows, use one for the version of {node} (node.kubernetes.io/windows-build), and leave out what is for Linux only, such as runAsUser (windowsOptions.runAsUserName takes its place)",
	},
	{
		kind:     Sandbox,
		keepsEnd: true, brief: "sandbox", text: "its sandbox cannot be created",
		advice: "look for the error in the logs of the kubelet and of the container runtime on {node}" + retried,
	},
}

// inWindows matches an error of the Host Compute Service of Windows, without the JSON that follows it.
var inWindows = []string{
	`failure in a Windows system call: (?P<detail>.+?)\.?(?: extra info: .*)?$`,
	`\bhcs(?:shim)?::\w[\w:]*[^:]*: (?P<detail>.+?)\.?(?:: unknown)?(?: \(?extra info: .*)?$`,
}

// plugin matches the name of the network plugin that failed.
var plugin = lazyregexp.New(`plugin type="([^"]+)"|networkPlugin cni failed|(?:^|[ "/])(aws-cni|calico|cilium-cni|flannel|weave-net|azure-vnet|multus-cni)(?:[ "/]|$)`)

// cleanup matches what Docker adds to an error: that it cannot remove the network, either, or the rest of what a program printed.
var cleanup = lazyregexp.New(`(?s), failed to clean up sandbox container .*|(?:\\n)?": ""\]?.*$`)

// ofSandbox returns the meaning of a message about the sandbox of a pod.
func ofSandbox(message string) *Trouble {
	if short := cleanup.ReplaceAllString(message, ""); short != message {
		message = strings.TrimRight(short, ` "]`)
	}
	t := cmp.Or(troubleIn(nodeLimits, message), troubleIn(sandboxes, message))
	if t != nil && t.Name == "" && slices.Contains([]TroubleKind{NoAddress, NetworkPlugin, NetworkNotReady, NetworkNoServer, NetworkDenied}, t.Kind) {
		t.Name = plugin.Group(message)
	}
	return t
}
