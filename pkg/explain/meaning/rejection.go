package meaning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// pressure is the beginning of the message with which a kubelet rejects a pod with the reason Evicted.
const pressure = "The node had condition: "

// rejections are reasons for which a kubelet does not admit a pod, as of Kubernetes 1.36; reasons with the prefix OutOf, one
// per resource, are matched separately.
var rejections = []string{
	"UnexpectedAdmissionError", "NodeAffinity", "TaintToleration", "NodeName", "NodePorts", "TopologyAffinityError", "AppArmor", "SysctlForbidden",
	"PodOSNotSupported", "PodOSSelectorNodeLabelDoesNotMatch", "InvalidNodeInfo", "UnexpectedPredicateFailureType",
	"InitContainerRestartPolicyForbidden", "PodFeatureUnsupported", "PodLevelResourcesNotAdmittedReason",
}

// isRejection reports whether a kubelet uses this reason and message for a pod that it does not admit.
func isRejection(reason, message string) bool {
	switch {
	case strings.HasPrefix(message, "Pod was rejected"), strings.HasPrefix(message, "Pod "+pressure):
		return true
	case reason == "Evicted":
		return strings.HasPrefix(message, pressure)
	}
	return strings.HasPrefix(reason, "OutOf") || slices.Contains(rejections, reason)
}

// rejectionRow is advice on a pod that the kubelet did not admit.
type rejectionRow struct {
	// pattern matches the reason, a space, and the message. $1 is its first group.
	pattern *lazyregexp.Regexp
	advice  string
}

const anotherNode = "; another node may take it"

// NotAdmitted is the trouble of a pending pod that its kubelet does not admit, and checks again.
const NotAdmitted TroubleKind = "NotAdmitted" // the kubelet of the node refuses the pod

var notAdmitted = row[TroubleKind]{kind: NotAdmitted, brief: "refused by the kubelet", text: "its kubelet refuses it", advice: "the kubelet of the node refused the pod, which never ran and has no log" + anotherNode}

// OfPodStatus returns why the kubelet does not admit a pending pod, from the reason and message of its status; nil for other reasons.
func OfPodStatus(reason, message string) *Trouble {
	if message = strings.TrimSpace(message); !isRejection(reason, message) {
		return nil
	}
	return &Trouble{Kind: NotAdmitted, Name: reason, Detail: cmp.Or(message, reason)}
}

var rejectionAdvices = []rejectionRow{
	{lazyregexp.New(`^NodeAffinity `), "compare the pod's node selector and affinity with the labels of the node, which the kubelet may not have known yet when it started" + anotherNode},
	{lazyregexp.New(`^TaintToleration `), "the node has a taint with effect NoExecute, which the scheduler did not know, or which nodeName ignores: {recreate} with a toleration for it" + anotherNode},
	{lazyregexp.New(`^NodePorts `), "another pod on the node has a hostPort of the pod: {recreate} without hostPort, or wait until that pod ends; another node may have it free"},
	{lazyregexp.New(`^SysctlForbidden .*forbidden sysctl: "([^"]+)"`), "{recreate} without sysctl $1 in its securityContext, or have the kubelets allow it (allowedUnsafeSysctls); each other pod fails, too"},
	{lazyregexp.New(`^AppArmor .*profile "([^"]+)" is not loaded`), "load AppArmor profile $1 on the node (apparmor_parser), have the pods run on nodes that have it (nodeSelector), or {recreate} without it in appArmorProfile of a securityContext"},
	{lazyregexp.New(`^AppArmor .*AppArmor is not enabled`), "have the pods run on nodes with AppArmor (nodeSelector), or {recreate} without appArmorProfile in a securityContext"},
	{lazyregexp.New(`^PodOS`), "{recreate} with nodeSelector kubernetes.io/os for the operating system that the pod template names (os), or correct that"},
	{lazyregexp.New(`^NodeShutdown `), "allow retries (backoffLimit): another node takes the next pod, as the scheduler soon knows that this one shuts down"},
	{lazyregexp.New(`^OutOfpods `), "the node runs as many pods as it may (maxPods of its kubelet): wait until pods of the node end" + anotherNode},
	{lazyregexp.New(`^OutOf(\S+) `), "other pods have taken what the node has of $1 since the scheduler looked: those of the system on a node that has just started, or of a second scheduler; allow retries (backoffLimit), as another node may take the next pod"},
	{lazyregexp.New(`^TopologyAffinityError `), "the node cannot give the pod its CPUs and devices from one NUMA node (topologyManagerPolicy of its kubelet): {recreate} with smaller requests" + anotherNode},
	{lazyregexp.New(`^UnexpectedAdmissionError .*(?:unavailable for|unhealthy devices) ([^\s,]+?)[.,](?:\s|$)`), "check the devices $1 of the node, and the log of their device plugin on it" + anotherNode},
	{lazyregexp.New(`^UnexpectedAdmissionError .*not enough cpus available`), "wait until pods that have CPUs of the node for themselves end (those with whole numbers of cpu, by cpuManagerPolicy static of its kubelet), or {recreate} with fewer" + anotherNode},
	{lazyregexp.New(`no set of running pods found to reclaim resources: \[\(res: ([^,]+),`), "the node has too little of $1 left: wait until pods of the node end" + anotherNode},
	{lazyregexp.New(`^UnexpectedAdmissionError .*(?:GPU is lost|fallen off the bus)`), "a GPU of the node no longer answers: keep pods away from the node (kubectl cordon) until a reboot, or a new GPU, has mended it" + anotherNode},
	{lazyregexp.New(`^UnexpectedAdmissionError .*rpc error: `), "look for the error in the log of the device plugin on the node, which refused the pod" + anotherNode},
	{lazyregexp.New(`node had condition: \[(\w+)`), "wait until the node no longer has the condition $1, or remove its cause" + anotherNode},
}

// shortage matches the kubelet's message about a pod for which its node has too little of a resource.
var shortage = lazyregexp.New(`^(?:Pod )?(?:Node didn't have enough resource: |.*: )?(\w[\w./-]*), requested: (\d+), used: (\d+), capacity: (\d+)\.?$`)

// Readable returns the message of a rejection with its amounts in the units of manifests, and that of an eviction with what the container
// used, and without the numbers of the node.
func Readable(message string) string {
	if m := shortage.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("%s requested: %s, used: %s, capacity: %s", m[1], amountOf(m[1], m[2]), amountOf(m[1], m[3]), amountOf(m[1], m[4]))
	}
	if !strings.HasPrefix(message, lowOnResource) {
		return message
	}
	short := threshold.ReplaceAllString(message, " … $1")
	short, _, _ = strings.Cut(short, ", has larger consumption")
	return short
}

// amountOf returns an amount of a resource, which the kubelet reports in bytes, or in thousandths of a CPU.
func amountOf(name, amount string) string {
	n, _ := strconv.ParseInt(amount, 10, 64)
	switch {
	case name == "cpu":
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	case n >= 1<<30:
		return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + "Gi"
	}
	return binary(amount)
}

// rejectionAdvice returns advice on a pod that the kubelet rejected with this message.
func rejectionAdvice(e *Ending, message string) string {
	if m := shortage.FindStringSubmatch(message); m != nil && len(m[2]) >= len(m[4]) && (len(m[2]) > len(m[4]) || m[2] > m[4]) { // The numbers are plain.
		return fmt.Sprintf("lower what the pod requests of %s, which is %s: its node has %s in all, without other pods", m[1], amountOf(m[1], m[2]), amountOf(m[1], m[4]))
	}
	for i := range rejectionAdvices {
		if m := rejectionAdvices[i].pattern.FindStringSubmatch(e.Reason + " " + message + ","); m != nil {
			return strings.ReplaceAll(rejectionAdvices[i].advice, "$1", m[len(m)-1])
		}
	}
	return notAdmitted.advice
}

// consumer matches what the kubelet reports about the container that used most of a resource that ran low.
var consumer = lazyregexp.New(`^The node was low on resource: ([-\w.]+)\..* Container (\S+) was using (\w+), (?:which exceeds its request of|request is) (\w+)`)

// lowOn matches the resource that a node ran low on. Pods cannot request those that are uncounted.
var (
	lowOn     = lazyregexp.New(`^The node was low on resource: (\w+)`)
	uncounted = map[string]string{
		"inodes": "free inodes on the node's disk: remove files of other pods and images that are not used, or have the pod write fewer files (an archive, or a volume of its own); a pod cannot request inodes",
		"pids":   "have the pods of the node start fewer processes and threads, or limit them for each pod (podPidsLimit of the kubelet); a pod cannot request them",
	}
)

// diskLimits match the messages about limits of the local disk of a pod, with the advice on each.
var diskLimits = []struct {
	pattern *lazyregexp.Regexp
	advice  string
}{
	{lazyregexp.New(`Usage of EmptyDir volume "([^"]+)" exceeds the limit "([^"]+)"`), "raise the sizeLimit of volume {1} (emptyDir), which is {2}, or have the pod write less to it, or to a claim (PersistentVolumeClaim) in its place"},
	{lazyregexp.New(`Container (\S+) exceeded its local ephemeral storage limit "([^"]+)"`), "raise resources.limits.ephemeral-storage of container {1}, which is {2}, or have it write to a volume with a claim, or less to its local disk and its log"},
	{lazyregexp.New(`exceeds the total limit of containers (\S+?)\.?(?:\s|$)`), "raise resources.limits.ephemeral-storage of the containers, {1} together, or have the pod write to a volume with a claim, or less to its local disk and its logs"},
	{lazyregexp.New(`exceeds the`), "raise the limit that the message names, or have the pod write to a volume with a claim, or less to its local disk"},
}

// diskLimitAdvice returns advice on a pod that was evicted because it wrote more than a limit allows, "" for other evictions.
func diskLimitAdvice(message string) string {
	for _, row := range diskLimits {
		if m := row.pattern.FindStringSubmatch(message); m != nil {
			m = append(m, "", "")
			return wording.Insert(row.advice, "{1}", m[1], "{2}", m[2])
		}
	}
	return ""
}

// evictionAdvice returns advice on a pod that was evicted because its node ran low on a resource.
func evictionAdvice(message string) string {
	m := consumerIn(message)
	switch {
	case uncounted[lowOn.Group(message)] != "":
		return uncounted[lowOn.Group(message)]
	case m == nil:
		return "request in the pod template what its containers use of the resource that ran low, so that they run on a node that has it"
	case usesLittle(m):
		return wording.Insert("free disk space on the node (images, logs, files of other pods), or enlarge its disk: container {container} used only {used} of it",
			"{container}", m[2], "{used}", binary(m[3]))
	}
	orVolume := map[string]string{"ephemeral-storage": ", or write to a volume with a claim"}[m[1]]
	return wording.Insert("request {resource} for container {container}, which used {used} and requests {request}, so that it runs on a node that has as much; or have it use less{or}",
		"{resource}", m[1], "{or}", orVolume, "{container}", m[2], "{used}", binary(m[3]), "{request}", m[4])
}

// consumerIn returns the resource that ran low, and the container that used it with its use and its request; nil if there are several.
func consumerIn(message string) []string {
	if message = strings.Join(strings.Fields(message), " "); strings.Count(message, " was using ") != 1 {
		return nil
	}
	return consumer.FindStringSubmatch(message)
}

// usesLittle reports whether the consumer did not fill the disk of its node.
func usesLittle(m []string) bool {
	used, err := resource.ParseQuantity(m[3])
	return err == nil && m[1] == "ephemeral-storage" && used.Value() < littleDisk
}

// MayFitElsewhere reports whether another node, or the same one later, may admit a pod that the kubelet rejected.
func (e *Ending) MayFitElsewhere() bool {
	return strings.HasPrefix(e.Reason, "OutOf") || slices.Contains([]string{"UnexpectedAdmissionError", "NodePorts", "TopologyAffinityError", "NodeAffinity", "Evicted"}, e.Reason)
}

// IsOwnDoing reports whether the kubelet evicted the pod for what it used itself, so that the next pod has the same fate.
func (e *Ending) IsOwnDoing(message string) bool {
	m := consumerIn(message)
	return e.Kind == EndEvicted && e.By == ByKubelet && (diskLimitAdvice(message) != "" || m != nil && !usesLittle(m))
}

// littleDisk is so little of a node's disk that it did not fill it.
const littleDisk = 256 << 20

// binary rounds an amount of bytes to a large unit: 18933736Ki is 18Gi.
func binary(amount string) string {
	q, err := resource.ParseQuantity(amount)
	if err != nil {
		return amount
	}
	value, unit := float64(q.Value()), 0
	units := []string{"", "Ki", "Mi", "Gi", "Ti"}
	for ; value >= 1024 && unit < len(units)-1; unit++ {
		value /= 1024
	}
	return strconv.FormatFloat(value, 'f', 0, 64) + units[unit]
}
