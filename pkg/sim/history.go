package sim

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// history is what the Checker saw of one Job.
type history struct {
	// job is the newest version, also of a Job that is gone.
	job  *batchv1.Job
	gone bool
	// recorded are the UIDs that ever were in uncounted, counted those that left it.
	recorded, counted map[types.UID]bool
	lives             map[types.UID]*life
	order             []*life

	// What follows excuses the controller for a while: since when the Job is
	// suspended, is about to end, and was edited, and its parallelism before; when
	// somebody else last changed which pods it has.
	suspendedSince  time.Time
	endingSince     time.Time
	editedAt        time.Time
	parallelismThen int32
	meddledAt       time.Time
	// endingByUs says that the controller itself decided the end: it has no excuse.
	endingByUs bool
	// regated says that a feature was switched while the Job ran: the counts of its
	// indexes begin anew at some point.
	regated bool

	// creation and deadline are due next (L5).
	creation, deadline expectation
}

func newHistory() *history {
	return &history{recorded: map[types.UID]bool{}, counted: map[types.UID]bool{}, lives: map[types.UID]*life{}}
}

// life is what the Checker saw of one pod of a Job.
type life struct {
	// pod is the newest version, also of a pod that is gone, or has left the Job.
	pod  *corev1.Pod
	gone bool
	// ended is the first version that had finished and held the tracking finalizer:
	// from then on the controller answers for it. It is nil again for a pod that was
	// taken from the controller.
	ended *corev1.Pod
	// failedAt is when the pod failed as far as the Job is concerned, while it was
	// tracked, and seenAt when it first could be seen; deletedAt is when its deletion
	// was asked for, endedAt when it ended.
	failedAt, seenAt, deletedAt, endedAt time.Time
	// succeeded says that it ever was in phase Succeeded, failed in phase Failed.
	succeeded, failed bool
	// tampered says that somebody changed its phase after its end, or took its finalizer.
	tampered bool
	// known says that the controller has acted on its failure.
	known bool
	// expired says that its index was out of range for a while: if it comes back, it
	// begins anew (KEP-3715).
	expired bool
}

func (l *life) index() int32 { return indexOf(l.pod) }

// active and terminating are the pod's part in the counts of a status.
func (l *life) active() bool {
	return !l.gone && !isTerminal(l.pod) && l.pod.DeletionTimestamp == nil
}

func (l *life) terminating() bool {
	return !l.gone && !isTerminal(l.pod) && l.pod.DeletionTimestamp != nil
}

// endedWell says that the controller has to count the pod as a success.
func (l *life) endedWell() bool {
	return l.ended != nil && l.ended.Status.Phase == corev1.PodSucceeded && !l.tampered
}

// failures are the counted and the ignored failures of its index that the pod was
// told of when it was created.
func (l *life) failures() (counted, ignored int32) {
	return countIn(l.pod, batchv1.JobIndexFailureCountAnnotation), countIn(l.pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

func countIn(pod *corev1.Pod, annotation string) int32 {
	n, err := strconv.ParseInt(pod.Annotations[annotation], 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int32(n)
}

// lived takes a new version of a pod that the Job controls.
func (c *Checker) lived(h *history, m Commit) {
	pod := m.NewPod
	l := h.lives[pod.UID]
	if l == nil {
		l = &life{}
		h.lives[pod.UID] = l
		h.order = append(h.order, l)
	}
	l.pod, l.gone = pod, false
	if !m.Ours {
		c.meddled(h, l, m)
	}
	c.changed(l)
	switch {
	case !tracked(pod):
		l.known = l.known || m.Ours
		if tracked(m.OldPod) && !m.Ours {
			l.ended = nil
		}
		return
	case isTerminal(pod) && l.ended == nil:
		l.ended = pod
	}
	c.failing(h, l)
}

// meddled notes what somebody did to a pod that the controller could not expect.
func (c *Checker) meddled(h *history, l *life, m Commit) {
	flipped := m.Verb == "phase" && isTerminal(m.OldPod)
	l.tampered = l.tampered || flipped || tracked(m.OldPod) && !tracked(m.NewPod)
	if m.OldPod == nil || ownerReference(m.OldPod).UID != ownerReference(m.NewPod).UID || m.Verb == "relabel" {
		h.meddledAt = c.world.Now()
	}
}

// changed notes what a pod has come to, and when.
func (c *Checker) changed(l *life) {
	now := c.world.Now()
	if l.pod.DeletionTimestamp != nil && l.deletedAt.IsZero() {
		l.deletedAt = now
	}
	if isTerminal(l.pod) && l.endedAt.IsZero() {
		l.endedAt = now
	}
	l.succeeded = l.succeeded || l.pod.Status.Phase == corev1.PodSucceeded
	l.failed = l.failed || l.pod.Status.Phase == corev1.PodFailed
}

// failing notes when a tracked pod fails: when it ends so, or as soon as its deletion
// is asked for, if the Job does not wait for the end (PRP-05, PRP-06).
func (c *Checker) failing(h *history, l *life) {
	if !l.failedAt.IsZero() {
		return
	}
	switch {
	case l.pod.Status.Phase == corev1.PodFailed:
		l.failedAt, l.seenAt = l.finishedAt(), c.world.Now()
	case l.terminating() && !c.replacesFailedOnly(h.job):
		l.failedAt, l.seenAt = l.deletedAt, c.world.Now()
	}
}

// finishedAt is when a pod finished, as its back-off counts (BLI-26): when its last
// container ended, else when it stopped being ready, else when its deletion was asked for.
func (l *life) finishedAt() (at time.Time) {
	for _, s := range l.pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	for _, c := range l.pod.Status.Conditions {
		if at.IsZero() && c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse {
			at = c.LastTransitionTime.Time
		}
	}
	switch {
	case !at.IsZero():
		return at
	case !l.deletedAt.IsZero():
		return l.deletedAt
	}
	return l.endedAt
}

// parted takes the end of a pod, or its leaving the Job.
func (c *Checker) parted(h *history, m Commit) {
	l := h.lives[m.OldPod.UID]
	if l == nil {
		return
	}
	l.gone = true
	if m.NewPod != nil {
		l.pod, l.ended = m.NewPod, nil
		if !m.Ours {
			h.meddledAt = c.world.Now()
		}
	} else if !m.Ours && tracked(m.OldPod) {
		l.ended, l.tampered = nil, true
	}
}

// witness says that everybody who looks at the pods can tell that it failed, though
// he may have seen none of it (BLI-27). One that is being deleted without the finalizer
// may have been removed on purpose.
func (l *life) witness() bool {
	return !l.gone && l.pod.Status.Phase == corev1.PodFailed && (tracked(l.pod) || l.pod.DeletionTimestamp == nil)
}

// restarted takes the beginning of a controller process.
func (c *Checker) restarted() {
	c.lostAt = c.world.Now()
	for _, h := range c.order {
		h.creation.postpone(c.lag())
		h.deadline.postpone(c.lag())
	}
}

// regated takes a change of the features.
func (c *Checker) regated() {
	for _, h := range c.order {
		h.regated = true
	}
}

// replacesFailedOnly says that a pod that is being deleted keeps its place until it
// has ended (PRP-02, PRP-18).
func (c *Checker) replacesFailedOnly(job *batchv1.Job) bool {
	return job.Spec.PodFailurePolicy != nil ||
		c.features().PodReplacementPolicy && ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed
}

// perIndex says that failures count for each index (BLI-01, BLI-34).
func (c *Checker) perIndex(job *batchv1.Job) bool {
	return isIndexed(&job.Spec) && job.Spec.BackoffLimitPerIndex != nil && c.features().BackoffLimitPerIndex
}

// ruling is what the Job's podFailurePolicy says of a failed pod: the action of the
// first rule that matches, and its place, or "" (KEP-3329). Rules are read here in the
// plainest way, so that a mistake in the controller's reading shows.
func (c *Checker) ruling(job *batchv1.Job, pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, rule int) {
	if job.Spec.PodFailurePolicy == nil || pod.Status.Phase != corev1.PodFailed {
		return "", -1
	}
	for i, r := range job.Spec.PodFailurePolicy.Rules {
		switch r.Action {
		case batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailJob:
		case batchv1.PodFailurePolicyActionFailIndex:
			if !c.perIndex(job) {
				continue
			}
		default:
			continue
		}
		if matchesExitCode(r.OnExitCodes, pod) || matchesCondition(r.OnPodConditions, pod) {
			return r.Action, i
		}
	}
	return "", -1
}

func matchesExitCode(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) bool {
	if r == nil {
		return false
	}
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		t := s.State.Terminated
		if t == nil || t.ExitCode == 0 || r.ContainerName != nil && *r.ContainerName != s.Name {
			continue
		}
		listed := slices.Contains(r.Values, t.ExitCode)
		if r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && listed || r.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && !listed {
			return true
		}
	}
	return false
}

func matchesCondition(patterns []batchv1.PodFailurePolicyOnPodConditionsPattern, pod *corev1.Pod) bool {
	for _, p := range patterns {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == p.Type && condition.Status == p.Status {
				return true
			}
		}
	}
	return false
}

// ignored says that a failure of this pod does not count (PFP-05).
func (c *Checker) ignored(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := c.ruling(job, pod)
	return action == batchv1.PodFailurePolicyActionIgnore
}

// failsJob says that a failure of this pod fails the Job (PFP-07).
func (c *Checker) failsJob(job *batchv1.Job, pod *corev1.Pod) bool {
	action, _ := c.ruling(job, pod)
	return action == batchv1.PodFailurePolicyActionFailJob
}
