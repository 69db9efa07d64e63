package words

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// ShortLog is the number of lines of a log that a short answer shows.
const ShortLog = 3

// Advice on failures, and on a Job that failed.
const (
	NothingToDo         = "nothing has to be done if the output of the pod that succeeded is right: failed pods of a complete Job do not count"
	KeepOutput          = "to read logs later, collect them outside of the pods (a log collector): a pod that has ended goes with its node"
	AllowRetries        = "to have a %s pod replaced, {recreate} with a backoffLimit above %d"
	EndIgnoredFailures  = "set activeDeadlineSeconds, or change the action of the rule to Count: ignored failures are retried forever"
	SetCompletions      = "to have failed pods replaced until enough have succeeded, {recreate} with completions: without it, no pod is created after the first success"
	RaiseOn             = "if the command no longer runs, continue what it began"
	NotOnJob            = ": the annotation of the Job itself does not count"
	AvoidPreemption     = "to avoid preemption, give its pods a higher priority (priorityClassName), or the cluster more room"
	RenameAnnotation    = "rename annotation %s of the pod template to %s: the controller no longer reads the former name"
	IgnoreBefore        = IgnoreDisruptions + ", before rule %d, which matched the exit code of the pod that was stopped"
	IgnoreDisruptions   = "to keep disruptions from counting, add a podFailurePolicy rule with action Ignore for the pod condition DisruptionTarget"
	FailAtOnce          = "if a retry cannot fix this failure, fail the Job at once: add a podFailurePolicy rule with action FailJob for its exit code"
	ReleasePods         = "find the webhooks and policies that change or deny updates of pods, and have them match only CREATE: the finalizer is then removed automatically, and nothing has to run again"
	RaiseBackoffLimit   = "backoffLimit %d is for all pods of the Job together: if some of many pods may fail, {recreate} with a larger one"
	LimitEachIndex      = "to keep the failures of one index from stopping the others, {recreate} with backoffLimitPerIndex: backoffLimit counts the failures of all indexes together"
	FollowNextLog       = "follow the log of the next run (kubectl batchjob logs --follow): it may show what takes long, and the log of this run is gone with its pods"
	GiveMoreTime        = "give the Job more time (activeDeadlineSeconds)"
	OrMorePods          = ", or run more pods at once (parallelism)"
	AwaitScaleUp        = "wait for the node that the autoscaler adds; if it becomes ready and the pod stays, its labels, taints or free resources do not fit the pod"
	StartBeforeDeadline = "resolve what kept its pods from starting; activeDeadlineSeconds also counts while they wait"
	MakeRepeatable      = "have the program start over after a failed attempt, or allow no retries, which fail on what the first one left: {recreate} with backoffLimit 0"
	ExitCleanly         = "make container %[1]s exit with code 0 when it is stopped%[2]s, or {recreate} with it as a native sidecar (an init container with restartPolicy Always): the exit code of a sidecar does not count"
	PrePull             = "give the Job more time (activeDeadlineSeconds), which also counts while its image is pulled, or have the image on the nodes before"
	KeepSidecarRunning  = "have the command of container %s go on running, as a sidecar has to, or {recreate} with it as an ordinary init container (without restartPolicy: Always), which has to end"
	EndHanging          = "if it hangs, delete the Job; activeDeadlineSeconds ends such a Job, and can be set while it runs"
	StopJob             = FindDeleter + "; to stop the Job, delete or suspend it, not its pods"
	DeleteByHand        = "delete it, with its pods, if nobody needs it"
	SetTTL              = "to have it deleted an hour after its end, set ttlSecondsAfterFinished, which can be set at any time"
	LeaveToArgoCD       = "remove ttlSecondsAfterFinished: Argo CD waits for a hook that is deleted before it has seen its end; its hook-delete-policy deletes hooks"
	KeepForHelm         = "leave out ttlSecondsAfterFinished, or make it longer than Helm waits (--wait-for-jobs, or for a hook), which may report success once the failed Job is deleted; bundle saves now what there is about it"
	ReadAllLogs         = "read the logs of all failed pods"
	ReadLogsOfFailed    = "read the logs of the failed pods"
	ReadWholeLog        = "read the whole log"
	LookAtAwaited       = "look at %s, and find out what keeps it from being ready: the Job goes on once it is"
	FindAwaitedPods     = "find the pods that are not ready, and what keeps them from it: the Job goes on once they are"
	ReadSinceWhen       = "read since when it waits"
	LookInside          = "see what the processes of container %s do (in an image without ps: kubectl debug --target)"
	LookAtProxy         = "look for connections that container %s refuses or keeps waiting: those of the pod go through it"
	ReadOutputOfPod     = "read what its pod printed"
	ReadOutput          = "read what its pods printed"
	DebugCopy           = "start a copy of the pod with a shell, and run the command of the container there"
	DebugSilent         = "nothing says why it exited: " + DebugCopy
	FindDeleter         = "find out what deletes or evicts the Job's pods (a node drain, a cleanup, a person); the API server's audit log shows it"
	FindRemover         = "find out what deletes the Job's pods (a node drain, a cleanup, a person); bundle or a log collector keeps their logs"
	KeepFailedPods      = "to keep the logs, {recreate} with restartPolicy Never: failed pods then stay, while with OnFailure the controller deletes the pod when backoffLimit is used up"
	KeepLoggingPods     = "to keep the log of each failure, {recreate} with restartPolicy Never: failed pods then stay; more time does not help a container that always fails"
	RerunMissing        = "after fixing the cause, rerun only what is missing (change the Job with --image, --set-env, --limits)"
	RerunWithMoreMemory = "rerun what is missing with more memory"
	RerunWithVariable   = "rerun what is missing with the variable"
	RerunWithMoreTime   = "rerun what is missing with more time"
	RetryOriginal       = "retry the original Job"
)

// Advice on problems.
const (
	RaiseParallelism      = "raise parallelism to start pods"
	FixRuleNames          = "fix the rule names: lint shows how, and create checks them"
	StartController       = "check whether the controller is running, or start it"
	RunWithBuiltIn        = "have the built-in controller run it: replace the Job with one without managedBy, which cannot be changed"
	CheckBuiltIn          = "check whether kube-controller-manager is running"
	AskKueue              = "find out why Kueue does not admit it"
	CheckKueue            = "check whether Kueue's controller runs (here as its manifests install it), and whether its configuration covers the Job: integrations, managedJobsNamespaceSelector"
	AskKueueAboutOwner    = "find out why Kueue manages the Job itself: managedJobsNamespaceSelector and manageJobsWithoutQueueName in its configuration select the Jobs without a queue"
	AskOwner              = "check why its owner keeps it suspended"
	Resume                = "resume it"
	AwaitNode             = "check whether the node comes back"
	DeleteNode            = "if the node will not come back, delete its Node object, so that its pods are removed"
	CheckResult           = "check its log and its result for missing work"
	FindUpdateRejecter    = "find out whether an admission policy or webhook rejects changes of the Job: this dry run changes nothing, and its error names what rejects it"
	CheckGarbageCollector = "check whether kube-controller-manager is running: its garbage collector removes the finalizer"
	CheckPodsLeft         = "check which of its pods are left"
	RemovePod             = "once it is sure that its containers no longer run, remove the pod's object, so that the Job goes on"
	CheckKubelet          = "check whether the node is ready, and the logs of its kubelet and container runtime: a restart of the kubelet may report the end of the container"
	DeleteUnended         = "if the pod stays Running, delete it: the Job goes on with its end, or with another pod, which does the work again"
	PlaceAgain            = "to have Kueue place its pods anew, delete the Workload of the Job: Kueue then suspends the Job, which ends all its running pods, and admits it again when its queue has room"
	DeleteHeld            = "delete the pod, which then counts as failed, so that another one is created"
)

// Formats of advice with names.
const (
	CreateRunning        = "take suspend: true out of spec.jobTemplate of CronJob %s: otherwise, it creates each Job suspended"
	ResumeAfter          = "find out why %[1]s suspended the Job: it may resume it by itself, and may suspend it again if you do"
	ToChange             = "to change its template, " // begins advice on what the Job comes from, if its cause may be elsewhere
	changeCronJob        = "change spec.jobTemplate of CronJob %s: its next Job has it"
	CorrectImageOf       = "to run another image, correct spec.jobTemplate of CronJob %s, and delete this Job, which keeps its pod template"
	MoreRetries          = "if that server was only not ready yet, {recreate} with a backoffLimit above %d: each attempt comes later than the one before"
	ReplaceLater         = "if pod %s failed because pod %s was still terminating, {recreate} with podReplacementPolicy Failed: a pod is then replaced only after it has ended"
	CorrectImageName     = "{recreate} with the correct name of the image"
	EndWithFailed        = "have %s end, too, when container %s fails; activeDeadlineSeconds ends such a pod, and can be set while the Job runs"
	RaiseMemoryLimits    = "raise the memory limits of containers %s, or make them use less memory"
	Checkpoint           = "index %d lost %d pods, and each starts over: save checkpoints, so that the next pod continues where the last one was"
	Unpin                = "{recreate} without nodeName %s, which pins its pods to that node whatever happens to it"
	GiveJobsMoreTime     = "{recreate} with an activeDeadlineSeconds above %d, or have it do its work in less time"
	FindOtherUser        = "find out whether a pod on another node uses claim %s: with access mode ReadWriteOnce, one node at a time can mount it; otherwise check the CSI driver of its volume"
	FixContainerConfig   = "correct env, volumeMounts or securityContext of container %s, whichever the message is about, or the object that it names"
	FailIfKilled         = "make container %s exit with another code than 0 if one of its processes is killed, so that the pod fails"
	MisspelledController = "replace the Job: its managedBy %s looks like a misspelling of %s, and the field cannot be changed"
	StartOtherController = "start the controller for managedBy %s"
	FindPolicyRemover    = "find out which admission webhook or policy changes the pods: the Job's template has restartPolicy Always for container %s, and without it the container is no sidecar; an old webhook drops fields that it does not know"
	CheckServers         = "check whether %s can be reached from its pods: the Service, and the pods behind it"
	IndexTheFollowers    = "{recreate} with completionMode: Indexed: the leader that the webhook waits for is the pod of index 0, and pods of a NonIndexed Job have no index"
	SeeWhatFills         = "see what fills node %s: Kueue has admitted the Job and placed its pod there (topology), so that no other node may take it"
	KueueAdmitted        = "if Kueue has admitted the Job through queue %s, its ClusterQueue has more quota than the nodes have room: lower nominalQuota, or have an admission check (ProvisioningRequest) add nodes before"
	EndWithError         = "have the program end with an exit code other than 0 after an error: the Job then fails when its work does"
	EndAtError           = "have the script of container %s end at its first error (set -e, with set -o pipefail in bash): the Job then fails when its work does"
	ShowExitCode         = "have the command of container %s end with the exit code of its program, without %s: the Job then fails when its program does"
	ReadSidecarLog       = "read the log of sidecar %s, too, which may have the cause"
	ExitWithZero         = "have container %s exit with 0 when the work is done or it is stopped (SIGTERM): restartPolicy OnFailure starts it again after any other exit code"
	DeleteNow            = "when you have read the log of container %s, delete the Job, unless %s still has work: its pod holds its node, and without activeDeadlineSeconds, nothing ends it"
	ReadLogOf            = "read the log of container %s"
	CheckDone            = "check whether the work of %s is complete: a rerun or the next attempt does it again"
	AllowRestartOfNode   = "look for a restart of the node, or of its container runtime, at that time, and allow retries (backoffLimit): the work of the container was cut off"
	PullAgain            = "remove image %[1]s from the node (crictl rmi) and have it pulled again, as its copy there may be damaged, or use another version of it: %[2]s is in its own ENTRYPOINT or CMD, not in the pod template"
	FixWorkingDir        = "correct workingDir %[1]s of container %[2]s: the container runtime creates it if image %[3]s lacks it, and cannot; or mount a volume there, such as an emptyDir"
	FixRuntime           = "look into the log of the runtime behind RuntimeClass %[1]s on its node, or {recreate} without runtimeClassName %[1]s to see whether it starts with the default one"
	FixStart             = "if its pods start on other nodes, see what the container runtime logs on this one; otherwise correct command, volumeMounts or securityContext of container %s, whichever the message is about"
)

// ChangeOwner returns the advice to change the owner of a Job.
func ChangeOwner(o *explain.Owner, c explain.Change) string {
	if o.Kind == "JobSet" {
		return fmt.Sprintf("change the manifest of JobSet %s, and create the JobSet again: its templates cannot be changed", o.Name)
	}
	source := wording.Join(" in ", o.Settings[c], cmp.Or(o.Source, o.Kind+" "+o.Name))
	return fmt.Sprintf("change %s, not this Job: its controller creates the Job", source)
}

// Tolerate returns advice on pods that a NoExecute taint ends again and again; pinned is the nodeName of the pod template, or "".
func Tolerate(pinned string) string {
	if pinned != "" {
		return fmt.Sprintf("{recreate} with a toleration for the NoExecute taints of node %[1]s, or without nodeName %[1]s, which pins its pods to that node in spite of its taints", pinned)
	}
	return "{recreate} with a toleration for the NoExecute taints of the nodes, or with a nodeSelector for nodes without them"
}

// FindUnended returns advice on a pod that its kubelet has not ended.
func FindUnended(p *explain.Problem) string {
	if t := p.Deletion.Trouble; t != nil {
		return t.Advice("")
	}
	return "find out why its node does not end the pod: its events say if the container runtime cannot stop it, and a process may hang (storage, a GPU); a restart of the node ends it"
}

// ForgoPodGroup returns advice on workload-aware scheduling; asked is whether spec.scheduling requests it.
func ForgoPodGroup(asked bool) string {
	text := "{recreate} without managedBy, for the built-in controller, or with your own PodGroup named in spec.template.spec.schedulingGroup"
	if asked {
		text += "; without spec.scheduling, its pods are scheduled one by one"
	}
	return text
}

// EndWithMain returns advice on containers that keep running after another one has ended.
func EndWithMain(running []string, main string) string {
	it, serve, as := "it", "serves", "a native sidecar (an init container"
	if len(running) > 1 {
		it, serve, as = "them", "serve", "native sidecars (init containers"
	}
	end := fmt.Sprintf("if %s only %s container %s, make %s exit with that container", ContainersText(running), serve, main, it)
	if stop := helpers[running[0]].stop; stop != "" && len(running) == 1 {
		end = fmt.Sprintf("make %s exit with container %s (%s)", ContainersText(running), main, stop)
	}
	return end + ", or {recreate} with " + it + " as " + as + " with restartPolicy Always): sidecars do not keep a pod running"
}

// sidecarName matches names of containers that most likely serve the others of their pod.
var sidecarName = lazyregexp.New(`(?i)proxy|sidecar|agent|logs?\b|logg|fluent|vector|envoy|dind|daemon|server|exporter|metrics|monitor|collector|otel|sql|redis|\bdb\b`)

// IsSidecarName reports whether a container of this name most likely serves the others of its pod.
func IsSidecarName(name string) bool { return sidecarName.MatchString(name) }

// helper is a well-known container that serves the others of a pod: how its pods do without it, and how it is stopped.
// Its injector knows pods by labels and annotations that begin with mark, and sets some of them.
type helper struct{ mark, without, stop string }

// helpers are by their names.
var helpers = map[string]helper{
	"istio-proxy":                  {"sidecar.istio.io/", `keep Istio's proxy out of the Job's pods with the label sidecar.istio.io/inject: "false" in the pod template, have it injected as a native sidecar (ENABLE_NATIVE_SIDECARS)`, "POST to localhost:15020/quitquitquit"},
	"linkerd-proxy":                {"linkerd.io/", "keep Linkerd's proxy out of the Job's pods with the annotation linkerd.io/inject: disabled in the pod template, have it injected as a native sidecar (config.beta.linkerd.io/proxy-enable-native-sidecar)", "config.linkerd.io/proxy-admin-shutdown: enabled, then POST to localhost:4191/shutdown"},
	"cloudsql-proxy":               cloudSQL,
	"cloud-sql-proxy":              cloudSQL,
	"vault-agent":                  {"vault.hashicorp.com/", `have Vault's agent run as an init container only, with the annotation vault.hashicorp.com/agent-pre-populate-only: "true" in the pod template`, ""},
	"daprd":                        {"dapr.io/", `keep Dapr's sidecar out of the Job's pods with the annotation dapr.io/enabled: "false" in the pod template`, "POST to localhost:3500/v1.0/shutdown"},
	"consul-dataplane":             consul,
	"consul-connect-envoy-sidecar": consul,
	"datadog-agent-injected":       {"agent.datadoghq.com/", "keep Datadog's agent out of the Job's pods: remove the label agent.datadoghq.com/sidecar from the pod template, or let a newer agent end with the other containers", ""},
}

var (
	cloudSQL = helper{"", "run the Cloud SQL proxy as a native sidecar", "--quitquitquit of its version 2, then POST to localhost:9091/quitquitquit"}
	consul   = helper{"consul.hashicorp.com/", `keep Consul's proxy out of the Job's pods with the annotation consul.hashicorp.com/connect-inject: "false" in the pod template`, "sidecar-proxy-lifecycle annotations, then POST to localhost:20600/graceful_shutdown"}
)

// IsMarked reports whether the injector of a well-known container has the pods of a template in view: if that has the container, too, it was
// copied from a pod.
func IsMarked(name string, template *metav1.ObjectMeta) bool {
	mark := helpers[name].mark
	isTheirs := name == "istio-proxy" || name == "linkerd-proxy" // Hardly a template has these names of its own.
	return isTheirs || mark != "" && strings.Contains(fmt.Sprint(template.Labels, template.Annotations), mark)
}

// KeepOut returns advice on keeping a well-known container that a webhook adds out of the pods, or stopping it; "" for other containers.
func KeepOut(name string) string {
	h := helpers[name]
	if h.stop == "" {
		return h.without
	}
	return h.without + ", or stop it when the work is done" + wording.InBrackets(h.stop)
}

// StartAfterProxy returns advice on a container that did not reach a server while the proxy of its pod, which carries its connections, may not
// have been ready; "" for other containers.
func StartAfterProxy(container, proxy string) string {
	how := map[string]string{"istio-proxy": "annotation proxy.istio.io/config: '{\"holdApplicationUntilProxyStarts\": true}'", "linkerd-proxy": "annotation config.linkerd.io/proxy-await: enabled"}[proxy]
	if how == "" {
		return ""
	}
	return fmt.Sprintf("have container %[1]s start once %[2]s is ready (%[3]s in the pod template), or try again: until then, %[2]s refuses its connections, whatever the server does", container, proxy, how)
}

// FindInjector returns advice on containers that the Job's pods have and its template does not.
func FindInjector(names []string) string {
	it := wording.Form(len(names), "it", "them")
	return fmt.Sprintf("find out what adds %[1]s to the pod, as the Job's pod template does not have %[2]s: most webhooks have a label or annotation that keeps %[2]s out, or adds %[2]s as %[3]s",
		ContainersText(names), it, wording.Form(len(names), "a native sidecar", "native sidecars"))
}

// StopSidecars returns advice on sidecars that do not stop.
func StopSidecars(names []string) string {
	return fmt.Sprintf("make %s exit on SIGTERM, or {recreate} with a shorter terminationGracePeriodSeconds", sidecarsText(names))
}

// MemoryAdvice returns advice on a container that ran out of memory. ofPod is whether the limit was read from the pod,
// where an empty limit means that there is none.
func MemoryAdvice(container string, limit input.MemoryLimit, ofPod bool) string {
	switch {
	case limit.Value == "" && ofPod:
		return fmt.Sprintf("give container %s a memory request and a memory limit: it has none, and the memory of its node or pod was used up", container)
	case limit.Value == "":
		return fmt.Sprintf("set a memory request and limit for container %s in the Job's template, which has no limit; a LimitRange may have set one in its pods", container)
	case limit.From == input.LimitOfAllOfPod:
		return fmt.Sprintf("raise the memory limit of the pod, which is %s for all its containers together (spec.resources), or make container %s use less memory", limit.Value, container)
	case limit.From != input.LimitOfTemplate:
		return fmt.Sprintf("set a higher memory limit for container %s in the Job's template, or make it use less memory: %s", container, limitOrigin(&limit))
	}
	return fmt.Sprintf("raise the memory limit of container %s, which is %s, or make it use less memory", container, limit.Value)
}

// ExitAdvice returns advice on an exit code with a conventional meaning in shells, "" for other codes.
func ExitAdvice(container, image string, code int32) string {
	if known := meaning.OfExit(code); known != nil {
		return known.Advice(meaning.Container{Name: container, Image: image})
	}
	switch code {
	case 132:
		return fmt.Sprintf("use an image of container %s that is built for the processors of its nodes, or have the pods run on nodes with newer ones; the image is %s", container, image)
	case cause.SegmentationFault:
		return fmt.Sprintf("use another version of the image of container %s, which is %s: the program or its native libraries have the bug, or do not fit the node (processor, GPU driver); in Python, PYTHONFAULTHANDLER=1 in env shows where", container, image)
	case 143, 137:
		return fmt.Sprintf("find out what stopped container %s: a deletion, an eviction, a liveness probe, or a node that shut down or ran low on memory", container)
	}
	return ""
}

// EndLoop returns advice on restarts that no limit ends, "" for others.
func EndLoop(p *explain.Problem) string {
	if !p.Run.Uncounted || !p.Endless || p.Run.Exit == nil {
		return ""
	}
	switch p.Run.RestartedBy {
	case explain.RestartedByRules:
		return fmt.Sprintf("set activeDeadlineSeconds, or {recreate} with restartPolicyRules that do not restart container %s after exit code %d", p.Container, p.Run.Exit.ExitCode)
	case explain.RestartedByContainer:
		return fmt.Sprintf("set activeDeadlineSeconds, or {recreate} without the restartPolicy of container %s", p.Container)
	}
	return ""
}
