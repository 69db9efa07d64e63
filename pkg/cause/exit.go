package cause

import (
	"cmp"
	"fmt"
)

// OOMKilled is the reason of a container in which the kernel killed a process for lack of memory, and Lost that of one that its runtime
// lost track of.
const (
	OOMKilled = "OOMKilled"
	Lost      = "Unknown"
)

// signals are the names of the signals that end a process, by number, as on Linux for amd64 and arm64.
var signals = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}

// Signal returns the name of the signal that an exit code above 128 stands for, by the convention of shells and
// container runtimes; "" if there is no such signal.
func Signal(code int32) string {
	if n := code - 128; n > 0 && int(n) < len(signals) {
		return signals[n]
	}
	return ""
}

// reasonMeanings explain the reasons that container runtimes and kubelets report.
var reasonMeanings = map[string]string{
	"OOMKilled":              "it used more memory than its limit, or the node ran out of memory",
	Lost:                     "the container runtime lost track of it, as after a restart of the runtime or of the node",
	"ContainerStatusUnknown": "how it ended is unknown: the node was unreachable or rebooted",
	"DeadlineExceeded":       "the pod ran longer than its activeDeadlineSeconds",
}

// SegmentationFault is the exit code of a program that accessed invalid memory, which its log may explain.
const SegmentationFault = 139

// codeMeanings explain the exit codes that result from shells, runtimes and signals.
var codeMeanings = map[int32]string{
	126:               "the command was found but could not be executed: missing permission or wrong format",
	127:               "the command was not found in the image",
	130:               "it was interrupted",
	132:               "the processor of its node lacks an instruction that it uses",
	134:               "it aborted, as after a failed assertion",
	135:               "it accessed memory that could not be provided, as when /dev/shm or a disk is full",
	136:               "it made an arithmetic error, such as a division by zero",
	137:               "it did not stop within its grace period, or the node ran low on memory",
	SegmentationFault: "it accessed invalid memory, a bug in native code",
	141:               "it wrote to a pipe that no program reads any more",
	159:               "it made a system call that the security profile of its node or pod (seccomp) does not allow",
	143:               "it was asked to stop by a deletion, an eviction or a node shutdown",
}

// Meaning explains an exit code, given the runtime's reason; "" if the code has a meaning only to the program itself. It
// does not name the signal, which CodeText does.
func Meaning(code int32, reason string) string {
	if m, known := reasonMeanings[reason]; known || NeverRan(reason) {
		return m
	}
	if m, known := codeMeanings[code]; known {
		return m
	}
	if Signal(code) != "" {
		return "it was terminated by a signal"
	}
	return ""
}

// Faults reports whether the processor stopped the program that ended with this exit code, which could not say why: SIGILL, SIGFPE or SIGSEGV.
func Faults(code int32) bool { return code == 132 || code == 136 || code == SegmentationFault }

// NeverRan reports whether a container runtime uses this reason for a container that it could not start.
func NeverRan(reason string) bool { return reason == "StartError" || reason == "ContainerCannotRun" }

// ExitText describes the end of a container, after its name: "exited with code 137 (OOMKilled)". The exit code of a container
// that never ran means nothing.
func ExitText(code int32, reason string) string {
	if NeverRan(reason) {
		return "could not be started (" + reason + ")"
	}
	return "exited with " + CodeText(code, reason)
}

// CodeText formats an exit code with the runtime's reason, or else with its signal: "code 137 (OOMKilled)", "code 139
// (SIGSEGV)". All texts about exits use it.
func CodeText(code int32, reason string) string {
	if why := cmp.Or(Specific(reason), Signal(code)); why != "" {
		return fmt.Sprintf("code %d (%s)", code, why)
	}
	return fmt.Sprintf("code %d", code)
}
