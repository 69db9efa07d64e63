package meaning

// Pods that do not end.
const (
	ContainerNotStopped TroubleKind = "ContainerNotStopped" // the container runtime cannot stop a container
	NetworkNotRemoved   TroubleKind = "NetworkNotRemoved"   // the network plugin does not release the network of the pod
	PodNotStopped       TroubleKind = "PodNotStopped"       // other trouble
)

// stops are messages of the kubelet about a pod that it cannot end (FailedKillPod). Each follows "as".
var stops = []row[TroubleKind]{
	{
		kind:     ContainerNotStopped,
		patterns: re(`failed to "KillContainer" for "(?P<name>[^"]+)" with KillContainerError: "(?:rpc error: code = \w+ desc = )*(?:failed to kill container [^:]+: )?(?P<detail>(?:[^"\\]|\\.)+)"`),
		complete: true, brief: "container not stopped",
		text:   "the container runtime cannot stop container {name} ({detail})",
		advice: "check the container runtime on the node, which cannot stop container {name}; restart it, or the node",
	},
	{
		kind:     NetworkNotRemoved,
		patterns: re(`failed to "KillPodSandbox" for .*failed to destroy network for sandbox [^:]+: (?:plugin type=\\?"(?P<name>[^"\\]+)\\?"[^:]*: )?(?P<detail>(?:[^"\\]|\\.)+)`),
		complete: true, brief: "network not removed",
		text:   "{network} does not release its address ({detail})",
		advice: "check {network} on the node, which does not release the address of the pod" + retried,
	},
	{
		kind: PodNotStopped, yieldsTo: []TroubleKind{ContainerNotStopped, NetworkNotRemoved},
		patterns: re(`failed to "KillPodSandbox" for "[^"]*" with KillPodSandboxError: "(?:rpc error: code = \w+ desc = )*(?P<detail>(?:[^"\\]|\\.)+)"`, `^`),
		keepsEnd: true, complete: true, brief: "pod not stopped",
		text:   "the kubelet cannot end it ({detail})",
		advice: "check the kubelet and the container runtime on the node, which cannot end the pod",
	},
}

// OfStop returns why a kubelet cannot end a pod, nil if the event is about something else.
func OfStop(reason, message string) *Trouble {
	if reason != "FailedKillPod" {
		return nil
	}
	return troubleIn(stops, message)
}
