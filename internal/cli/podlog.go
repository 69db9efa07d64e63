package cli

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// defaultContainerAnnotation is kubectl's: the container that is meant when none is named.
const defaultContainerAnnotation = "kubectl.kubernetes.io/default-container"

// podLog is what is kept of a pod: what its logs need, and no more.
type podLog struct {
	uid        types.UID
	name       string
	index      int32 // reconcile.NoIndex for none
	attempt    int32 // 1-based; 0 until the book has numbered it
	created    time.Time
	phase      corev1.PodPhase
	why        string // the pod as a whole: why it failed, or is not scheduled
	first      string // the container that is meant when none is named
	containers []containerLog
}

// containerLog is a container, init containers first.
type containerLog struct {
	name       string
	hasLog     bool   // it has been started, if only before
	why        string // it has not: what for
	ended      bool   // it will not write any more
	failed     bool   // its last run has
	hasBefore  bool   // it was restarted, so --previous has something
	failedThen bool   // the run before has failed
}

func newPodLog(pod *corev1.Pod) *podLog {
	p := &podLog{
		uid: pod.UID, name: pod.Name, index: observe.Pod(pod).Index, attempt: toldAttempt(pod), created: pod.CreationTimestamp.Time,
		phase: pod.Status.Phase, why: podReason(pod), first: pod.Annotations[defaultContainerAnnotation],
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		policy := pod.Spec.RestartPolicy
		if c.RestartPolicy != nil {
			policy = corev1.RestartPolicy(*c.RestartPolicy)
		}
		p.containers = append(p.containers, newContainerLog(p.phase, c.Name, policy, pod.Status.InitContainerStatuses))
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if p.first == "" {
			p.first = c.Name
		}
		p.containers = append(p.containers, newContainerLog(p.phase, c.Name, pod.Spec.RestartPolicy, pod.Status.ContainerStatuses))
	}
	return p
}

// toldAttempt is the attempt that the pod's annotations tell: ours, or the failures of its index before it.
func toldAttempt(pod *corev1.Pod) int32 {
	if n, err := strconv.ParseInt(pod.Annotations[observe.AttemptAnnotation], 10, 32); err == nil && n > 0 {
		return int32(n)
	}
	if _, ok := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]; !ok {
		return 0
	}
	seen := observe.Pod(pod)
	return 1 + seen.Failures + seen.Ignored
}

func podReason(pod *corev1.Pod) string {
	if pod.Status.Reason != "" {
		return reasonAndMessage(pod.Status.Reason, pod.Status.Message)
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return reasonAndMessage(c.Reason, c.Message)
		}
	}
	return ""
}

func reasonAndMessage(reason, message string) string {
	if message == "" {
		return orNone(reason)
	}
	return orNone(reason) + ": " + message
}

func newContainerLog(phase corev1.PodPhase, name string, policy corev1.RestartPolicy, statuses []corev1.ContainerStatus) containerLog {
	c := containerLog{name: name, ended: isTerminal(phase)}
	i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return c
	}
	state, last := statuses[i].State, statuses[i].LastTerminationState.Terminated
	if waiting := state.Waiting; waiting != nil {
		c.why = reasonAndMessage(waiting.Reason, waiting.Message)
	}
	if ran := state.Terminated; ran != nil {
		c.failed = ran.ExitCode != 0
		c.ended = c.ended || policy == corev1.RestartPolicyNever || (policy == corev1.RestartPolicyOnFailure && !c.failed)
	}
	c.hasBefore = last != nil
	c.failedThen = last != nil && last.ExitCode != 0
	c.hasLog = state.Running != nil || state.Terminated != nil || last != nil
	return c
}

func isTerminal(phase corev1.PodPhase) bool {
	return phase == corev1.PodFailed || phase == corev1.PodSucceeded
}

// everFailed says that the last run has failed, or the one before.
func (c *containerLog) everFailed() bool { return c.failed || c.failedThen }

// hasFailed is true too for a pod that goes on after a container of it has failed.
func (p *podLog) hasFailed() bool {
	return p.phase == corev1.PodFailed ||
		slices.ContainsFunc(p.containers, func(c containerLog) bool { return c.everFailed() })
}

func (p *podLog) container(name string) *containerLog {
	for i := range p.containers {
		if p.containers[i].name == name {
			return &p.containers[i]
		}
	}
	return nil
}

// comparePodLogs is the order in which logs are read: failed pods first, by index, the newest attempt of an index
// first, because that is the one that decided; then the others, by index and attempt.
func comparePodLogs(a, b *podLog) int {
	failed := a.hasFailed()
	if failed != b.hasFailed() {
		if failed {
			return -1
		}
		return 1
	}
	attempts := cmp.Or(cmp.Compare(a.attempt, b.attempt), a.created.Compare(b.created))
	if failed {
		attempts = -attempts
	}
	return cmp.Or(cmp.Compare(a.index, b.index), attempts, cmp.Compare(a.name, b.name))
}

// podBook is the pods of a Job that are there, and the attempts of all that were ever seen.
type podBook struct {
	pods     map[types.UID]*podLog
	attempts map[types.UID]int32
	perIndex map[int32]int32 // how many pods were seen
}

func newPodBook() *podBook {
	return &podBook{pods: map[types.UID]*podLog{}, attempts: map[types.UID]int32{}, perIndex: map[int32]int32{}}
}

// replace takes all pods that there are.
func (b *podBook) replace(pods []*podLog) {
	slices.SortFunc(pods, func(x, y *podLog) int { return cmp.Or(x.created.Compare(y.created), cmp.Compare(x.name, y.name)) })
	clear(b.pods)
	for _, pod := range pods {
		b.put(pod)
	}
}

// put takes one pod. Where nothing tells its attempt, it is the order of creation within the index, as far as seen.
func (b *podBook) put(pod *podLog) {
	if _, known := b.attempts[pod.uid]; !known {
		b.perIndex[pod.index]++
		b.attempts[pod.uid] = b.perIndex[pod.index]
	}
	if pod.attempt == 0 {
		pod.attempt = b.attempts[pod.uid]
	}
	b.pods[pod.uid] = pod
}

// sorted returns the pods in the order of reading.
func (b *podBook) sorted() []*podLog {
	pods := make([]*podLog, 0, len(b.pods))
	for _, pod := range b.pods {
		pods = append(pods, pod)
	}
	slices.SortFunc(pods, comparePodLogs)
	return pods
}

// isIndexed says whether the pod has a completion index.
func (p *podLog) isIndexed() bool { return p.index != reconcile.NoIndex }
