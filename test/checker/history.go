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
	// suspended, and is about to end, and the versions of its spec.
	suspendedSince time.Time
	endingSince    time.Time
	specs          []specVersion
	// statuses are the commits that wrote the status, after that which created the Job.
	statuses []statusVersion
	// succeededAt is when the first success was seen that counts, storedAt when a status first had one: later, the pod
	// shows nothing.
	succeededAt, storedAt time.Time
	// wrote is when each process last wrote to the Job or one of its pods.
	wrote map[int]time.Time
	// endingBy is the process that decided the end: it has no excuse.
	endingBy int
	// regatedAt is when a feature was last switched while the Job ran: the counts of its
	// indexes begin anew at some point.
	regatedAt time.Time

	// creation and deadline are due next (L5).
	creation, deadline expectation
}

func newHistory() *history {
	return &history{recorded: map[types.UID]bool{}, counted: map[types.UID]bool{}, lives: map[types.UID]*life{}, wrote: map[int]time.Time{}}
}

// specVersion is a spec, and since when it is that of the Job.
type specVersion struct {
	at   time.Time
	spec *batchv1.JobSpec
}

// statusVersion is a commit that wrote the status, and when.
type statusVersion struct {
	at time.Time
	Commit
}

// knownStatus returns the status that the process behind the present write planned with, or a newer one. A
// write that came through late may have changed it while a creation waited to be repeated.
func (c *Checker) knownStatus(h *history) *batchv1.JobStatus {
	by, last := c.world.Store.knew.process, len(h.statuses)-1
	for last > 0 && c.recent(h.statuses[last].at) && (by == nil || !by.knowsOfOwn(h.statuses[last].Commit)) {
		last--
	}
	return &h.statuses[last].NewJob.Status
}

// editedAt returns when the spec was last changed.
func (h *history) editedAt() time.Time { return h.specs[len(h.specs)-1].at }

// possible returns the specs that the process behind the present write may have planned with, the
// newest last.
func (c *Checker) possible(h *history) []specVersion {
	first := len(h.specs) - 1
	for first > 0 && c.recent(h.specs[first].at) {
		first--
	}
	return h.specs[first:]
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
	// wasActive and wasReady are when it last was.
	wasActive, wasReady time.Time
	// succeeded reports whether it ever was in phase Succeeded, failed in phase Failed, lost
	// that it is recorded as failed, which stays so (PRP-05).
	succeeded, failed, lost bool
	// tampered reports whether somebody changed its phase or conditions after its end, or its
	// annotations, or took its finalizer.
	tampered bool
	// tampers are when that happened, and what the pod was before.
	tampers []podVersion
	// taken reports whether somebody took the pod from the Job.
	taken bool
	// by is the process that created it or let it join the Job, or 0, joinedAt when, and late
	// whether nobody waited for that anymore; known are the processes that have acted on its failure.
	by       int
	joinedAt time.Time
	late     bool
	known    map[int]bool
	// unasked reports whether it joined a Job without completions after a success, and nobody who
	// knew of that created it.
	unasked bool
	// doubtful reports whether it failed only under a podReplacementPolicy that has changed since.
	doubtful bool
	// ignored reports whether it was let go when a rule ignored its failure, by the features of that time.
	ignored bool
	// over reports whether it had ended when somebody decided how the Job ends, who knew that.
	over bool
	// expired reports whether its index was out of range for a while: if it comes back, it
	// starts over (KEP-3715).
	expired bool
}

// podVersion is a pod as it was until somebody else than the controller changed it.
type podVersion struct {
	until time.Time
	pod   *corev1.Pod
}

// unseen reports whether the process that made a write may not have known of a pod: another
// one let it join the Job, or its answer was lost.
func (c *Checker) unseen(l *life, m Commit) bool {
	own := l.by == m.By && !l.late && !m.Late()
	return !m.Ours() || !own && c.recent(l.joinedAt)
}

// othersWrote reports whether another process has just changed what a process decides from.
func (c *Checker) othersWrote(h *history, by int) bool {
	for other, at := range h.wrote {
		if other != by && other > 0 && c.recent(at) {
			return true
		}
	}
	return false
}

// tampered reports whether the objects no longer show what happened to the Job's pods.
func (h *history) tampered() bool {
	return slices.ContainsFunc(h.order, func(l *life) bool { return l.tampered })
}

// knows notes that a process, if it is one, has acted on the pod's failure.
func (l *life) knows(process int) {
	if process == 0 {
		return
	}
	if l.known == nil {
		l.known = map[int]bool{}
	}
	l.known[process] = true
}

func (l *life) index() int32 { return indexOf(l.pod) }

// active and terminating report whether the pod is in those counts of a status.
func (l *life) active() bool {
	return !l.gone && !isTerminal(l.pod) && l.pod.DeletionTimestamp == nil
}

func (l *life) terminating() bool {
	return !l.gone && !isTerminal(l.pod) && l.pod.DeletionTimestamp != nil
}

func (l *life) ready() bool {
	return l.active() && slices.ContainsFunc(l.pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// noteGauges notes what the pod counts as before it changes.
func (l *life) noteGauges(now time.Time) {
	if l.pod == nil || !l.active() {
		return
	}
	if l.wasActive = now; l.ready() {
		l.wasReady = now
	}
}

// endedWell reports whether the controller has to count the pod as a success.
func (l *life) endedWell() bool {
	return l.ended != nil && l.ended.Status.Phase == corev1.PodSucceeded && !l.tampered && !l.lost
}

// firstSuccess returns when the first pod ended well.
func (h *history) firstSuccess() (at time.Time) {
	for _, l := range h.order {
		if l.endedWell() && (at.IsZero() || l.endedAt.Before(at)) {
			at = l.endedAt
		}
	}
	return at
}

// forget notes that how a pod ended need not be counted, and need not be known.
func (h *history) forget(l *life) {
	succeeded := l.endedWell() && !h.recorded[l.pod.UID]
	if l.ended = nil; succeeded {
		h.succeededAt = h.firstSuccess()
	}
}

// failures returns the counted and the ignored failures of its index that the pod was
// created with.
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

// lived notes a new version of a pod that the Job controls.
func (c *Checker) lived(h *history, m Commit) {
	pod := m.NewPod
	l := h.lives[pod.UID]
	if l == nil {
		l = &life{}
		h.lives[pod.UID] = l
		h.order = append(h.order, l)
		c.joined(h, l, m)
	}
	if l.gone {
		h.creation = expectation{} // It is back, and fills its place again.
		c.joined(h, l, m)
	}
	l.noteGauges(c.world.Now())
	l.pod, l.gone, l.taken = pod, false, false
	if !m.Ours() {
		c.meddled(h, l, m)
	}
	c.changed(l)
	switch {
	case !tracked(pod):
		l.knows(m.By)
		if tracked(m.OldPod) && (!m.Ours() || l.expired) {
			h.forget(l) // Whoever released it as out of range need not have known that it was back.
		}
		return
	case !inRange(&h.job.Spec, l.index()):
		l.expired = true
	case isTerminal(pod) && l.ended == nil:
		if l.ended = pod; l.endedWell() && h.succeededAt.IsZero() {
			h.succeededAt = c.world.Now()
		}
	}
	c.failing(h, l)
}

// joined notes that a pod is the Job's from now on.
func (c *Checker) joined(h *history, l *life, m Commit) {
	l.by, l.joinedAt, l.late = m.By, c.world.Now(), m.Late()
	created := m.Verb == "create" && m.Ours() && !m.Late()
	unknown := c.recent(h.succeededAt) || !h.storedAt.IsZero() && c.recent(h.storedAt)
	l.unasked = h.job.Spec.Completions == nil && !h.succeededAt.IsZero() && (!created || unknown)
}

// meddled notes a change to a pod that the controller could not expect.
func (c *Checker) meddled(h *history, l *life, m Commit) {
	changed := slices.Contains([]string{"phase", "evict", "pod-gc"}, m.Verb) && isTerminal(m.OldPod) || m.Verb == "annotate"
	if changed || tracked(m.OldPod) && !tracked(m.NewPod) {
		l.tampered, l.tampers = true, append(l.tampers, podVersion{c.world.Now(), m.OldPod})
	}
	if m.Verb == "relabel" || m.Verb == "annotate" { // Another label or index may make it another pod.
		c.joined(h, l, m)
	}
}

// changed notes the new state of a pod, and since when.
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

// failing notes when a tracked pod fails: when it ends, or as soon as its deletion is
// requested, if the Job does not wait for the end (PRP-05, PRP-06).
func (c *Checker) failing(h *history, l *life) {
	if !l.failedAt.IsZero() && (!l.doubtful || l.lost) {
		return
	}
	switch {
	case l.pod.Status.Phase == corev1.PodFailed:
		l.failedAt, l.seenAt, l.doubtful = l.finishedAt(), c.world.Now(), false
	case l.terminating() && !c.replacesFailedOnly(&h.job.Spec):
		l.failedAt, l.seenAt, l.doubtful = l.deletedAt, c.world.Now(), false
	}
}

// replaces notes what a pod that terminates means now that the spec, or a feature, has changed.
func (c *Checker) replaces(h *history) {
	for _, l := range h.order {
		if l.gone || !tracked(l.pod) {
			continue
		}
		c.failing(h, l)
		l.doubtful = l.doubtful || !l.failedAt.IsZero() && l.terminating() && c.replacesFailedOnly(&h.job.Spec)
	}
}

// finishedAt returns when a pod finished, for its back-off (BLI-26): when its last container
// ended, else when it stopped being ready, else when its deletion was requested, else when it
// was created.
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
	return l.pod.CreationTimestamp.Time
}

// deletedSooner returns when a pod finished that shows no other time than that of its deletion, according to the pod: a second
// deletion with a shorter grace period moves it.
func (l *life) deletedSooner() time.Time {
	if l.deletedAt.IsZero() || !l.finishedAt().Equal(l.deletedAt) {
		return time.Time{}
	}
	return l.pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(l.pod.DeletionGracePeriodSeconds, 0)) * time.Second)
}

// parted notes that a pod is gone, or has left the Job.
func (c *Checker) parted(h *history, m Commit) {
	l := h.lives[m.OldPod.UID]
	if l == nil {
		return
	}
	l.noteGauges(c.world.Now())
	l.gone = true
	switch {
	case m.NewPod != nil:
		if l.pod = m.NewPod; !h.counted[l.pod.UID] {
			h.forget(l)
		}
		l.taken = l.taken || !m.Ours()
	case !m.Ours() && tracked(m.OldPod):
		h.forget(l)
		l.tampered = true
	case m.Verb == "disown", l.expired:
		h.forget(l) // It was nobody's before it was gone, or was released as out of range.
	}
}

// witness reports whether the pod alone shows that it failed, even to a process that saw
// nothing of it happen (BLI-27). One that is being deleted without the finalizer
// may have been removed on purpose.
func (l *life) witness() bool {
	return !l.gone && l.pod.Status.Phase == corev1.PodFailed && (tracked(l.pod) || l.pod.DeletionTimestamp == nil)
}

// restarted notes the start of a controller process.
func (c *Checker) restarted(o ProcessOptions) {
	c.begins(o)
	c.postpone(c.lag() + c.slack())
}

// clockSet notes how far the controller's clocks are ahead.
func (c *Checker) clockSet(ahead time.Duration) {
	c.skewed(ahead)
	for _, p := range c.world.processes {
		c.skewed(ahead + p.Clock)
	}
	c.postpone(c.slack())
}

func (c *Checker) postpone(by time.Duration) {
	for _, h := range c.order {
		h.creation.postpone(by)
		h.deadline.postpone(by)
	}
}

// regated notes a change of the enabled features.
func (c *Checker) regated() {
	for _, h := range c.order {
		h.regatedAt, h.creation = c.world.Now(), expectation{}
		c.replaces(h)
	}
}
