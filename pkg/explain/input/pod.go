package input

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/secrets"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// maxText is the number of bytes kept of a pod's message: the maximum size of a termination message.
const maxText = 4096

// PodOf converts a pod to the data that explanations use. The result shares only strings with pod.
func PodOf(pod *corev1.Pod) *Pod {
	p := &Pod{
		Pod:         observe.Pod(pod),
		Node:        shared(pod.Spec.NodeName),
		StartedAt:   firstStart(pod),
		Attempt:     observe.Attempt(pod),
		Scheduling:  slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled }),
		PullSecrets: len(pod.Spec.ImagePullSecrets) > 0,
		Unusual:     &nothingUnusual,
	}
	if u := unusualOf(pod); !u.isEmpty() {
		p.Unusual = &u
	}
	p.noteContainers(pod)
	return p
}

// nothingUnusual is shared by most pods. It is never changed.
var nothingUnusual Unusual

// skipped is the reason of YuniKorn for a pod whose queue has no quota left.
const skipped = "SchedulingSkipped"

func (u *Unusual) isEmpty() bool {
	return u.DeletedAt.IsZero() && u.Message == "" && u.StatusReason == "" && u.Unschedulable == "" && u.Disruption == "" && u.EndedBy == nil &&
		u.DisruptionMessage == "" && len(u.Gates) == 0 && len(u.ForeignFinalizers) == 0 && len(u.Lineup) == 0
}

func unusualOf(pod *corev1.Pod) Unusual {
	u := Unusual{Message: CutText(pod.Status.Message), StatusReason: pod.Status.Reason}
	if d := pod.DeletionTimestamp; d != nil {
		if g := pod.DeletionGracePeriodSeconds; g != nil {
			u.Grace = time.Duration(min(*g, int64(math.MaxInt64/time.Second))) * time.Second
		}
		u.DeletedAt = d.Add(-u.Grace)
	}
	for _, g := range pod.Spec.SchedulingGates {
		u.Gates = append(u.Gates, g.Name)
	}
	for _, f := range pod.Finalizers {
		if f != batchv1.JobTrackingFinalizer {
			u.ForeignFinalizers = append(u.ForeignFinalizers, f)
		}
	}
	u.noteConditions(pod)
	u.Lineup = lineupOf(pod)
	return u
}

// CutText cuts a message of a pod to maxText bytes.
func CutText(text string) string { return wording.CutBytes(text, maxText) }

// printed cuts what a program may have printed, and removes its secrets.
func printed(text string) string { return secrets.Remove(CutText(text)) }

// firstStart returns the start of the pod's first container, as far as it is known: a container status only has the last two
// runs.
func firstStart(pod *corev1.Pod) time.Time {
	var first time.Time
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			run := &list[i].State
			if list[i].RestartCount > 0 {
				run = &list[i].LastTerminationState
			}
			if start := startOf(run); list[i].RestartCount <= 1 && !start.IsZero() && (first.IsZero() || start.Before(first)) {
				first = start
			}
		}
	}
	return first
}

func startOf(run *corev1.ContainerState) time.Time {
	switch {
	case run.Running != nil:
		return KnownTime(run.Running.StartedAt)
	case run.Terminated != nil:
		return KnownTime(run.Terminated.StartedAt)
	}
	return time.Time{}
}

// aboutEnd matches the types of conditions with which other controllers end pods, such as TerminatedByKueue.
var aboutEnd = lazyregexp.New(`(?i)terminat|evict|preempt|delet|kill`)

func (u *Unusual) noteConditions(pod *corev1.Pod) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		switch {
		case c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && (c.Reason == corev1.PodReasonUnschedulable || c.Reason == skipped):
			u.Unschedulable, u.UnscheduledSince = CutText(cmp.Or(c.Message, c.Reason)), c.LastTransitionTime.Time
			u.NodeSelector = pod.Spec.NodeSelector // The API server bounds its keys and values.
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
			u.Disruption, u.DisruptionMessage = c.Reason, CutText(c.Message)
		case pod.Status.Phase == corev1.PodFailed && c.Status == corev1.ConditionTrue && aboutEnd.MatchString(string(c.Type)):
			u.EndedBy = &EndCondition{string(c.Type), c.Reason, CutText(c.Message)}
		}
	}
}

// noteContainers appends the containers of the pod. In a pod that succeeded, it leaves out containers with exit code 0 and no
// sign of trouble.
func (p *Pod) noteContainers(pod *corev1.Pod) {
	for i, list := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
		for j := range list {
			c, known := containerOf(&list[j], i == 1)
			last := list[j].LastTerminationState.Terminated
			kept := known && (c.ExitCode != 0 || c.Before || c.Reason == cause.OOMKilled || pod.Status.Phase != corev1.PodSucceeded)
			if kept || last != nil {
				c.addSpec(pod, &list[j])
			}
			if kept {
				p.Containers = append(p.Containers, c)
			}
			if last != nil && !c.Before {
				before := Container{Name: c.Name, Init: c.Init, Before: true, Restarts: c.Restarts, Image: c.Image, Memory: c.Memory}
				p.Containers = append(p.Containers, ended(before, last))
			}
		}
	}
}

func containerOf(status *corev1.ContainerStatus, init bool) (Container, bool) {
	c := Container{Name: shared(status.Name), Init: init, Restarts: status.RestartCount}
	if run := status.State.Running; run != nil {
		c.Running, c.RunsSince = true, KnownTime(run.StartedAt)
	}
	end := status.State.Terminated
	if w := status.State.Waiting; w != nil {
		c.Waiting, c.WaitingMessage = w.Reason, CutText(w.Message)
	}
	if end == nil && status.LastTerminationState.Terminated != nil {
		end, c.Before = status.LastTerminationState.Terminated, true
	}
	if end != nil {
		c = ended(c, end)
	}
	return c, c.Ended || c.Waiting != ""
}

// ended returns the container with the end of a run.
func ended(c Container, end *corev1.ContainerStateTerminated) Container {
	c.Ended = true
	c.ExitCode, c.Signal, c.Reason, c.Message = end.ExitCode, end.Signal, shared(end.Reason), printed(end.Message)
	c.StartedAt, c.EndedAt = KnownTime(end.StartedAt), KnownTime(end.FinishedAt)
	if cause.NeverRan(c.Reason) { // Docker quotes the message of the runtime.
		c.Message = strings.ReplaceAll(c.Message, `\"`, `"`)
	}
	return c
}

// shared returns an equal string whose memory all pods share.
func shared(text string) string { return unique.Make(text).Value() }

// KnownTime returns a time that a container runtime reports. It returns the zero time for a time at or before 1970, which
// containerd reports for events that never happened, such as the start of a container that could not be started.
func KnownTime(t metav1.Time) time.Time {
	if t.Unix() <= 0 {
		return time.Time{}
	}
	return t.Time
}

// EndOf returns the named container if its last run ended with this exit code, or nil.
func (p *Pod) EndOf(name string, code int32) *Container {
	return lists.First(p.Containers, func(c *Container) bool { return c.Ended && c.Name == name && c.ExitCode == code })
}

// WaitingFor returns the first container with one of these waiting reasons, or nil.
func (p *Pod) WaitingFor(reasons ...string) *Container {
	return lists.First(p.Containers, func(c *Container) bool { return slices.Contains(reasons, c.Waiting) })
}

// State returns the pod's state in one word, the same as kubectl's where possible.
func (p *Pod) State() string {
	switch {
	case p.IsTerminating():
		return "Terminating"
	case p.Phase == corev1.PodFailed:
		return p.failedState()
	case p.IsTerminal():
		return string(p.Phase)
	case len(p.Gates) > 0:
		return "SchedulingGated"
	case p.Unschedulable != "" && p.Node == "":
		return "Unschedulable"
	}
	for _, c := range p.Containers {
		if c.Waiting != "" {
			return c.Waiting
		}
	}
	return string(p.Phase)
}

// failedState returns the reason of the pod, or of the first container that failed.
func (p *Pod) failedState() string {
	if p.StatusReason != "" {
		return p.StatusReason
	}
	for _, c := range p.Containers {
		if c.Ended && c.ExitCode != 0 {
			return cmp.Or(c.Reason, "Error")
		}
	}
	return string(corev1.PodFailed)
}

// EndedBeforeDeletion reports whether the pod had ended when its deletion was requested: the API server gives such a pod no
// grace period. The kubelet's own final deletion has no grace period either, so a pod that ended by a signal in the same
// second was ended by its deletion.
func (p *Pod) EndedBeforeDeletion() bool {
	if !p.Deleting || !p.IsTerminal() || p.FinishedAt.Before(p.DeletedAt) {
		return p.Deleting && p.IsTerminal()
	}
	return p.Grace == 0 && !p.Signaled()
}

// Signaled reports whether a container ended by a signal that a deletion sends.
func (p *Pod) Signaled() bool {
	return slices.ContainsFunc(p.Terminated, func(c failurepolicy.Container) bool { return c.ExitCode == 137 || c.ExitCode == 143 })
}

// AtItsEnd returns the pod as it was when it ended: a later deletion is not part of the cause.
func (p *Pod) AtItsEnd() *reconcile.Pod {
	if !p.EndedBeforeDeletion() {
		return &p.Pod
	}
	before := p.Pod
	before.Deleting = false
	return &before
}

// LastFailure returns the end of a container that failed, unless a deletion stopped it, else of a run before a restart; nil
// if none is known.
func (p *Pod) LastFailure() *Container {
	stopped := p.Deleting && !p.EndedBeforeDeletion()
	for _, wanted := range []func(c *Container) bool{
		func(c *Container) bool { return !c.Before && !stopped && c.ExitCode != 0 },
		func(c *Container) bool { return c.Before && c.ExitCode != 0 },
		func(c *Container) bool { return c.Before },
	} {
		for i := range p.Containers {
			if c := &p.Containers[i]; c.Ended && wanted(c) {
				return c
			}
		}
	}
	return nil
}

// LooksWell reports whether nothing holds the pod, and no container has ended or waits, as with nearly all pods.
func (p *Pod) LooksWell() bool {
	return len(p.Gates) == 0 && p.Unschedulable == "" && len(p.Containers) == 0 && (p.StatusReason == "" || p.Phase != corev1.PodPending)
}

// PodNamed returns the pod of that name, nil if there is none.
func PodNamed(pods []*Pod, name string) *Pod {
	if i := slices.IndexFunc(pods, func(p *Pod) bool { return p.Name == name }); i >= 0 {
		return pods[i]
	}
	return nil
}

// The API server makes a name from the first maxGenerateName bytes of generateName and suffixLength letters of suffixLetters.
const (
	maxGenerateName = 58
	suffixLength    = 5
	suffixLetters   = "bcdfghjklmnpqrstvwxz2456789"
)

// IndexInName returns the completion index in the name of a pod that is gone, so that its name is the only evidence. It reports
// whether a Job of this name could have created a pod of that name.
func IndexInName(job *batchv1.Job, pod string) (int32, bool) {
	if len(pod) < suffixLength || strings.Trim(pod[len(pod)-suffixLength:], suffixLetters) != "" {
		return reconcile.NoIndex, false
	}
	made := pod[:len(pod)-suffixLength]
	if !jobspec.IsIndexed(&job.Spec) {
		whole := job.Name + "-"
		return reconcile.NoIndex, made == whole[:min(len(whole), maxGenerateName)]
	}
	rest, isGenerated := strings.CutSuffix(made, "-")
	dash := strings.LastIndexByte(rest, '-')
	if !isGenerated || dash < 0 {
		return reconcile.NoIndex, false
	}
	text := rest[dash+1:]
	index, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(index, 10) != text || index >= int64(ptr.Deref(job.Spec.Completions, math.MaxInt32)) {
		return reconcile.NoIndex, false
	}
	room := maxGenerateName - len("-"+text+"-")
	return int32(index), rest[:dash] == job.Name[:min(len(job.Name), room)]
}
