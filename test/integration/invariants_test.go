package integration

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/statusrules"
)

// judgeHistory replays all versions in the order in which they were stored, and
// returns what breaks an invariant of a Job controller (S1..S11 of the project's
// reliability document), each with the revision.
func judgeHistory(versions []version) []string {
	j := &judge{ledgers: map[types.UID]*ledger{}, pods: map[types.UID]*corev1.Pod{}}
	for _, v := range versions {
		j.at = v
		if v.job != nil {
			j.jobChanged(v)
		} else {
			j.podChanged(v)
		}
	}
	return j.violations
}

type judge struct {
	ledgers    map[types.UID]*ledger
	pods       map[types.UID]*corev1.Pod
	at         version
	violations []string
}

// ledger is what the judge itself knows of a Job.
type ledger struct {
	// job is the latest version, also of a Job that is gone.
	job  *batchv1.Job
	gone bool
	// known are the versions that the controller may still decide on: those since
	// its last status write, which nobody but the holder of the latest can make.
	known []*batchv1.Job
	// recorded were ever in uncounted, failed those as failures; counted have moved
	// on into the counters.
	recorded, failed, counted map[types.UID]bool
	// ended are pods that finished with the finalizer on.
	ended map[types.UID]*corev1.Pod
}

func (j *judge) violate(invariant, format string, args ...any) {
	j.violations = append(j.violations, fmt.Sprintf("%s at revision %d: %s", invariant, j.at.revision, fmt.Sprintf(format, args...)))
}

func (j *judge) jobChanged(v version) {
	l := j.ledgers[v.job.UID]
	if l == nil {
		l = &ledger{
			job: v.job, recorded: map[types.UID]bool{}, failed: map[types.UID]bool{}, counted: map[types.UID]bool{},
			ended: map[types.UID]*corev1.Pod{},
		}
		j.ledgers[v.job.UID] = l
	}
	old := l.job
	l.job, l.gone = v.job, v.gone
	// An index that leaves the Job counts no more, and runs anew if it returns (KEP-3715).
	maps.DeleteFunc(l.ended, func(_ types.UID, pod *corev1.Pod) bool { return !inRange(v.job, pod) })
	if equality.Semantic.DeepEqual(old.Status, v.job.Status) {
		l.known = append(l.known, v.job)
		return
	}
	if v.job.Status.UncountedTerminatedPods == nil {
		j.violate("TRK-28", "no lists of uncounted pods")
	}
	l.known = []*batchv1.Job{v.job}
	for _, rule := range statusrules.Broken(old, v.job) {
		j.violate(rule.ID, "%s", rule.Says)
	}
	j.fate(old, v.job)
	j.exactlyOnce(l, old)
	j.indexes(old, v.job)
	if isFinished(v.job) && !isFinished(old) {
		j.finished(l, old)
	}
}

// fate is MGB-09..11 and S11: first the interim condition, in a write of its own,
// then the terminal one, with the same reason; after that, nothing.
func (j *judge) fate(old, job *batchv1.Job) {
	if isFinished(old) {
		j.violate("MGB-11", "the status of a finished Job changed")
	}
	for interim, terminal := range map[batchv1.JobConditionType]batchv1.JobConditionType{
		batchv1.JobFailureTarget: batchv1.JobFailed, batchv1.JobSuccessCriteriaMet: batchv1.JobComplete,
	} {
		before, now, end := condition(old, interim), condition(job, interim), condition(job, terminal)
		if end != nil && before == nil && condition(old, terminal) == nil {
			j.violate("MGB-09", "%s without %s in an earlier write", terminal, interim)
		}
		if before != nil && now != nil && (before.Reason != now.Reason || before.Message != now.Message) {
			j.violate("S11", "%s changed its reason from %s to %s", interim, before.Reason, now.Reason)
		}
		if end != nil && now != nil && (end.Reason != now.Reason || end.Message != now.Message) {
			j.violate("S11", "%s has reason %s, and %s has %s", terminal, end.Reason, interim, now.Reason)
		}
	}
	if isFinished(job) && ptr.Deref(job.Status.Ready, 0) != 0 {
		j.violate("MGB-10", "finished with %d ready pods", *job.Status.Ready)
	}
}

// exactlyOnce is S1: the counters move by exactly the UIDs that leave uncounted,
// none of them a second time, and each has lost its finalizer.
func (j *judge) exactlyOnce(l *ledger, old *batchv1.Job) {
	before, now := &old.Status, &l.job.Status
	failed := j.settled(l, uncountedFailed(before), uncountedFailed(now))
	succeeded := j.settled(l, uncountedSucceeded(before), uncountedSucceeded(now))
	if moved := int(now.Failed - before.Failed); moved != failed {
		j.violate("S1", "failed moved by %d, and %d UIDs left uncounted.failed", moved, failed)
	}
	if isIndexed(l.job) {
		set, _ := indexset.Parse(now.CompletedIndexes)
		if set.Len() != int(now.Succeeded) {
			j.violate("S1", "succeeded is %d, and completedIndexes %q", now.Succeeded, now.CompletedIndexes)
		}
	} else if moved := int(now.Succeeded - before.Succeeded); moved != succeeded {
		j.violate("S1", "succeeded moved by %d, and %d UIDs left uncounted.succeeded", moved, succeeded)
	}
	for _, uid := range uncountedFailed(now) {
		l.failed[types.UID(uid)] = true
	}
	uids := slices.Concat(uncountedFailed(now), uncountedSucceeded(now))
	for _, uid := range uids {
		l.recorded[types.UID(uid)] = true
		if l.counted[types.UID(uid)] {
			j.violate("S1", "%s is recorded, and was counted before", j.name(types.UID(uid)))
		}
	}
	if len(uids) > 500 {
		j.violate("S9", "%d uncounted UIDs", len(uids))
	}
}

// settled counts the UIDs that left one of the lists.
func (j *judge) settled(l *ledger, before, now []string) (n int) {
	for _, u := range before {
		if slices.Contains(now, u) {
			continue
		}
		n++
		uid := types.UID(u)
		if l.counted[uid] {
			j.violate("S1", "%s is counted twice", j.name(uid))
		}
		l.counted[uid] = true
		if pod := j.pods[uid]; pod != nil && isTracked(pod) {
			j.violate("S1", "%s is counted and holds its finalizer", pod.Name)
		}
	}
	return n
}

func (j *judge) name(uid types.UID) string {
	if pod := j.pods[uid]; pod != nil {
		return pod.Name
	}
	return string(uid)
}

// indexes is S6: an index stays completed as long as the Job has it.
func (j *judge) indexes(old, job *batchv1.Job) {
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	before, _ := indexset.ParseTolerant(old.Status.CompletedIndexes, ptr.Deref(job.Spec.Completions, 0))
	if lost := before.Difference(completed); !lost.IsEmpty() {
		j.violate("S6", "completed indexes %v are gone", lost)
	}
}

// finished is S3 and L2 at the end of a Job: everything that ended is counted, the
// counters are the judge's own, and nothing holds a finalizer.
func (j *judge) finished(l *ledger, old *batchv1.Job) {
	if !is(old, batchv1.JobFailureTarget) && !is(old, batchv1.JobSuccessCriteriaMet) {
		return // Told already.
	}
	for uid, pod := range l.ended {
		if !l.counted[uid] && !isCompletedBy(l.job, pod) && inRange(l.job, pod) {
			j.violate("S3", "pod %s ended %s and is not counted", pod.Name, pod.Status.Phase)
		}
	}
	for _, pod := range j.pods {
		if isOwnedBy(pod, l.job) && isTracked(pod) {
			j.violate("L2", "the Job is finished, and pod %s holds its finalizer", pod.Name)
		}
	}
	want := len(l.counted)
	got := int(l.job.Status.Failed)
	if !isIndexed(l.job) {
		got += int(l.job.Status.Succeeded)
	}
	if got != want {
		j.violate("S3", "the counters hold %d pods, and %d were recorded", got, want)
	}
}

// isCompletedBy says that the pod's success is in completedIndexes.
func isCompletedBy(job *batchv1.Job, pod *corev1.Pod) bool {
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	return isIndexed(job) && pod.Status.Phase == corev1.PodSucceeded && completed.Contains(indexOf(pod))
}

func isOurs(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.ManagedBy, "") == controller.DefaultManagedBy
}

func isIndexed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.CompletionMode, "") == batchv1.IndexedCompletion
}

func inRange(job *batchv1.Job, pod *corev1.Pod) bool {
	return !isIndexed(job) || indexOf(pod) >= 0 && indexOf(pod) < ptr.Deref(job.Spec.Completions, 0)
}

func isOwnedBy(pod *corev1.Pod, job *batchv1.Job) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == job.UID
}

func (j *judge) podChanged(v version) {
	old := j.pods[v.pod.UID]
	j.pods[v.pod.UID] = v.pod
	if v.gone {
		delete(j.pods, v.pod.UID)
	}
	owner := metav1.GetControllerOf(v.pod)
	if owner == nil || j.ledgers[owner.UID] == nil {
		return
	}
	l := j.ledgers[owner.UID]
	if old == nil && !v.gone {
		j.created(l, v.pod)
	}
	if !v.gone && hasEnded(v.pod) && isTracked(v.pod) && l.ended[v.pod.UID] == nil {
		l.ended[v.pod.UID] = v.pod
	}
	if old != nil && isTracked(old) && (v.gone || !isTracked(v.pod)) {
		j.writtenAhead(l, old)
	}
}

// writtenAhead is S2: a pod that has finished, or is being deleted, loses its
// finalizer only when its result is stored, or does not matter any more.
func (j *judge) writtenAhead(l *ledger, pod *corev1.Pod) {
	switch {
	case isActive(pod), l.gone, l.job.DeletionTimestamp != nil, isFinished(l.job), !inRange(l.job, pod):
	case isTerminating(pod) && is(l.job, batchv1.JobSuccessCriteriaMet):
	case l.recorded[pod.UID] && !l.counted[pod.UID], isCompletedBy(l.job, pod):
	default:
		j.violate("S2", "pod %s (%s) lost its finalizer, and its end is not recorded", pod.Name, pod.Status.Phase)
	}
}

// created holds S5, S6 and S9 when a pod is created.
func (j *judge) created(l *ledger, pod *corev1.Pod) {
	job := l.job
	if is(job, batchv1.JobFailureTarget) || is(job, batchv1.JobSuccessCriteriaMet) || isFinished(job) {
		j.violate("S5", "pod %s is created, and the Job's fate is decided", pod.Name)
	}
	if !isTracked(pod) {
		j.violate("TRK-01", "pod %s is created without the finalizer", pod.Name)
	}
	if !slices.ContainsFunc(l.known, func(job *batchv1.Job) bool { return !ptr.Deref(job.Spec.Suspend, false) }) {
		j.violate("S9", "pod %s is created in a suspended Job", pod.Name)
	}
	running, rivals := int32(0), int32(0)
	for _, p := range j.pods {
		if !isOwnedBy(p, job) {
			continue
		}
		if isActive(p) || isTerminating(p) && onlyReplacesFailed(job) {
			running++
			if isIndexed(job) && indexOf(p) == indexOf(pod) {
				rivals++
			}
		}
	}
	if limit := l.bound(); running > limit {
		j.violate("S5", "pod %s is created: %d pods run, and %d may", pod.Name, running, limit)
	}
	if rivals > 1 {
		j.violate("S6", "pod %s is created: %d pods run for index %d", pod.Name, rivals, indexOf(pod))
	}
}

func onlyReplacesFailed(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed || job.Spec.PodFailurePolicy != nil
}

// bound is how many pods may run, by any version that the controller may know.
func (l *ledger) bound() (limit int32) {
	for _, job := range l.known {
		n := ptr.Deref(job.Spec.Parallelism, 1)
		if job.Spec.Completions != nil {
			n = min(n, *job.Spec.Completions-l.succeeded(job))
		}
		limit = max(limit, n)
	}
	return limit
}

// succeeded is how many of the completions are there, recorded or not. A success
// that was recorded as a failure before is none.
func (l *ledger) succeeded(job *batchv1.Job) int32 {
	indexes, pods := map[int32]bool{}, int32(0)
	for uid, pod := range l.ended {
		if pod.Status.Phase == corev1.PodSucceeded && inRange(job, pod) && !l.failed[uid] {
			indexes[indexOf(pod)] = true
			pods++
		}
	}
	if isIndexed(job) {
		return int32(len(indexes))
	}
	return pods
}
