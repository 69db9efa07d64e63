package meaning

import (
	"fmt"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// The kinds of KnownError about a container that its runtime cannot set up.
const (
	ErrorNoCommand       ErrorKind = "NoCommand"       // neither the image nor the pod template has a command
	ErrorUserNotFound    ErrorKind = "UserNotFound"    // the image does not have the user
	ErrorSubPath         ErrorKind = "SubPath"         // the subPath of a volume cannot be used
	ErrorMountOnFile     ErrorKind = "MountOnFile"     // a directory is mounted onto a file, or a file onto a directory
	ErrorMountReadOnly   ErrorKind = "MountReadOnly"   // the mount point does not exist, and cannot be created
	ErrorMountMissing    ErrorKind = "MountMissing"    // what is mounted does not exist
	ErrorMemoryTooLow    ErrorKind = "MemoryTooLow"    // the memory limit is too low for the container runtime
	ErrorGPU             ErrorKind = "GPU"             // the node's GPU driver or its container toolkit fails
	ErrorRuntimeHook     ErrorKind = "RuntimeHook"     // a hook of the container runtime fails
	ErrorSecurityProfile ErrorKind = "SecurityProfile" // the profile of seccomp or AppArmor is not on the node
)

// setupErrors are errors of the kubelet, containerd, CRI-O, runc and crun about a container that they cannot set up. The subject
// is a path, a user, a volume, or the message of a driver or a hook.
var setupErrors = []errorRow{
	{
		kind:     ErrorNoCommand,
		patterns: []errorPattern{{"no command specified", lazyregexp.New(`no command specified`), nil}},
		brief:    "no command",
		text:     "neither its image nor the pod template has a command",
		advice:   "set command of the container in the pod template",
	},
	{
		kind: ErrorUserNotFound,
		patterns: []errorPattern{
			{"unable to find user", lazyregexp.New(`unable to find user ([^\s:]+): `), nil},
			{"no users found", lazyregexp.New(`no users found`), nil},
		},
		brief:       "user not found",
		named:       "its image has no user %s",
		text:        "its image does not have the user that it is to run as",
		namedAdvice: "create user %s in the image (USER names it), or set runAsUser to a number",
		advice:      "create the user in the image (USER names it), or set runAsUser to a number",
	},
	{
		kind:        ErrorSubPath,
		patterns:    []errorPattern{{"subpath", lazyregexp.New(`failed to (?:prepare subPath|create subPath directory) for volumeMount "([^"]+)"`), nil}},
		brief:       "subPath",
		named:       "the subPath of its volume %s cannot be used",
		namedAdvice: "correct subPath for volume %s: it must be a directory or file in the volume that the node may create or open",
		text:        "the subPath of one of its volumes cannot be used",
		advice:      "correct subPath: it must be a directory or file in the volume that the node may create or open",
	},
	{
		kind: ErrorMountOnFile,
		patterns: []errorPattern{
			{"not a directory", lazyregexp.New(`error mounting "[^"]+" to rootfs at "([^"]+)": .*: not a directory`), nil},
			{"not a directory", lazyregexp.New("mount `[^`]+` to `([^`]+)`: Not a directory"), nil},
			{"not a directory", oldMountError("not a directory"), nil},
		},
		brief:       "file or directory",
		named:       "its mount at %s is a directory on a file, or a file on a directory",
		text:        "a directory is mounted on a file, or a file on a directory",
		namedAdvice: "correct the mount at %s: mount a directory on a directory, or one file with subPath, the name of a key that exists",
		advice:      "mount a directory on a directory, or one file with subPath, the name of a key that exists",
	},
	{
		kind: ErrorMountReadOnly,
		patterns: []errorPattern{
			{"read-only file system", lazyregexp.New(`error mounting "[^"]+" to rootfs at "([^"]+)": .*: read-only file system`), nil},
			{"read-only file system", oldMountError("read-only file system"), nil},
		},
		brief:       "mount point",
		named:       "mount point %s does not exist, and is in a read-only file system",
		text:        "a mount point does not exist, and is in a read-only file system",
		namedAdvice: "create %s in the image, or mount the volume elsewhere: it is below another mount that is read-only",
		advice:      "create the mount point in the image, or mount the volume elsewhere: it is below another mount that is read-only",
	},
	{
		kind: ErrorMountMissing,
		patterns: []errorPattern{
			{"no such file", lazyregexp.New(`error mounting "[^"]+" to rootfs at "([^"]+)": .*: no such file or directory`), nil},
			{"no such file", oldMountError("no such file or directory"), nil},
		},
		brief:       "mount missing",
		named:       "nothing can be mounted at %s: no such file or directory",
		text:        "nothing can be mounted: no such file or directory",
		namedAdvice: "check the volume that is mounted at %s: its hostPath, or a file of it, does not exist on the node, or exists no longer",
		advice:      "check the volumes of the container: a hostPath, or a file of one, does not exist on the node, or exists no longer",
	},
	{
		kind: ErrorMemoryTooLow,
		patterns: []errorPattern{
			{"too low; should be", lazyregexp.New(`memory limit \d+ too low; should be (at least \d+ bytes)`), nil},
			{"memory limit", lazyregexp.New(`OOM-killed \(memory limit too low\?\)|OOM: the memory limit could be too low`), nil},
		},
		brief: "memory limit",
		named: "its memory limit is too low to start a container (%s)",
		text:  "its memory limit is too low to start a container",
		advise: func(_ *KnownError, c Container) string {
			return fmt.Sprintf("raise the memory limit of container %s, and check its unit (128Mi, not 128m)", c.Name)
		},
	},
	{
		kind: ErrorGPU,
		patterns: []errorPattern{
			{"nvidia-container-cli", lazyregexp.New(`(?m)nvidia-container-cli: ([^\n,]+?)(?:,.*|: unknown|\.)*$`), nil},
			{"cdi devices", lazyregexp.New(`(unresolvable CDI devices .+?)(?:: unknown)?$`), nil},
		},
		brief:  "GPU driver",
		named:  "GPU setup on its node failed: %s",
		text:   "GPU setup on its node failed",
		advice: "check GPU driver, container toolkit and device plugin on the node, or have the pod run on another one",
	},
	{
		kind: ErrorRuntimeHook,
		patterns: []errorPattern{
			{"hook #", lazyregexp.New(`(?s)error running (?:\w+ )?hook #\d+: (?:.*stderr: )?(.+?)(?:: unknown)?$`), nil},
			{"executing hook", lazyregexp.New("error executing hook `([^`]+)`"), nil},
		},
		brief:  "runtime hook",
		named:  "a hook of its node's container runtime fails: %s",
		text:   "a hook of its node's container runtime fails",
		advice: "correct the hook on the node, or have the pod run on another one",
	},
	{
		kind: ErrorSecurityProfile,
		patterns: []errorPattern{
			{"apparmor profile not found", lazyregexp.New(`apparmor profile not found (\S+)`), nil},
			{"cannot load seccomp profile", lazyregexp.New(`cannot load seccomp profile "([^"]+)"`), nil},
		},
		brief:       "security profile",
		named:       "security profile %s is not on its node",
		text:        "its security profile is not on its node",
		namedAdvice: "load profile %s on the nodes, or correct seccompProfile or appArmorProfile in the pod template",
		advice:      "load the profile on the nodes, or correct seccompProfile or appArmorProfile in the pod template",
	},
}

// oldMountError matches an error of runc before version 1.0: in quotes within quotes, and with the mount point below the root of
// the container on the node, which is left out of the subject.
func oldMountError(reason string) *lazyregexp.Regexp {
	return lazyregexp.New(`mounting [\\"]+[^"\\]+[\\"]+ to rootfs .* at [\\"]+(?:/[^"\\]*/(?:merged|rootfs))?(/[^"\\]+)[\\"]+ caused [\\"]+.*` + reason)
}
