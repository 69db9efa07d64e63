package meaning

// What a node lacks for any pod, whatever its runtime was about to do.
const (
	NodeDisk        TroubleKind = "NodeDisk"        // the node has no disk space left
	NodeDiskFails   TroubleKind = "NodeDiskFails"   // the disk of the node fails, so that its file system is read-only
	NodeMemory      TroubleKind = "NodeMemory"      // the node has no memory left
	NodeProcesses   TroubleKind = "NodeProcesses"   // the node starts no more processes
	NodeFiles       TroubleKind = "NodeFiles"       // the node opens no more files, or watches no more
	NodeNamespaces  TroubleKind = "NodeNamespaces"  // the node creates no more namespaces or cgroups
	NodeFilters     TroubleKind = "NodeFilters"     // the kernel of the node takes no more seccomp filters
	NotRead         TroubleKind = "NotRead"         // the kubelet did not get what a container refers to from the API server in time
	ServicesNotRead TroubleKind = "ServicesNotRead" // the kubelet has just started
)

// nodeLimits are errors of the operating system in messages about volumes, sandboxes and containers.
var nodeLimits = []row[TroubleKind]{
	{
		kind: NodeDisk, yieldsTo: []TroubleKind{NodeNamespaces},
		patterns: re(`(?:(?P<detail>(?:/[^\s:"\\/]+){1,3})[^\s:"\\]*: )?no space left on device`),
		complete: true, brief: "node's disk full", text: "its node has no disk space left{(detail)}",
		advice: "free disk space on {node} (or inodes), or have the pod run on another one" + retried,
	},
	{
		kind:     NodeNamespaces,
		patterns: re(`(?P<detail>fork/exec) \S+: no space left on device`, `(?P<detail>mkdir /sys/fs/cgroup/)\S*: no space left on device`),
		complete: true, brief: "node's namespaces",
		text:   "its node can create no more namespaces or cgroups ({detail}: no space left on device)",
		advice: "for fork/exec, raise the limits of namespaces on {node} (sysctl user.max_user_namespaces, which is 0 on hardened systems); for mkdir, restart it, which removes cgroups that its kernel has leaked; its disk is not the problem",
	},
	{
		kind: NodeFilters, patterns: re(`error loading seccomp filter: (?P<detail>errno 524)`),
		complete: true, brief: "node's filters", text: "the kernel of its node has no room for another seccomp filter{(detail)}",
		advice: "restart {node}, update its kernel, or raise net.core.bpf_jit_limit there; until then, drain it, and its pods start on other nodes",
	},
	{
		kind: NodeDiskFails,
		patterns: re(`(?P<detail>/(?:var/lib|run)/(?:docker|containerd|containers|rancher)/[^\s:"\\]*: input/output error)`,
			`(?:open|write) (?P<detail>/var/lib/(?:docker|containerd|containers|rancher)/[^\s:"\\]*: read-only file system)`),
		complete: true, brief: "node's disk fails", text: "a disk of its node fails{(detail)}",
		advice: "check the disk of {node} (dmesg), as a file system with errors becomes read-only, and drain the node; delete the pod, and its replacement may run on another one",
	},
	{
		kind:     NotRead,
		patterns: re(`failed to sync (?P<object>configmap|secret) cache: timed out waiting for the condition`, `object "[^"]*"/"(?P<name>[^"]+)" not registered`),
		complete: true, brief: "{kind and name} not read", text: "its node timed out reading the {kind and name}{of volume} from the API server",
		advice: "if it lasts, check the load of {node} and of the API server, and the network between them" + retried,
	},
	{
		kind:     ServicesNotRead,
		patterns: re(`services have not yet been read`),
		complete: true, brief: "Services not read", text: "its kubelet has not read the Services yet",
		advice: "wait: this passes soon after a kubelet starts; if it lasts, check the network between {node} and the API server" + retried,
	},
	{
		kind:     NodeMemory,
		patterns: re(`cannot allocate memory`),
		complete: true, brief: "node's memory", text: "its node has no memory left (cannot allocate memory)",
		advice: "free memory on {node}, or have the pod run on another one; with enough free memory, look for leaked cgroups or an old kernel" + retried,
	},
	{
		kind:     NodeProcesses,
		patterns: re(`(?i)(?:fork|clone|thread|exec\b|setns|pthread_create)[^;]*resource temporarily unavailable|failed to create new OS thread|pthread_create failed`),
		complete: true, brief: "node's processes", text: "its node cannot start more processes (resource temporarily unavailable)",
		advice: "find out which pods of {node} run so many processes or threads, or raise its limits (kernel.pid_max, TasksMax of the container runtime, podPidsLimit of the kubelet)" + retried,
	},
	{
		kind:     NodeFiles,
		patterns: re(`too many open files|inotify_(?:init|add_watch)\w*: `),
		complete: true, brief: "node's open files", text: "its node cannot open more files (too many open files)",
		advice: "raise fs.inotify.max_user_instances and fs.file-max on {node} (sysctl), and LimitNOFILE of its container runtime" + retried,
	},
}
