package meaning

import (
	"fmt"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// The kinds of KnownError about a container that its runtime cannot set up.
const (
	ErrorNoCommand       ErrorKind = "NoCommand"       // neither the image nor the pod template has a command
	ErrorUserNotFound    ErrorKind = "UserNotFound"    // the image does not have the user
	ErrorRootUser        ErrorKind = "RootUser"        // runAsNonRoot, and the user is root, or a name
	ErrorImageLost       ErrorKind = "ImageLost"       // the container runtime has lost the image
	ErrorRuntimeSlow     ErrorKind = "RuntimeSlow"     // the container runtime does not create the container in time
	ErrorArguments       ErrorKind = "Arguments"       // the kernel does not take so many arguments and variables
	ErrorSubPath         ErrorKind = "SubPath"         // the subPath of a volume cannot be used
	ErrorMountFails      ErrorKind = "MountFails"      // what is mounted, or the mount point, is missing or of another kind
	ErrorPathMissing     ErrorKind = "PathMissing"     // the path of a volume does not exist on the node
	ErrorPathUnusable    ErrorKind = "PathUnusable"    // the node cannot open the path of a volume
	ErrorMemoryTooLow    ErrorKind = "MemoryTooLow"    // the memory limit is too low for the container runtime
	ErrorGPU             ErrorKind = "GPU"             // the node's GPU driver or its container toolkit fails
	ErrorRuntimeHook     ErrorKind = "RuntimeHook"     // a hook of the container runtime fails
	ErrorRootAsked       ErrorKind = "RootAsked"       // runAsNonRoot, and the pod template asks for user 0
	ErrorRuntimeEnds     ErrorKind = "RuntimeEnds"     // the first process of the container ends before the command runs
	ErrorOnWindows       ErrorKind = "OnWindows"       // the node runs Windows, which reports an error
	ErrorAppArmorParser  ErrorKind = "AppArmorParser"  // the node lacks the program that loads profiles of AppArmor
	ErrorSecurityProfile ErrorKind = "SecurityProfile" // the profile of seccomp or AppArmor is not on the node
	ErrorMountAtRoot     ErrorKind = "MountAtRoot"     // a volume is mounted at /
	ErrorPropagation     ErrorKind = "Propagation"     // the mount of a hostPath does not share its mounts, as mountPropagation demands
	ErrorSysctl          ErrorKind = "Sysctl"          // a sysctl of the pod cannot be set on the node
	ErrorCapabilities    ErrorKind = "Capabilities"    // the node may not give the container its capabilities
	ErrorCgroupLimit     ErrorKind = "CgroupLimit"     // the kernel of the node does not accept a limit of the container
	ErrorShimGone        ErrorKind = "ShimGone"        // the container runtime's process for the container has ended
)

// setupErrors are errors of the kubelet, containerd, CRI-O, runc and crun about a container that they cannot set up. The subject
// is a path, a user, a volume, or the message of a driver or a hook.
var setupErrors = []errorRow{
	{
		kind:     ErrorNoCommand,
		patterns: []errorPattern{{"no command specified", lazyregexp.New(`no command specified`), nil}},
		brief:    "no command", text: "neither its image nor the pod template has a command",
		advice: "{recreate} with a command for container {container}, or with an image that has one: {image} has neither ENTRYPOINT nor CMD, which a copy or a build of it may have lost",
	},
	{
		kind: ErrorUserNotFound,
		patterns: []errorPattern{
			{"unable to find user", lazyregexp.New(`unable to find user ([^\s:]+): `), nil},
			{"no users found", lazyregexp.New(`no users found`), nil},
		},
		brief: "user not found", text: "its image {has no user %s|does not have the user that it is to run as}",
		advice: "create {user %s|the user} in the image (USER names it), or set runAsUser to a number",
	},
	{
		kind: ErrorRootUser,
		patterns: []errorPattern{
			{"non-numeric user", lazyregexp.New(`image has non-numeric user \(([^)]*)\)`), nil},
			{"will run as root", lazyregexp.New(`runAsNonRoot and image will run as root`), nil},
		},
		brief: "runAsNonRoot", text: "runAsNonRoot {needs a number, and the user of its image is a name (%s)|does not allow it to run as root}",
		advice: "set runAsUser in the securityContext to {the number of user %s in the image, or use an image with a number in USER|a number other than 0, or use an image with such a number in USER}",
	},
	{
		kind:     ErrorRootAsked,
		patterns: []errorPattern{{"non-root policy", lazyregexp.New(`runAsUser breaks non-root policy`), nil}},
		brief:    "runAsNonRoot", text: "runAsNonRoot does not allow its runAsUser 0",
		advice: "set runAsUser of container {container}, and of each other one that asks for 0, to a number other than 0 (securityContext), or let it run as root (runAsNonRoot: false)",
	},
	{
		kind: ErrorImageLost,
		patterns: []errorPattern{
			{"failed to get image from", lazyregexp.New(`failed to get image from \w+ "[^"]+": image "([^"@]+)[^"]*": not found`), nil},
			{"content store", lazyregexp.New(`failed to get reader from content store`), nil},
			{"no such image", lazyregexp.New(`(?i)no such image: sha256:`), nil},
		},
		brief: "image lost", text: "its image is not in the store of the container runtime of its node",
		advice: "remove image {image} from the node (crictl rmi) and have it pulled or loaded again, or have the pod run on another node",
	},
	{
		kind: ErrorRuntimeSlow,
		patterns: []errorPattern{
			{"deadline exceeded", lazyregexp.New(`^(?:rpc error: code = DeadlineExceeded desc = )?context deadline exceeded$`), nil},
			{"container", lazyregexp.New(`(failed to reserve container name|[Tt]he container name \S+ is already in use by)`), nil},
		},
		brief: "runtime is slow", text: "{its name is reserved by an earlier attempt to create it, which its container runtime has not finished|the container runtime of its node timed out creating it}",
		advice: "wait; if it lasts, restart the container runtime of the node, and check its disk, which is slow or overloaded most of the time" + retried,
	},
	{
		kind:     ErrorArguments,
		patterns: []errorPattern{{"argument list too long", lazyregexp.New(`argument list too long`), nil}},
		brief:    "arguments too long", text: "its arguments and variables are too long for the kernel",
		advice: "give container {container} long values as files (a volume) in place of args and env; if the namespace has many Services, {recreate} with enableServiceLinks: false, without which each of them adds variables",
	},
	{
		kind:     ErrorSubPath,
		patterns: []errorPattern{{"subpath", lazyregexp.New(`failed to (?:prepare subPath|create subPath directory) for volumeMount "([^"]+)"`), nil}},
		brief:    "subPath", text: "the subPath of {its volume %s|one of its volumes} cannot be used",
		advice: "correct {subPath for volume %s:|subPath:} it must be a directory or file in the volume that the node may create or open",
	},
	{
		kind: ErrorMountFails,
		patterns: []errorPattern{
			{"to rootfs", lazyregexp.New(`error mounting "[^"]+" to rootfs at "([^"]+)": .*: (not a directory|read-only file system|no such file or directory)`), nil},
			{"not a directory", lazyregexp.New("(?i)mount `[^`]+` to `([^`]+)`: (not a directory)"), nil},
			{"to rootfs", oldMountError("(not a directory|read-only file system|no such file or directory)"), nil},
		},
		brief:    "mount",
		describe: func(subject string) string { return mountErrors(subject)[0] },
		advise:   func(e *KnownError, _ Container) string { return mountErrors(e.Subject)[1] },
	},
	{
		kind:     ErrorPathMissing,
		patterns: append(pathErrors(`no such file or directory`), errorPattern{"custom device", lazyregexp.New(`adding custom device "([^"]+)": no such file or directory`), nil}),
		read:     nameVolume,
		brief:    "no such path",
		describe: func(path string) string { return onNode(path) + " does not exist on its node" },
		advise:   missingPathAdvice,
	},
	{
		kind:     ErrorPathUnusable,
		patterns: pathErrors(`(?:stale (?:NFS )?file handle|transport endpoint is not connected|input/output error|host is down|permission denied|not a directory|too many levels of symbolic links|read-only file system)`),
		read:     nameVolume,
		brief:    "path unusable",
		describe: func(subject string) string {
			path, why, _ := strings.Cut(subject, ":")
			return fmt.Sprintf("its node cannot use %s: %s", onNode(path), why)
		},
		advise: func(e *KnownError, c Container) string {
			path, why, _ := strings.Cut(e.Subject, ":")
			volume := volumeOn(path, c.Mounts)
			switch why {
			case "permission denied", "not a directory":
				return fmt.Sprintf("correct the path of %s, or its files on the node", volume)
			case "read-only file system":
				return fmt.Sprintf("{recreate} with a path for %s that exists on its nodes or that they can create, or with another kind of volume", volume)
			}
			return fmt.Sprintf("have %s mounted again on the node: its mount there is broken; check the server or the driver of the volume", volume)
		},
	},
	{
		kind: ErrorMemoryTooLow,
		patterns: []errorPattern{
			{"too low; should be", lazyregexp.New(`memory limit \d+ too low; should be (at least \d+ bytes)`), nil},
			{"memory limit", lazyregexp.New(`OOM-killed \(memory limit too low\?\)|OOM: the memory limit could be too low`), nil},
		},
		brief: "memory limit", text: "its memory limit is too low to start a container{ (%s)|}",
		advise: func(_ *KnownError, c Container) string {
			return runtimeMemory(c, fmt.Sprintf("raise the memory limit of container %s, and check its unit (128Mi, not 128m)", c.Name))
		},
	},
	{
		kind: ErrorGPU,
		patterns: []errorPattern{
			{"nvidia-container-cli", lazyregexp.New(`(?m)nvidia-container-cli: ([^\n,]+?)(?:,.*|: unknown|\.)*$`), nil},
			{"cdi devices", lazyregexp.New(`(unresolvable CDI devices .+?)(?:: unknown)?$`), nil},
		},
		brief: "GPU driver", text: "GPU setup on its node failed{: %s|}",
		advice: "check GPU driver, container toolkit, and device plugin (or DRA driver) on the node, and that the container runtime finds what they wrote for it (CDI: nvidia-ctk cdi list), or have the pod run on another one",
	},
	{
		kind: ErrorRuntimeHook,
		patterns: []errorPattern{
			{"hook #", lazyregexp.New(`(?s)error running (?:\w+ )?hook #\d+: (?:.*stderr: )?(.+?)(?:: unknown)?$`), nil},
			{"executing hook", lazyregexp.New("error executing hook `([^`]+)`"), nil},
		},
		brief: "runtime hook", text: "a hook of its node's container runtime fails{: %s|}",
		advice: "correct the hook on the node, or have the pod run on another one",
	},
	{
		kind: ErrorRuntimeEnds,
		patterns: []errorPattern{
			{"pid from pipe", lazyregexp.New(`(?i)(final child's pid from pipe).*EOF`), nil},
			{"cannot start a stopped process", lazyregexp.New(`(cannot start a stopped process)`), nil},
		},
		brief: "runtime ends", text: "its first process ends before its command runs, often for lack of memory",
		advise: func(_ *KnownError, c Container) string {
			return runtimeMemory(c, "check whether a LimitRange sets a memory limit that is too low for the container runtime") + "; otherwise restart the container runtime of the node, or update it"
		},
	},
	{
		kind: ErrorOnWindows,
		patterns: []errorPattern{
			{"does not match the host operating system", lazyregexp.New(`(container operating system does not match the host operating system)`), nil},
			{"windows system call", lazyregexp.New(inWindows[0]), nil},
			{"hcs", lazyregexp.New(inWindows[1]), nil},
		},
		brief: "node runs Windows", text: "its node (Windows) {reports: %s|reports an error}",
		advice: "if its image is for Linux, {recreate} with nodeSelector kubernetes.io/os: linux, which keeps its pods off nodes with Windows; for Windows, use an image for the version of the node (node.kubernetes.io/windows-build), check its command, user (windowsOptions.runAsUserName) and mounts, and leave out what is for Linux only",
	},
	{
		kind:     ErrorMountAtRoot,
		patterns: []errorPattern{{"destination can't be '/'", lazyregexp.New(`destination can't be '/'`), nil}},
		brief:    "mount at /", text: "a volume is mounted at /, where the root file system of its image is",
		advice: "correct mountPath / of container {container}: mount the volume in a directory, or single files of it with subPath",
	},
	{
		kind: ErrorShimGone,
		patterns: []errorPattern{
			{"ttrpc: ", lazyregexp.New(`(ttrpc: (?:client shutting down|closed))`), nil},
			{"new parent process: namespace path: ", lazyregexp.New(`new parent process: namespace path: (lstat /proc/0/[\w/]+)`), nil},
		},
		brief: "runtime crashed", text: "the container runtime's process for it, or its sandbox, has ended{ (%s)|}",
		advice: "check memory and processes of the node, for lack of which containerd-shim ends, and the log of containerd there; another node may start it",
	},
	{
		kind:     ErrorPropagation,
		patterns: []errorPattern{{"is mounted on", lazyregexp.New(`path "([^"]+)" is mounted on "[^"]+" but it is not a (?:shared|slave)`), nil}},
		brief:    "mountPropagation", text: "mountPropagation needs a shared mount, but {%s|its hostPath} is not on one on its node",
		advice: "{recreate} without mountPropagation for the {volume of %s,|volume,} or share its mount on the nodes (mount --make-rshared)",
	},
	{
		kind:     ErrorSysctl,
		patterns: []errorPattern{{"write sysctl key", lazyregexp.New(`write sysctl key (\S+): `), nil}},
		brief:    "sysctl", text: "{sysctl %s|a sysctl of the pod} cannot be set on its node",
		advice: "{recreate} without {%s in sysctls|the sysctl} (securityContext of the pod): the kernel of the node does not have it, or not for each pod, or not this value",
	},
	{
		kind:     ErrorCapabilities,
		patterns: []errorPattern{{"unable to apply caps", lazyregexp.New(`unable to apply caps: `), nil}},
		brief:    "capabilities", text: "its node may not give it its capabilities",
		advice: "{recreate} without capabilities.add (securityContext), or have the pod run on a node that is neither rootless nor in a container, where the runtime may give capabilities",
	},
	{
		kind:     ErrorCgroupLimit,
		patterns: []errorPattern{{"/sys/fs/cgroup", lazyregexp.New(`write /sys/fs/cgroup/\S*?((?:cpu|memory|pids|hugetlb)\.[\w.]+): (?:invalid argument|device or resource busy)`), nil}},
		brief:    "limit not accepted", text: "the kernel of its node does not accept one of its limits{ (%s)|}",
		advice: "correct {resources.limits for %s: cpu of at least 10m and not above that of the pod,|resources.limits: cpu of at least 10m,} memory in bytes (128Mi, not 128m), huge pages of a size that the node has",
	},
	{
		kind:     ErrorAppArmorParser,
		patterns: []errorPattern{{"apparmor_parser", lazyregexp.New(`get apparmor_parser version: exec: "apparmor_parser": executable file not found`), nil}},
		brief:    "no apparmor_parser", text: "its node lacks the program apparmor_parser, which its container runtime calls",
		advice: "install the package apparmor on the node, or have the pod run on another one",
	},
	{
		kind: ErrorSecurityProfile,
		patterns: []errorPattern{
			{"apparmor profile not found", lazyregexp.New(`apparmor profile not found (\S+)`), nil},
			{"cannot load seccomp profile", lazyregexp.New(`cannot load seccomp profile "([^"]+)"`), nil},
		},
		brief: "security profile", text: "{security profile %s|its security profile} is not on its node",
		advice: "load {profile %s|the profile} on the nodes, or correct seccompProfile or appArmorProfile in the pod template",
	},
}

// runtimeMemory returns advice on a memory limit that is too low for the container runtime; withoutOne is for a limit that is unknown.
func runtimeMemory(c Container, withoutOne string) string {
	if c.MemoryLimit == "" {
		return withoutOne
	}
	unit := map[bool]string{true: " (m stands for thousandths of a byte, Mi for mebibytes)"}[strings.HasSuffix(c.MemoryLimit, "m")]
	return fmt.Sprintf("raise the memory limit of container %s, which is %s%s: the container runtime needs a part of it", c.Name, c.MemoryLimit, unit)
}

// pathErrors returns the patterns of an error about the path of a volume on the node: of the kubelet, which looks for the directory that
// has a subPath, and of containerd, CRI-O and cri-dockerd, which create the directory of a hostPath if they can.
func pathErrors(why string) []errorPattern {
	if strings.HasPrefix(why, "(?:") { // It is a part of the subject.
		why = "(" + strings.TrimPrefix(why, "(?:")
	}
	return []errorPattern{
		{"", lazyregexp.New(`(?i)(?:failed to (?:stat|mkdir|resolve symlink)|mount source path) ["']?(/[^"':\s]+)["']?: (?:\w+ /[^:]*: )?` + why), nil},
		{"stat|mkdir|open|readlink", lazyregexp.New(`(?i)^(?:stat|lstat|mkdir|open|readlink) (/[^:]+): ` + why + `$`), nil},
	}
}

// ofKubelet matches a path below which the kubelet mounts a volume for a pod.
var ofKubelet = lazyregexp.New(`/\S+/volumes?(?:/[^/]+~[^/]+|-subpaths)/([^/:]+)[^:]*`)

// nameVolume replaces a path of the kubelet, whose names are generated, by the name of the volume.
func nameVolume(e *KnownError, _ string) {
	e.Subject = ofKubelet.ReplaceAllString(e.Subject, "volume $1")
}

// onNode returns the subject as a clause: the path of a hostPath, or another volume.
func onNode(subject string) string {
	if strings.HasPrefix(subject, "/") {
		return "hostPath " + subject
	}
	return "the directory of its " + subject
}

// volumeOn returns the name of the volume with the subject.
func volumeOn(subject string, mounts []Mount) string {
	if m := lists.First(mounts, func(m *Mount) bool { return isBelow(subject, m.Directory) }); m != nil {
		return m.name()
	}
	return strings.TrimPrefix(onNode(subject), "the directory of its ")
}

// missingPathAdvice returns advice on a path that does not exist on the node. The kubelet creates the directory of a hostPath only if its
// type is DirectoryOrCreate.
func missingPathAdvice(e *KnownError, c Container) string {
	const create = "DirectoryOrCreate"
	m := lists.First(c.Mounts, func(m *Mount) bool { return isBelow(e.Subject, m.Directory) })
	switch {
	case strings.HasPrefix(e.Subject, "/dev/"):
		return fmt.Sprintf("have the pod run on a node that has device %[1]s, or load its driver there (modprobe); a directory in the place of %[1]s would not help", e.Subject)
	case !strings.HasPrefix(e.Subject, "/"):
		return fmt.Sprintf("find out what removed the directory of %s from the node; a new pod mounts the volume again", e.Subject)
	case m == nil || m.Type == create:
		return fmt.Sprintf("create %s on the node, or have the pod run on a node that has it", e.Subject)
	}
	text := fmt.Sprintf("create %s on the node, or {recreate} with type %s for %s", e.Subject, create, m.name())
	if m.SubPath {
		text += ": with a subPath, the directory is not created otherwise"
	}
	return text
}

// mountErrors returns the meaning of an error at a mount point, and advice; the subject is its path and the error.
func mountErrors(subject string) [2]string {
	path, why, _ := strings.Cut(subject, ":")
	switch why {
	case "read-only file system":
		return [2]string{"mount point " + path + " does not exist, and is in a read-only file system", "create " + path + " in the image, or mount the volume elsewhere: it is below another mount that is read-only"}
	case "no such file or directory":
		return [2]string{"nothing can be mounted at " + path + ": " + why, "check the volume that is mounted at " + path + ": its hostPath, or a file of it, does not exist on the node, or exists no longer"}
	}
	return [2]string{"its mount at " + path + " is a directory on a file, or a file on a directory", "correct the mount at " + path + ": mount a directory on a directory, or one file with subPath, the name of a key that exists"}
}

// oldMountError matches an error of runc before version 1.0: in quotes within quotes, and with the mount point below the root of
// the container on the node, which is left out of the subject.
func oldMountError(reason string) *lazyregexp.Regexp {
	return lazyregexp.New(`mounting [\\"]+[^"\\]+[\\"]+ to rootfs .* at [\\"]+(?:/[^"\\]*/(?:merged|rootfs))?(/[^"\\]+)[\\"]+ caused [\\"]+.*` + reason)
}
