package invariants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Violation describes a write that breaks an invariant or a rule of the API server.
type Violation struct {
	// Invariant is the invariant's id, such as S1, MGB-09 or STV-16.
	Invariant string
	// Job is the Job at that time.
	Job *batchv1.Job
	// Revision is the write's revision.
	Revision uint64
	// Text describes the problem.
	Text string
}

// String returns the violation, beginning with the invariant's id.
func (v Violation) String() string {
	return fmt.Sprintf("%s at revision %d, Job %s: %s", v.Invariant, v.Revision, v.Job.Name, v.Text)
}

// Excuses holds facts that no stored version shows.
type Excuses struct {
	// Released holds the pods whose finalizer another controller removed. Unless they were recorded by then, our
	// controller can no longer count them.
	Released sets.Set[types.UID]
	// Late holds the pods whose creation waited in the API server. It must have been right at some time since it arrived,
	// not necessarily when it was stored.
	Late map[types.UID]Arrival
}

// Arrival is the time when a creation arrived, and the number of status writes of the Job that had been answered by
// then: the recorded history may lag behind.
type Arrival struct {
	At     time.Time
	Writes int
}

// Check replays versions in the order given, which must be the order in which they were stored, and returns the
// violations. The history of each Job and pod must be complete from its creation on.
func Check(versions []history.Version) []Violation { return Excuses{}.Check(versions) }

// Check is like the function Check, but accepts excused violations.
func (e Excuses) Check(versions []history.Version) []Violation {
	c := &checker{excuses: e, ledgers: map[types.UID]*ledger{}, pods: map[types.UID]*podHistory{}, waiting: e.waiting(versions)}
	for _, v := range versions {
		c.at = v.Revision
		c.judgeWaiting(v)
		if v.Job != nil {
			c.jobChanged(v)
		} else {
			c.podChanged(v)
		}
	}
	return ordered(c.violations)
}

// ordered sorts violations by revision, so that the output for a history is always the same.
func ordered(violations []Violation) []Violation {
	slices.SortFunc(violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.String(), b.String()))
	})
	return violations
}

type checker struct {
	excuses    Excuses
	ledgers    map[types.UID]*ledger
	pods       map[types.UID]*podHistory
	waiting    map[types.UID][]*waitingPod
	at         uint64
	violations []Violation
}

// ledger is the checker's own record of a Job.
type ledger struct {
	// job is the latest version, or the last one if the Job is gone.
	job  *batchv1.Job
	gone bool
	// writes counts the changes of the status.
	writes int
	// known holds the versions that the controller may still act on: the versions since its last status write, which
	// requires the latest version.
	known []*batchv1.Job
	// recorded holds all UIDs that were ever in uncounted, failed the UIDs recorded as failures, counted the UIDs that
	// moved on into the counters.
	recorded, failed, counted map[types.UID]bool
	// ended holds the pods that finished while they had the finalizer.
	ended map[types.UID]*corev1.Pod
	// pods holds all pods that the Job ever controlled.
	pods map[types.UID]*podHistory
}

// podHistory is the checker's record of a pod.
type podHistory struct {
	// pod is the latest version, or the last one if the pod is gone.
	pod  *corev1.Pod
	gone bool
	// Whether the pod was ever in phase Succeeded, or deleted before its end.
	succeeded, terminating bool
	// failures holds the pod's versions in phase Failed. An eviction after the end changes which rules match, and the
	// controller may have read an earlier version.
	failures []*corev1.Pod
}

func (c *checker) violate(job *batchv1.Job, invariant, format string, args ...any) {
	c.violations = append(c.violations, Violation{Invariant: invariant, Job: job, Revision: c.at, Text: fmt.Sprintf(format, args...)})
}

func (c *checker) ledgerOf(job *batchv1.Job) *ledger {
	l := c.ledgers[job.UID]
	if l == nil {
		l = &ledger{
			job: job, recorded: map[types.UID]bool{}, failed: map[types.UID]bool{}, counted: map[types.UID]bool{},
			ended: map[types.UID]*corev1.Pod{}, pods: map[types.UID]*podHistory{},
		}
		c.ledgers[job.UID] = l
	}
	return l
}

func (c *checker) jobChanged(v history.Version) {
	l := c.ledgerOf(v.Job)
	old := l.job
	l.job, l.gone = v.Job, v.Gone
	// An index that leaves the Job no longer counts, and runs again if it returns (KEP-3715).
	maps.DeleteFunc(l.ended, func(_ types.UID, pod *corev1.Pod) bool { return !history.InRange(&v.Job.Spec, history.IndexOf(pod)) })
	if equality.Semantic.DeepEqual(old.Status, v.Job.Status) {
		l.known = append(l.known, v.Job)
		return
	}
	if v.Job.Status.UncountedTerminatedPods == nil {
		c.violate(v.Job, "TRK-28", "no lists of uncounted pods")
	}
	l.writes++
	before := l.known
	l.known = []*batchv1.Job{v.Job}
	for _, rule := range BrokenStatusRules(old, v.Job) {
		c.violate(v.Job, rule.ID, "%s", rule.Text)
	}
	c.checkConditions(l, old)
	c.exactlyOnce(l, old)
	c.evidence(l, old, before)
	c.indexes(l, old)
	if history.IsFinished(v.Job) && !history.IsFinished(old) {
		c.finished(l, old)
	}
}

func (c *checker) podChanged(v history.Version) {
	now := c.pods[v.Pod.UID]
	if now == nil {
		now = &podHistory{}
		c.pods[v.Pod.UID] = now
	}
	old := now.pod
	now.changed(v)
	l := c.ledgers[history.JobOf(v.Pod)]
	if l == nil {
		return
	}
	l.pods[v.Pod.UID] = now
	isTracked := !v.Gone && history.IsTracked(v.Pod)
	switch {
	case old == nil && !v.Gone:
		c.created(l, v.Pod)
	case old != nil && history.IsTracked(old) && !isTracked:
		c.released(l, old)
	}
	if isTracked && history.HasEnded(v.Pod) && l.ended[v.Pod.UID] == nil {
		l.ended[v.Pod.UID] = v.Pod
	}
}

func (l *podHistory) changed(v history.Version) {
	l.pod, l.gone = v.Pod, v.Gone
	if v.Pod.Status.Phase == corev1.PodFailed {
		l.failures = append(l.failures, v.Pod)
	}
	l.succeeded = l.succeeded || v.Pod.Status.Phase == corev1.PodSucceeded
	l.terminating = l.terminating || history.IsTerminating(v.Pod)
}

// isOf reports whether the pod exists and is controlled by the Job.
func (l *podHistory) isOf(job *batchv1.Job) bool { return !l.gone && history.JobOf(l.pod) == job.UID }

// name returns the pod's name, or its UID if the checker does not know the pod.
func (c *checker) name(uid types.UID) string {
	if l := c.pods[uid]; l != nil {
		return l.pod.Name
	}
	return string(uid)
}
