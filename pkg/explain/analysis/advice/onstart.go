package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// maxUnfits is the maximum number of reasons with advice.
const maxUnfits = 3

// onUnschedulable returns advice on the reasons why no node can take the pod, with a command for each.
func onUnschedulable(in *facts.Facts, _ *Values, p *explain.Problem) (out []explain.Advice) {
	if a := p.Scheduling.Autoscaler; a != nil && a.Adds {
		return advise(words.AwaitScaleUp, "kubectl get nodes")
	}
	if text, command := p.Scheduling.Autoscaler.Advice(); text != "" {
		out = advise(text, command)
	}
	byLabels := len(out) > 0 && p.Scheduling.Autoscaler.Kind == meaning.PoolsUnfit // It stands for what the scheduler reports about labels.
	var advised []meaning.Unfit
	for _, u := range meaning.ForAdvice(p.Scheduling.Unfit) {
		isOther := byLabels && u.Kind != meaning.UnfitTaint && !u.IsAboutClaim()
		if text := u.Advice(p.Start.Claims); text != "" && len(out) < maxUnfits && !isOther && !isMinor(u, p.Scheduling.Unfit, len(out) > 0) {
			piece := advise(text, unfitCommand(in, u))
			piece[0].Change = changeBy(u.Kind)
			out, advised = appendNew(out, piece), append(advised, *u)
		}
	}
	if meaning.IsElsewhere(advised) {
		out[0].Elsewhere = true
	}
	out = onKueueNode(in, p.Scheduling.Unfit, out)
	if len(out) == 0 && len(p.Pods) > 0 {
		return advise(words.AskScheduler(in.Spec.Template.Spec.SchedulerName), kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0])))
	}
	return out
}

// onKueueNode returns advice on a pod that does not fit although Kueue admitted its Job, with or in place of the advice on the reasons.
func onKueueNode(in *facts.Facts, unfit []meaning.Unfit, reasons []explain.Advice) []explain.Advice {
	full := lists.First(unfit, func(u *meaning.Unfit) bool { return u.Kind == meaning.UnfitResource })
	switch queue := in.Job.Labels[kueue.QueueLabel]; {
	case kueue.Places(in.Job) && full != nil && full.Pinned != "":
		return append(advise(fmt.Sprintf(words.SeeWhatFills, full.Pinned), podsOfNode+shellWord(full.Pinned)), advise(words.PlaceAgain, kubectl(in.Job, "get workloads.kueue.x-k8s.io"))...)
	case kueue.Places(in.Job):
		reasons = slices.DeleteFunc(reasons, func(a explain.Advice) bool { return a.Change == explain.ToTolerations }) // The taint is of the chosen node.
		return append(advise(meaning.RepairPlace, kubectl(in.Job, "get workloads.kueue.x-k8s.io")), reasons...)
	case queue != "" && full != nil:
		return append(reasons, advise(fmt.Sprintf(words.KueueAdmitted, queue), "")...)
	}
	return reasons
}

// isMinor reports whether another reason matters more: the nodes that match are full, or there is advice on nodes that are not reserved.
func isMinor(u *meaning.Unfit, all []meaning.Unfit, advised bool) bool {
	lacksRoom := func(u meaning.Unfit) bool { return u.Kind == meaning.UnfitResource || u.Kind == meaning.UnfitPodCount }
	isMet := u.Kind == meaning.UnfitNodeAffinity && (advised || u.Name != "") && slices.ContainsFunc(all, lacksRoom)
	isCordoned := func(u meaning.Unfit) bool { return u.Kind == meaning.UnfitCordoned }
	return isMet || advised && (u.IsReserved() || u.IsForOthers() || u.IsByRole() && slices.ContainsFunc(all, isCordoned))
}

// unfitCommand returns the command that shows the object of a reason, "" if there is none.
func unfitCommand(in *facts.Facts, u *meaning.Unfit) string {
	switch {
	case u.Pinned != "" && slices.Contains([]meaning.UnfitKind{meaning.UnfitResource, meaning.UnfitPodCount, meaning.UnfitVolumeCount}, u.Kind):
		return "kubectl describe node " + shellWord(u.Pinned)
	case u.Kind != meaning.UnfitClaimMissing && u.IsAboutClaim() && u.Name != "":
		return kubectl(in.Job, "describe pvc %s", shellWord(u.Name))
	case u.Kind == meaning.UnfitClaimMissing, u.IsAboutClaim():
		return kubectl(in.Job, "get pvc")
	case u.Kind == meaning.UnfitDevices, u.Kind == meaning.UnfitDevicesBusy:
		return kubectl(in.Job, "describe resourceclaims")
	case u.Kind == meaning.UnfitNodeAffinity && len(u.Labels) > 0: // A selector would return none of the nodes.
		return "kubectl get nodes -L " + shellWord(strings.Join(u.Labels, ","))
	case u.Kind == meaning.UnfitNodeAffinity && u.Name != "":
		return "kubectl get nodes -l " + shellWord(u.Name)
	case u.Kind == meaning.UnfitResource && (strings.Contains(u.Name, "/") || u.IsHelpless): // What nodes offer decides.
		return "kubectl get nodes -o " + shellWord("custom-columns=NODE:.metadata.name,ALLOCATABLE:.status.allocatable."+strings.ReplaceAll(u.Name, ".", `\.`))
	case u.Kind == meaning.UnfitTaint && !u.IsState():
		return "kubectl get nodes -o custom-columns=NODE:.metadata.name,TAINTS:.spec.taints"
	}
	return cmp.Or(clusterCommands[u.Kind], podsCommand(in, u))
}

// withRules are the columns that show where pods run, and which pods each keeps away.
const withRules = "custom-columns=NODE:.spec.nodeName,POD:.metadata.name,RULES:.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"

// podsCommand returns the command that shows the pods because of which no node takes the pod, "" for other reasons.
func podsCommand(in *facts.Facts, u *meaning.Unfit) string {
	switch {
	case u.Kind == meaning.UnfitGang:
		return kubectl(in.Job, "describe podgroups")
	case u.Selector != "":
		return kubectl(in.Job, "get pods -o wide -l %s", shellWord(u.Selector))
	case u.Kind == meaning.UnfitPodAffinity && strings.HasPrefix(u.Name, "existing"):
		return "kubectl get pods -A -o " + withRules
	}
	return ""
}

// clusterCommands show what a reason is about, if that is in no namespace.
var clusterCommands = map[meaning.UnfitKind]string{
	meaning.UnfitNodeAffinity:   "kubectl get nodes --show-labels",
	meaning.UnfitTopologySpread: "kubectl get nodes --show-labels",
	meaning.UnfitTaint:          "kubectl describe nodes",
	meaning.UnfitResource:       "kubectl describe nodes",
	meaning.UnfitPodCount:       "kubectl describe nodes",
	meaning.UnfitCordoned:       "kubectl get nodes",
	meaning.UnfitNoNodes:        "kubectl get nodes",
	meaning.UnfitClassMissing:   "kubectl get storageclass",
	meaning.UnfitDriverMissing:  "kubectl get csinodes",
}

// onUnstartable returns advice on a container that the kubelet or the runtime cannot start, by its message.
func onUnstartable(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	c, message := &input.Container{Name: p.Container, Image: p.Image}, strings.Join(p.Details, " ")
	describe := kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0]))
	text, command := "", ""
	switch {
	case p.Start.Trouble != nil:
		text, command = words.TroubleAdvice(p), startCommand(in, p)
	case p.Start.Reason == "PostStartHookError":
		text, command = meaning.FixPostStartHook(p.Container), describe
	case p.Start.Reason == "CreateContainerConfigError" && p.Start.Error == nil:
		text, command = cmp.Or(meaning.SetupAdvice(message, containerOf(in, c)), fmt.Sprintf(words.FixContainerConfig, p.Container)), describe
	default:
		if meaning.StartErrorIn(message) == nil {
			command = describe
		}
		return onNoStart(in, c, message, command)
	}
	return advise(text, command)
}

// onProcessOOMKilled returns advice on a container that may not have finished its work.
func onProcessOOMKilled(in *facts.Facts, _ *Values, p *explain.Problem) []explain.Advice {
	out := advise(words.MemoryAdvice(p.Container, ptr.Deref(p.Run.MemoryLimit, input.MemoryLimit{}), p.Image != ""), "")
	switch {
	case p.Blocks:
		return append(out, advise(words.DeleteHeld, kubectl(in.Job, "delete pod %s", shellWord(p.Pods[0])))...)
	case p.Run.Exit.ExitCode == 0:
		out = append(out, advise(fmt.Sprintf(words.FailIfKilled, p.Container), "")...)
	}
	return append(out, advise(words.CheckResult, kubectl(in.Job, "logs %s -c %s", shellWord(p.Pods[0]), shellWord(p.Container)))...)
}

// onGated returns advice on pods with scheduling gates: on what keeps Kueue from admitting them, or on the controller that sets the gate.
func onGated(in *facts.Facts, v *Values, p *explain.Problem) []explain.Advice {
	switch {
	case p.Suspension.Hold != nil:
		return onQueueHold(in, p)
	case p.Controller == explain.Kueue:
		return advise(words.AskKueue, kubectl(in.Job, "get workloads.kueue.x-k8s.io"))
	}
	return onPod("describe pod %s")(in, v, p)
}

// onQueueHold returns advice on a Job that Kueue does not admit: whether waiting helps depends on the reason.
func onQueueHold(in *facts.Facts, p *explain.Problem) []explain.Advice {
	workload := kubectl(in.Job, "describe %s %s", kueue.Workloads, shellWord(p.Suspension.Hold.Workload))
	h, command, queue, clusterQueue := p.Suspension.Hold, workload, workload, workload
	if p.Suspension.Queue != "" {
		queue = kubectl(in.Job, "describe localqueues.%s %s", explain.Kueue, shellWord(p.Suspension.Queue))
		clusterQueue = fmt.Sprintf("kubectl describe clusterqueues.%s $(%s -o jsonpath='{.spec.clusterQueue}')", explain.Kueue, kubectl(in.Job, "get localqueues.%s %s", explain.Kueue, shellWord(p.Suspension.Queue)))
	}
	if h.QueueKind == "ClusterQueue" && h.QueueName != "" {
		clusterQueue = "kubectl describe clusterqueues." + explain.Kueue + " " + shellWord(h.QueueName)
	}
	switch h.Kind {
	case kueue.NotResumed:
		command = "kubectl logs deployment/kueue-controller-manager -n kueue-system"
	case kueue.NotRequeued, kueue.LeftEvicted:
		command = kubectl(in.Job, "delete %s %s", kueue.Workloads, shellWord(h.Workload))
	case kueue.QuotaInUse, kueue.BorrowingLimit, kueue.Other:
		command = clusterQueue
	case kueue.Deactivated:
		if h.MaxSeconds != nil && in.Job.Labels[kueue.MaxTimeLabel] != "" {
			command = kubectl(in.Job, "label job %s %s=%d --overwrite", jobWord(in.Job), kueue.MaxTimeLabel, 2**h.MaxSeconds)
		}
	case kueue.QuotaTooSmall, kueue.NoResource, kueue.NotSelected, kueue.FlavorMismatch:
		command = queue
	case kueue.FlavorMissing:
		command = "kubectl get resourceflavors." + explain.Kueue
	case kueue.InvalidRequests:
		command = kubectl(in.Job, "describe limitrange")
	case kueue.QueueMissing, kueue.QueueGone, kueue.NoQueue:
		command = kubectl(in.Job, "get localqueues.%s", explain.Kueue)
	case kueue.QueueStopped, kueue.QueueInactive:
		command = map[bool]string{true: clusterQueue, false: queue}[h.QueueKind == "ClusterQueue"]
	}
	out := advise(h.Advice(), command)
	if h.Kind == kueue.Deactivated {
		out = append(out, advise(words.ActivateWorkload, kubectl(in.Job, `patch %s %s --type merge -p '{"spec":{"active":true}}'`, kueue.Workloads, shellWord(h.Workload)))...)
	}
	return out
}

const (
	podsOfNode   = "kubectl get pods -A --field-selector spec.nodeName=" // of the network plugin, or a CSI driver
	describeNode = "kubectl describe node "
)

// nodeCommands show what a trouble of a node is about; the name of the node follows.
var nodeCommands = map[meaning.TroubleKind]string{
	meaning.NetworkNotReady: podsOfNode, meaning.NetworkDenied: podsOfNode, meaning.NetworkPlugin: podsOfNode, meaning.NetworkNoServer: podsOfNode,
	meaning.DeviceDriver: podsOfNode, meaning.DriverMissing: podsOfNode,
	meaning.NodeDisk: describeNode, meaning.NodeMemory: describeNode, meaning.NodeProcesses: describeNode, meaning.NotAdmitted: describeNode,
}

// isOfCluster reports whether a node or the cluster is at fault, and not the pod template.
func isOfCluster(p *explain.Problem) bool {
	ofNode := []explain.ProblemKind{explain.ProblemPodNotEnded, explain.ProblemNodeGone, explain.ProblemTerminatingStuck, explain.ProblemContainerStopped}
	return slices.Contains(ofNode, p.Kind) || p.Start.Trouble.IsElsewhere() || p.Start.Error.MayPass() || p.Refusal.IsElsewhere() || meaning.IsElsewhere(p.Scheduling.Unfit)
}

// otherImage returns the command that runs another image in the container, which a user completes; "" if the Job, or the
// container, comes from elsewhere.
func otherImage(in *facts.Facts, container string) string {
	if hasSource(in) || facts.OwnerOf(in.Job) != nil || in.IsInjected(container) {
		return ""
	}
	image := "IMAGE"
	if in.HasSeveralContainers() {
		image = container + "=" + image
	}
	return kubectl(in.Job, "batchjob retry %s --replace --image %s", jobWord(in.Job), shellWord(image))
}

// startCommand returns the command that shows the object of the startAdvice, "" if there is none.
func startCommand(in *facts.Facts, p *explain.Problem) string {
	describe, node := kubectl(in.Job, "describe pod %s", shellWord(p.Pods[0])), ""
	if pod := activePod(in, p.Pods[0]); pod != nil {
		node = pod.Node
	}
	t := p.Start.Trouble
	switch {
	case p.Run.Ending != nil, p.Kind == explain.ProblemCrashLoop:
		return describe // It shows the probe and the message of the probe or of the runtime.
	case p.Start.Reason == explain.InvalidImageName, t.IsWrongImage() && t.Kind != meaning.Unexplained:
		return otherImage(in, p.Container)
	case t == nil:
		return slowStartCommand(p)
	case t.Kind == meaning.ObjectMissing, t.Kind == meaning.KeyMissing:
		return objectCommand(in, t)
	case t.Kind == meaning.ClusterRegistry:
		return explain.Kubectl(t.Name, "create rolebinding image-puller-%[1]s --clusterrole=system:image-puller --serviceaccount=%[1]s:%[2]s", shellWord(in.Job.Namespace), shellWord(facts.Account(in)))
	case t.Kind == meaning.VolumeGone, t.Kind == meaning.MountBroken:
		return kubectl(in.Job, "delete pod %s", shellWord(p.Pods[0]))
	case t.Kind == meaning.ClaimUnusable:
		return kubectl(in.Job, "describe pvc %s", shellWord(t.Name))
	case t.Kind == meaning.MountTimeout && len(p.Start.Claims) == 1: // It shows the access modes, and the pods that use the claim.
		return kubectl(in.Job, "describe pvc %s", shellWord(p.Start.Claims[0].Name))
	case t.Kind == meaning.WrongNode:
		return "kubectl describe pv " + shellWord(t.Volume)
	case nodeCommands[t.Kind] != "" && node != "":
		return nodeCommands[t.Kind] + shellWord(node)
	case t.Kind == meaning.MountTimeout, t.Kind == meaning.Volume, t.Kind == meaning.VolumeAttach, t.Kind == meaning.Sandbox, t.Kind == meaning.Image, t.Kind == meaning.Devices:
		return describe // It shows the whole message.
	}
	return troubleCommands[t.Kind]
}

// troubleCommands show what a trouble is about, if that is in no namespace.
var troubleCommands = map[meaning.TroubleKind]string{
	meaning.VolumeInUse: "kubectl get volumeattachments", meaning.NoDriverObject: "kubectl get csidrivers",
}
