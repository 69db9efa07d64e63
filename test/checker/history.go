package checker

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/rules"
)

// History is what the Checker saw of one Job.
type History struct {
	// Job is the newest version, also of a Job that is gone.
	Job  *batchv1.Job
	Gone bool
	// recorded are the UIDs that ever were in uncounted, counted those that left it.
	recorded, counted map[types.UID]bool
	Lives             map[types.UID]*Life
	Order             []*Life

	// What follows excuses the controller for a while: since when the Job is
	// suspended, and is about to end, and the versions of its spec.
	suspendedSince time.Time
	EndingSince    time.Time
	Specs          []specVersion
	// Statuses are the commits that wrote the status, after that which created the Job.
	Statuses []StatusVersion
	// SucceededAt is when the first success was seen that counts, StoredAt when a status first had one: later, the pod
	// shows nothing.
	SucceededAt, StoredAt time.Time
	// Wrote is when each process last wrote to the Job or one of its pods.
	Wrote map[int]time.Time
	// EndingBy is the process that decided the end: it has no excuse.
	EndingBy int
	// regatedAt is when a feature was last switched while the Job ran: the counts of its
	// indexes begin anew at some point.
	regatedAt time.Time

	// Creation and Deadline are due next (L5).
	Creation, Deadline Expectation
}

func newHistory() *History {
	return &History{recorded: map[types.UID]bool{}, counted: map[types.UID]bool{}, Lives: map[types.UID]*Life{}, Wrote: map[int]time.Time{}}
}

// specVersion is a spec, and since when it is that of the Job.
type specVersion struct {
	At   time.Time
	spec *batchv1.JobSpec
}

// StatusVersion is a commit that wrote the status, and when.
type StatusVersion struct {
	At time.Time
	sim.Commit
}

// knownStatus returns the status that the process behind the present write planned with, or a newer one. A
// write that came through late may have changed it while a creation waited to be repeated.
func (c *Checker) knownStatus(h *History) *batchv1.JobStatus {
	by, last := c.writer(), len(h.Statuses)-1
	for last > 0 && c.recent(h.Statuses[last].At) && (!by.Exists() || !by.Wrote(h.Statuses[last].Commit)) {
		last--
	}
	return &h.Statuses[last].NewJob.Status
}

// editedAt returns when the spec was last changed.
func (h *History) editedAt() time.Time { return h.Specs[len(h.Specs)-1].At }

// possible returns the specs that the process behind the present write may have planned with, the
// newest last.
func (c *Checker) possible(h *History) []specVersion {
	first := len(h.Specs) - 1
	for first > 0 && c.recent(h.Specs[first].At) {
		first--
	}
	return h.Specs[first:]
}

// Life is what the Checker saw of one pod of a Job.
type Life struct {
	// Pod is the newest version, also of a pod that is gone, or has left the Job.
	Pod  *corev1.Pod
	gone bool
	// ended is the first version that had finished and held the tracking finalizer:
	// from then on the controller answers for it. It is nil again for a pod that was
	// taken from the controller.
	ended *corev1.Pod
	// failedAt is when the pod failed as far as the Job is concerned, while it was
	// tracked, and SeenAt when it first could be seen; deletedAt is when its deletion
	// was asked for, endedAt when it ended.
	failedAt, SeenAt, deletedAt, endedAt time.Time
	// WasActive and WasReady are when it last was.
	WasActive, WasReady time.Time
	// succeeded reports whether it ever was in phase Succeeded, Failed in phase Failed, lost
	// that it is recorded as failed, which stays so (PRP-05).
	succeeded, Failed, lost bool
	// tampered reports whether somebody changed its phase or conditions after its end, or its
	// annotations, or took its finalizer.
	tampered bool
	// tampers are when that happened, and what the pod was before.
	tampers []podVersion
	// taken reports whether somebody took the pod from the Job.
	taken bool
	// By is the process that created it or let it join the Job, or 0, JoinedAt when, and Late
	// whether nobody waited for that anymore; Known are the processes that have acted on its failure.
	By       int
	JoinedAt time.Time
	Late     bool
	Known    map[int]bool
	// unasked reports whether it joined a Job without completions after a success, and nobody who
	// knew of that created it.
	unasked bool
	// doubtful reports whether it failed only under a podReplacementPolicy that has changed since.
	doubtful bool
	// ignored reports whether it was let go when a rule ignored its failure, by the features of that time.
	ignored bool
	// Over reports whether it had ended when somebody decided how the Job ends, who knew that.
	Over bool
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
func (c *Checker) unseen(l *Life, m sim.Commit) bool {
	own := l.By == m.By && !l.Late && !m.Late()
	return !m.Ours() || !own && c.recent(l.JoinedAt)
}

// othersWrote reports whether another process has just changed what a process decides from.
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

// knows notes that a process, if it is one, has acted on the pod's failure.
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

// active and terminating report whether the pod is in those counts of a status.
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

// noteGauges notes what the pod counts as before it changes.
func (l *Life) noteGauges(now time.Time) {
	if l.Pod == nil || !l.active() {
		return
	}
	if l.WasActive = now; l.ready() {
		l.WasReady = now
	}
}

// endedWell reports whether the controller has to count the pod as a success.
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

// forget notes that how a pod ended need not be counted, and need not be known.
func (h *History) forget(l *Life) {
	succeeded := l.endedWell() && !h.recorded[l.Pod.UID]
	if l.ended = nil; succeeded {
		h.SucceededAt = h.firstSuccess()
	}
}

// failures returns the counted and the ignored failures of its index that the pod was
// created with.
func (l *Life) failures() (counted, ignored int32) {
	return rules.CountIn(l.Pod, batchv1.JobIndexFailureCountAnnotation), rules.CountIn(l.Pod, batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// lived notes a new version of a pod that the Job controls.
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
			c.h.forget(l) // Whoever released it as out of range need not have known that it was back.
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

// joined notes that a pod is the Job's from now on.
func (c change) joined(l *Life) {
	l.By, l.JoinedAt, l.Late = c.m.By, c.world.Now(), c.m.Late()
	created := c.m.Verb == "create" && c.m.Ours() && !c.m.Late()
	unknown := c.recent(c.h.SucceededAt) || !c.h.StoredAt.IsZero() && c.recent(c.h.StoredAt)
	l.unasked = c.h.Job.Spec.Completions == nil && !c.h.SucceededAt.IsZero() && (!created || unknown)
}

// meddled notes a change to a pod that the controller could not expect.
func (c change) meddled(l *Life) {
	changed := slices.Contains([]string{"phase", "evict", "pod-gc"}, c.m.Verb) && history.HasEnded(c.m.OldPod) || c.m.Verb == "annotate"
	if changed || Tracked(c.m.OldPod) && !Tracked(c.m.NewPod) {
		l.tampered, l.tampers = true, append(l.tampers, podVersion{c.world.Now(), c.m.OldPod})
	}
	if c.m.Verb == "relabel" || c.m.Verb == "annotate" { // Another label or index may make it another pod.
		c.joined(l)
	}
}

// changed notes the new state of a pod, and since when.
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

// failing notes when a tracked pod fails: when it ends, or as soon as its deletion is
// requested, if the Job does not wait for the end (PRP-05, PRP-06).
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

// replaces notes what a pod that terminates means now that the spec, or a feature, has changed.
func (c *Checker) replaces(h *History) {
	for _, l := range h.Order {
		if l.gone || !Tracked(l.Pod) {
			continue
		}
		c.failing(h, l)
		l.doubtful = l.doubtful || !l.failedAt.IsZero() && l.terminating() && c.features().replacesFailedOnly(&h.Job.Spec)
	}
}

// finishedAt returns when a pod finished, for its back-off (BLI-26): when its last container
// ended, else when it stopped being ready, else when its deletion was requested, else when it
// was created.
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

// deletedSooner returns when a pod finished that shows no other time than that of its deletion, according to the pod: a second
// deletion with a shorter grace period moves it.
func (l *Life) deletedSooner() time.Time {
	if l.deletedAt.IsZero() || !l.finishedAt().Equal(l.deletedAt) {
		return time.Time{}
	}
	return deletionRequested(l.Pod)
}

// deletionRequested returns when a pod that is being deleted would have ended without a grace period.
func deletionRequested(pod *corev1.Pod) time.Time {
	return pod.DeletionTimestamp.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second)
}

// parted notes that a pod is gone, or has left the Job.
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
		c.h.forget(l) // It was nobody's before it was gone, or was released as out of range.
	}
}

// witness reports whether the pod alone shows that it failed, even to a process that saw
// nothing of it happen (BLI-27). One that is being deleted without the finalizer
// may have been removed on purpose.
func (l *Life) witness() bool {
	return !l.gone && l.Pod.Status.Phase == corev1.PodFailed && (Tracked(l.Pod) || l.Pod.DeletionTimestamp == nil)
}

// restarted notes the start of a controller process.
func (c *Checker) restarted(o sim.ProcessOptions) {
	c.begins(o)
	c.postpone(c.lag() + c.slack())
}

// clockSet notes how far the controller's clocks are ahead.
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

// regated notes a change of the enabled features.
func (c *Checker) regated() {
	for _, h := range c.Order {
		h.regatedAt, h.Creation = c.world.Now(), Expectation{}
		c.replaces(h)
	}
}
