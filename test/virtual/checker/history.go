package checker

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
)

// History is the Checker's record of one Job.
type History struct {
	// Job is the newest version, or the last one if the Job is gone.
	Job  *batchv1.Job
	Gone bool
	// recorded holds all UIDs that were ever in uncounted, counted the UIDs that left it.
	recorded, counted map[types.UID]bool
	Lives             map[types.UID]*Life
	Order             []*Life

	// The times since which the Job is suspended or about to end, and the versions of its spec, excuse the controller for
	// a while.
	suspendedSince time.Time
	EndingSince    time.Time
	Specs          []specVersion
	// Statuses holds the commit that created the Job, and every commit that wrote its status.
	Statuses []StatusVersion
	// SucceededAt is when the first success that counts was seen. StoredAt is when a status first contained a success;
	// after that, the pod may no longer show it.
	SucceededAt, StoredAt time.Time
	// Wrote maps a process to its last write to the Job or its pods.
	Wrote map[int]time.Time
	// EndingBy is the process that decided the outcome: it is not excused.
	EndingBy int
	// regatedAt is when a feature was last switched while the Job ran: the counts of its indexes start over at some
	// point.
	regatedAt time.Time

	// Creation and Deadline are the next expectations (L5).
	Creation, Deadline Expectation
}

func newHistory() *History {
	return &History{recorded: map[types.UID]bool{}, counted: map[types.UID]bool{}, Lives: map[types.UID]*Life{}, Wrote: map[int]time.Time{}}
}

// specVersion is a spec of the Job, and the time since which it is current.
type specVersion struct {
	At   time.Time
	spec *batchv1.JobSpec
}

// StatusVersion is a commit that wrote the status, with its time.
type StatusVersion struct {
	At time.Time
	sim.Commit
}

// knownStatus returns the status from which the writing process planned, or a newer one. A write that arrived late may
// have changed it while a creation waited for its retry.
func (c *Checker) knownStatus(h *History) *batchv1.JobStatus {
	by, last := c.writer(), len(h.Statuses)-1
	for last > 0 && c.recent(h.Statuses[last].At) && (!by.Exists() || !by.Wrote(h.Statuses[last].Commit)) {
		last--
	}
	return &h.Statuses[last].NewJob.Status
}

// editedAt returns when the spec was last changed.
func (h *History) editedAt() time.Time { return h.Specs[len(h.Specs)-1].At }

// possible returns the specs from which the writing process may have planned, the newest last.
func (c *Checker) possible(h *History) []specVersion {
	first := len(h.Specs) - 1
	for first > 0 && c.recent(h.Specs[first].At) {
		first--
	}
	return h.Specs[first:]
}

// Life is the Checker's record of one pod of a Job.
type Life struct {
	// Pod is the newest version, or the last one if the pod is gone or has left the Job.
	Pod  *corev1.Pod
	gone bool
	// ended is the first version that had finished and held the tracking finalizer: from then on the controller must
	// account for the pod. It is reset when the pod is taken from the controller.
	ended *corev1.Pod
	// failedAt is when the pod failed from the Job's point of view while it was tracked, SeenAt when the failure became
	// visible, deletedAt when its deletion was requested, and endedAt when it ended.
	failedAt, SeenAt, deletedAt, endedAt time.Time
	// WasActive and WasReady are the last times that the pod was active and ready.
	WasActive, WasReady time.Time
	// succeeded and Failed report whether the pod was ever in phase Succeeded or Failed; lost reports whether it is
	// recorded as failed, which is final (PRP-05).
	succeeded, Failed, lost bool
	// tampered reports whether another client changed the pod's phase or conditions after its end, changed its
	// annotations, or removed its finalizer.
	tampered bool
	// tampers holds the times of such changes, and the pod before each.
	tampers []podVersion
	// taken reports whether another client took the pod from the Job.
	taken bool
	// By is the process that created or adopted the pod, or 0; JoinedAt is the time, and Late reports whether that
	// process was no longer waiting for the response. Known holds the processes that have acted on the pod's failure.
	By       int
	JoinedAt time.Time
	Late     bool
	Known    map[int]bool
	// unasked reports whether the pod joined a Job without completions after a success, and was not created by a process
	// that knew of the success.
	unasked bool
	// doubtful reports whether the pod failed only under a podReplacementPolicy that has changed since.
	doubtful bool
	// counted reports whether no rule failed the Job for it when its failure was recorded, by the features at that time.
	counted bool
	// ignored reports whether a rule ignored its failure when it was released, by the features at that time.
	ignored bool
	// Over reports whether the pod had ended, and the process that decided the Job's outcome knew that.
	Over bool
	// expired reports whether its index was out of range for a while: if it comes back, it starts over (KEP-3715).
	expired bool
}

// podVersion is a pod before another client changed it, with the time of the change.
type podVersion struct {
	until time.Time
	pod   *corev1.Pod
}

// unseen reports whether the process that made a write may not have seen a pod: another process let it join the Job, or
// the response was lost.
func (c *Checker) unseen(l *Life, m sim.Commit) bool {
	own := l.By == m.By && !l.Late && !m.Late()
	return !m.Ours() || !own && c.recent(l.JoinedAt)
}

// othersWrote reports whether another process has just changed the state from which a process decides.
func (c creation) othersWrote(by int) bool {
	for other, at := range c.h.Wrote {
		if other != by && other > 0 && c.recent(at) {
			return true
		}
	}
	return false
}

// Tampered reports whether the objects no longer show what happened to the Job's pods.
func (h *History) Tampered() bool {
	return slices.ContainsFunc(h.Order, func(l *Life) bool { return l.tampered })
}

// knows records that a process has acted on the pod's failure; 0 is no process.
func (l *Life) knows(process int) {
	if process == 0 {
		return
	}
	if l.Known == nil {
		l.Known = map[int]bool{}
	}
	l.Known[process] = true
}

func (l *Life) index() int32 { return history.IndexOf(l.Pod) }

// active and terminating report whether the pod is in the status counts of that name.
func (l *Life) active() bool {
	return !l.gone && !history.HasEnded(l.Pod) && l.Pod.DeletionTimestamp == nil
}

func (l *Life) terminating() bool {
	return !l.gone && !history.HasEnded(l.Pod) && l.Pod.DeletionTimestamp != nil
}

func (l *Life) ready() bool {
	return l.active() && slices.ContainsFunc(l.Pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// noteGauges records, before a change, whether the pod counts as active and ready.
func (l *Life) noteGauges(now time.Time) {
	if l.Pod == nil || !l.active() {
		return
	}
	if l.WasActive = now; l.ready() {
		l.WasReady = now
	}
}

// endedWell reports whether the controller must count the pod as a success.
func (l *Life) endedWell() bool {
	return l.ended != nil && l.ended.Status.Phase == corev1.PodSucceeded && !l.tampered && !l.lost
}

// firstSuccess returns when the first pod ended well.
func (h *History) firstSuccess() (at time.Time) {
	for _, l := range h.Order {
		if l.endedWell() && (at.IsZero() || l.endedAt.Before(at)) {
			at = l.endedAt
		}
	}
	return at
}

// forget records that the controller need not count or know how a pod ended.
func (h *History) forget(l *Life) {
	succeeded := l.endedWell() && !h.recorded[l.Pod.UID]
	if l.ended = nil; succeeded {
		h.SucceededAt = h.firstSuccess()
	}
}

// failures returns the counted and the ignored failures of its index at the pod's creation.
func (l *Life) failures() (counted, ignored int32) {
	return rules.CountIn(l.Pod, batchv1.JobIndexFailureCountAnnotation), rules.CountIn(l.Pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// lived records a new version of a pod that the Job controls.
func (c change) lived() {
	pod := c.m.NewPod
	l := c.h.Lives[pod.UID]
	if l == nil {
		l = &Life{}
		c.h.Lives[pod.UID] = l
		c.h.Order = append(c.h.Order, l)
		c.joined(l)
	}
	if l.gone {
		c.h.Creation = Expectation{} // It is back, and fills its place again.
		c.joined(l)
	}
	l.noteGauges(c.world.Now())
	l.Pod, l.gone, l.taken = pod, false, false
	if !c.m.Ours() {
		c.meddled(l)
	}
	c.changed(l)
	switch {
	case !Tracked(pod):
		l.knows(c.m.By)
		if Tracked(c.m.OldPod) && (!c.m.Ours() || l.expired) {
			c.h.forget(l) // A process that released it as out of range need not have known that the index was back in range.
		}
		return
	case !history.InRange(&c.h.Job.Spec, l.index()):
		l.expired = true
	case history.HasEnded(pod) && l.ended == nil:
		if l.ended = pod; l.endedWell() && c.h.SucceededAt.IsZero() {
			c.h.SucceededAt = c.world.Now()
		}
	}
	c.failing(c.h, l)
}

// joined records that a pod belongs to the Job from now on.
func (c change) joined(l *Life) {
	l.By, l.JoinedAt, l.Late = c.m.By, c.world.Now(), c.m.Late()
	created := c.m.Verb == "create" && c.m.Ours() && !c.m.Late()
	unknown := c.recent(c.h.SucceededAt) || !c.h.StoredAt.IsZero() && c.recent(c.h.StoredAt)
	l.unasked = c.h.Job.Spec.Completions == nil && !c.h.SucceededAt.IsZero() && (!created || unknown)
}

// meddled records a change to a pod that the controller could not expect.
func (c change) meddled(l *Life) {
	changed := slices.Contains([]string{"phase", "evict", "pod-gc"}, c.m.Verb) && history.HasEnded(c.m.OldPod) || c.m.Verb == "annotate"
	if changed || Tracked(c.m.OldPod) && !Tracked(c.m.NewPod) {
		l.tampered, l.tampers = true, append(l.tampers, podVersion{c.world.Now(), c.m.OldPod})
	}
	if c.m.Verb == "relabel" || c.m.Verb == "annotate" { // Another label or index may make it a different pod to the controller.
		c.joined(l)
	}
}

// changed records the new state of a pod, with its time.
func (c change) changed(l *Life) {
	now := c.world.Now()
	if l.Pod.DeletionTimestamp != nil && l.deletedAt.IsZero() {
		l.deletedAt = now
	}
	if history.HasEnded(l.Pod) && l.endedAt.IsZero() {
		l.endedAt = now
	}
	l.succeeded = l.succeeded || l.Pod.Status.Phase == corev1.PodSucceeded
	l.Failed = l.Failed || l.Pod.Status.Phase == corev1.PodFailed
}

// failing records when a tracked pod fails: when it ends, or when its deletion is requested if the Job does not wait for
// the end (PRP-05, PRP-06).
func (c *Checker) failing(h *History, l *Life) {
	if !l.failedAt.IsZero() && (!l.doubtful || l.lost) {
		return
	}
	switch {
	case l.Pod.Status.Phase == corev1.PodFailed:
		l.failedAt, l.SeenAt, l.doubtful = l.finishedAt(), c.world.Now(), false
	case l.terminating() && !c.features().replacesFailedOnly(&h.Job.Spec):
		l.failedAt, l.SeenAt, l.doubtful = l.deletedAt, c.world.Now(), false
	}
}

// replaces reclassifies terminating pods after a change of the spec or of a feature.
func (c *Checker) replaces(h *History) {
	for _, l := range h.Order {
		if l.gone || !Tracked(l.Pod) {
			continue
		}
		c.failing(h, l)
		l.doubtful = l.doubtful || !l.failedAt.IsZero() && l.terminating() && c.features().replacesFailedOnly(&h.Job.Spec)
	}
}

// finishedAt returns when a pod finished, for its back-off (BLI-26): when its last container ended, else when it stopped
// being ready, else when its deletion was requested, else when it was created.
func (l *Life) finishedAt() (at time.Time) {
	for _, s := range l.Pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(at) {
			at = t.FinishedAt.Time
		}
	}
	for _, c := range l.Pod.Status.Conditions {
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
	return l.Pod.CreationTimestamp.Time
}

// deletedSooner returns the deletion time that the pod itself shows, if no other time shows when it finished; otherwise
// zero. A second deletion with a shorter grace period moves it.
func (l *Life) deletedSooner() time.Time {
	if l.deletedAt.IsZero() || !l.finishedAt().Equal(l.deletedAt) {
		return time.Time{}
	}
	return deletionRequested(l.Pod)
}

// deletionRequested returns when the deletion of a pod was requested, according to its deletion timestamp and grace
// period.
func deletionRequested(pod *corev1.Pod) time.Time {
	return pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
}

// parted records that a pod is gone or has left the Job.
func (c change) parted() {
	l := c.h.Lives[c.m.OldPod.UID]
	if l == nil {
		return
	}
	l.noteGauges(c.world.Now())
	l.gone = true
	switch {
	case c.m.NewPod != nil:
		if l.Pod = c.m.NewPod; !c.h.counted[l.Pod.UID] {
			c.h.forget(l)
		}
		l.taken = l.taken || !c.m.Ours()
	case !c.m.Ours() && Tracked(c.m.OldPod):
		c.h.forget(l)
		l.tampered = true
	case c.m.Verb == "disown", l.expired:
		c.h.forget(l) // The pod had no owner before it was gone, or was released as out of range.
	}
}

// witness reports whether the pod alone shows that it failed, even to a process that saw nothing of it (BLI-27). A pod
// that is being deleted without the finalizer may have been removed on purpose.
func (l *Life) witness() bool {
	return !l.gone && l.Pod.Status.Phase == corev1.PodFailed && (Tracked(l.Pod) || l.Pod.DeletionTimestamp == nil)
}

// restarted records the start of a controller process.
func (c *Checker) restarted(o sim.ProcessOptions) {
	c.begins(o)
	c.postpone(c.lag() + c.slack())
}

// clockSet records how far ahead the controller's clocks are.
func (c *Checker) clockSet(ahead time.Duration) {
	c.skew = ahead
	c.skewed(ahead)
	for _, p := range c.world.Processes() {
		c.skewed(ahead + p.Options().Clock)
	}
	c.postpone(c.slack())
}

func (c *Checker) postpone(by time.Duration) {
	for _, h := range c.Order {
		h.Creation.postpone(by)
		h.Deadline.postpone(by)
	}
}

// regated records a change of the enabled features.
func (c *Checker) regated() {
	for _, h := range c.Order {
		h.regatedAt, h.Creation = c.world.Now(), Expectation{}
		c.replaces(h)
	}
}
