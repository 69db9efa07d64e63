package sim

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// Checker holds the invariants of a Job controller on every committed write. It
// keeps a history of its own, and never looks into the controller's cache.
type Checker struct {
	world *World
	jobs  map[types.UID]*history
	// checks counts the calls of core.
	checks int
	// Violations are the broken invariants, each with the time and its number.
	Violations []string
}

// history is what the checker saw of one Job.
type history struct {
	job *batchv1.Job
	// counted are the UIDs that moved into the counters, ended the pods that
	// finished with the finalizer on.
	counted map[types.UID]bool
	ended   map[types.UID]*corev1.Pod
	// suspendedSince and the limits before the last edit excuse what a late watch
	// event explains.
	suspendedSince  time.Time
	editedAt        time.Time
	parallelismThen int32
}

func newChecker(w *World) *Checker { return &Checker{world: w, jobs: map[types.UID]*history{}} }

func (c *Checker) violate(invariant, format string, args ...any) {
	v := fmt.Sprintf("%.3fs %s: %s", c.world.Elapsed().Seconds(), invariant, fmt.Sprintf(format, args...))
	c.Violations = append(c.Violations, v)
	c.world.tracef("VIOLATION %s", v)
}

func (c *Checker) committed(m Commit) {
	switch {
	case m.NewJob != nil:
		c.job(m)
	case m.OldJob != nil:
		c.world.tracef("%s job %s", m.Verb, m.OldJob.Name)
	default:
		c.pod(m)
	}
}

func (c *Checker) job(m Commit) {
	h := c.jobs[m.NewJob.UID]
	if h == nil {
		h = &history{counted: map[types.UID]bool{}, ended: map[types.UID]*corev1.Pod{}}
		c.jobs[m.NewJob.UID] = h
	}
	h.job = m.NewJob
	if m.Verb != "status" {
		c.world.tracef("%s job %s", m.Verb, m.NewJob.Name)
		c.edited(h, m)
	} else {
		c.world.tracef("status %s: %s", m.NewJob.Name, statusChange(&m.OldJob.Status, &m.NewJob.Status))
		c.exactlyOnce(h, m)
		c.indexes(m)
		c.finished(h, m)
	}
	c.core(m.NewJob)
}

func (c *Checker) edited(h *history, m Commit) {
	suspended := func(j *batchv1.Job) bool { return j != nil && ptr.Deref(j.Spec.Suspend, false) }
	if suspended(m.NewJob) && !suspended(m.OldJob) {
		h.suspendedSince = c.world.Now()
	}
	if m.OldJob != nil {
		h.editedAt, h.parallelismThen = c.world.Now(), *m.OldJob.Spec.Parallelism
	}
}

// exactlyOnce is S1: the counters move by exactly the UIDs that leave uncounted,
// none of them a second time, and each has lost its finalizer; and S9: the lists
// are bounded.
func (c *Checker) exactlyOnce(h *history, m Commit) {
	old, next := &m.OldJob.Status, &m.NewJob.Status
	leftFailed := c.left(h, failedUIDs(old), failedUIDs(next))
	leftSucceeded := c.left(h, succeededUIDs(old), succeededUIDs(next))
	if got := int(next.Failed - old.Failed); got != leftFailed {
		c.violate("S1", "failed moved by %d, and %d UIDs left uncounted.failed", got, leftFailed)
	}
	if ptr.Deref(m.NewJob.Spec.CompletionMode, "") == batchv1.IndexedCompletion {
		set, _ := indexset.Parse(next.CompletedIndexes)
		elastic := ptr.Equal(m.NewJob.Spec.Completions, m.NewJob.Spec.Parallelism)
		if kept := !elastic && next.Succeeded == old.Succeeded && set.Len() < int(next.Succeeded); set.Len() != int(next.Succeeded) && !kept {
			c.violate("S1", "succeeded is %d, and completedIndexes holds %d", next.Succeeded, set.Len())
		}
	} else if got := int(next.Succeeded - old.Succeeded); got != leftSucceeded {
		c.violate("S1", "succeeded moved by %d, and %d UIDs left uncounted.succeeded", got, leftSucceeded)
	}
	for _, uid := range slices.Concat(failedUIDs(next), succeededUIDs(next)) {
		if h.counted[uid] {
			c.violate("S1", "%s is recorded again", uid)
		}
	}
	limit := c.world.Controller.Limits.MaxUncounted
	if limit == 0 {
		limit = reconcile.DefaultConfig().MaxUncounted
	}
	if n := len(failedUIDs(next)) + len(succeededUIDs(next)); n > limit {
		c.violate("S9", "%d uncounted UIDs", n)
	}
}

func failedUIDs(s *batchv1.JobStatus) []types.UID {
	if s.UncountedTerminatedPods == nil {
		return nil
	}
	return s.UncountedTerminatedPods.Failed
}

func succeededUIDs(s *batchv1.JobStatus) []types.UID {
	if s.UncountedTerminatedPods == nil {
		return nil
	}
	return s.UncountedTerminatedPods.Succeeded
}

func (c *Checker) left(h *history, old, next []types.UID) (n int) {
	for _, uid := range old {
		if slices.Contains(next, uid) {
			continue
		}
		n++
		if h.counted[uid] {
			c.violate("S1", "%s is counted twice", uid)
		}
		h.counted[uid] = true
		for _, pod := range c.world.Store.PodsOf(h.job.UID) {
			if pod.UID == uid && tracked(pod) {
				c.violate("S1", "%s is counted and holds its finalizer", pod.Name)
			}
		}
	}
	return n
}

func tracked(pod *corev1.Pod) bool {
	return pod != nil && slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// indexes is S6: completed and failed indexes are disjoint, and an index stays
// completed as long as it is in range.
func (c *Checker) indexes(m Commit) {
	next := m.NewJob.Status
	completed, err := indexset.Parse(next.CompletedIndexes)
	failed, _ := indexset.Parse(ptr.Deref(next.FailedIndexes, ""))
	if err != nil || !completed.Intersection(failed).IsEmpty() {
		c.violate("S6", "completed %q, failed %q", next.CompletedIndexes, ptr.Deref(next.FailedIndexes, ""))
	}
	before, _ := indexset.ParseTolerant(m.OldJob.Status.CompletedIndexes, ptr.Deref(m.NewJob.Spec.Completions, 0))
	if lost := before.Difference(completed); !lost.IsEmpty() {
		c.violate("S6", "completed indexes %v are gone", lost)
	}
}

// finished is S3 at the end of a Job: everything that ended is counted, nothing
// is left over.
func (c *Checker) finished(h *history, m Commit) {
	if !view(m.NewJob).finished() || view(m.OldJob).finished() {
		return
	}
	completed, _ := indexset.Parse(m.NewJob.Status.CompletedIndexes)
	for uid, pod := range h.ended {
		index := indexOf(pod)
		inIndex := pod.Status.Phase == corev1.PodSucceeded && completed.Contains(index)
		if !h.counted[uid] && !inIndex && inRange(m.NewJob, pod) {
			c.violate("S3", "pod %s ended %s and is not counted", pod.Name, pod.Status.Phase)
		}
	}
	for _, pod := range c.world.Store.PodsOf(m.NewJob.UID) {
		if tracked(pod) {
			c.violate("S3", "the Job is finished, and pod %s holds its finalizer", pod.Name)
		}
	}
}

func indexOf(pod *corev1.Pod) int32 {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return reconcile.NoIndex
	}
	return int32(i)
}

func inRange(job *batchv1.Job, pod *corev1.Pod) bool {
	if ptr.Deref(job.Spec.CompletionMode, "") != batchv1.IndexedCompletion {
		return true
	}
	i := indexOf(pod)
	return i >= 0 && i < ptr.Deref(job.Spec.Completions, 0)
}

func (c *Checker) pod(m Commit) {
	pod := m.NewPod
	if pod == nil {
		pod = m.OldPod
	}
	c.world.tracef("%s pod %s", m.Verb, pod.Name)
	h := c.jobs[observe.JobUID(pod)]
	if h == nil {
		return
	}
	c.podHistory(h, m, pod)
	if job := c.world.Store.jobs[h.job.Name]; job != nil && job.UID == h.job.UID {
		c.core(job)
	}
}

func (c *Checker) podHistory(h *history, m Commit, pod *corev1.Pod) {
	terminal := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	if terminal && tracked(m.NewPod) && h.ended[pod.UID] == nil {
		h.ended[pod.UID] = m.NewPod
	}
	if m.OldPod == nil {
		c.created(h, pod)
	}
	if tracked(m.OldPod) && !tracked(m.NewPod) && terminal {
		c.writeAhead(h, m.OldPod)
	}
}

// writeAhead is S2: a finished pod loses its finalizer only when its result is
// stored, or does not matter any more.
func (c *Checker) writeAhead(h *history, pod *corev1.Pod) {
	job := c.world.Store.jobs[h.job.Name]
	if job == nil || job.UID != h.job.UID || job.DeletionTimestamp != nil || view(job).finished() || !inRange(job, pod) {
		return
	}
	if slices.Contains(slices.Concat(failedUIDs(&job.Status), succeededUIDs(&job.Status)), pod.UID) {
		return
	}
	completed, _ := indexset.Parse(job.Status.CompletedIndexes)
	if pod.Status.Phase == corev1.PodSucceeded && completed.Contains(indexOf(pod)) {
		return
	}
	c.violate("S2", "pod %s lost its finalizer, and its end is not recorded", pod.Name)
}

// created holds S5, S6 and S9 when a pod is created. What the controller could
// not know yet, because the watch is late, excuses it.
func (c *Checker) created(h *history, pod *corev1.Pod) {
	job, now := h.job, c.world.Now()
	// A plan that was right when it was made may take some calls to carry out.
	lag := c.world.Lag + 25*c.world.Latency
	if !h.suspendedSince.IsZero() && ptr.Deref(job.Spec.Suspend, false) && now.Sub(h.suspendedSince) > lag {
		c.violate("S9", "pod %s is created in a suspended Job", pod.Name)
	}
	running, terminating, twins := c.running(job, indexOf(pod))
	if ptr.Deref(job.Spec.PodReplacementPolicy, "") == batchv1.Failed || job.Spec.PodFailurePolicy != nil {
		running += terminating
	}
	if limit := c.bound(h, lag); running > limit {
		c.violate("S5", "%d pods run, and %d may", running, limit)
	}
	if len(twins) > 1 {
		c.violate("S6", "index %d has running pods %v", indexOf(pod), twins)
	}
	c.backoff(h, pod, lag)
}

// running counts the active and the terminating pods of a Job, and names the
// active ones of an index.
func (c *Checker) running(job *batchv1.Job, index int32) (active, terminating int32, twins []string) {
	for _, p := range c.world.Store.PodsOf(job.UID) {
		switch view := observe.Pod(p); {
		case view.IsTerminating():
			terminating++
		case view.IsActive():
			active++
			if view.Index == index && index != reconcile.NoIndex {
				twins = append(twins, p.Name)
			}
		}
	}
	return active, terminating, twins
}

// bound is how many pods may run: parallelism, or what completions leave.
func (c *Checker) bound(h *history, lag time.Duration) int32 {
	job := h.job
	limit := *job.Spec.Parallelism
	if c.world.Now().Sub(h.editedAt) <= lag {
		return max(limit, h.parallelismThen)
	}
	if job.Spec.Completions == nil {
		return limit
	}
	succeeded := map[int32]bool{}
	for _, pod := range h.ended {
		if pod.Status.Phase == corev1.PodSucceeded && inRange(job, pod) {
			key := indexOf(pod)
			if key == reconcile.NoIndex {
				key = -int32(len(succeeded)) - 2
			}
			succeeded[key] = true
		}
	}
	return min(limit, *job.Spec.Completions-int32(len(succeeded)))
}

// backoff is S9: no retry earlier than 10s·2^(n-1) after the last of n failures
// that the controller could know of, 10 min at most.
func (c *Checker) backoff(h *history, pod *corev1.Pod, lag time.Duration) {
	var lastSuccess, lastFailure time.Time
	var failures []time.Time
	for _, p := range h.ended {
		finished := observe.Pod(p).FinishedAt
		if p.Status.Phase == corev1.PodSucceeded {
			if finished.After(lastSuccess) {
				lastSuccess = finished
			}
		} else if c.world.Now().Sub(finished) > lag+time.Second {
			failures = append(failures, finished)
		}
	}
	n := 0
	for _, f := range failures {
		if f.After(lastSuccess) {
			n++
			if f.After(lastFailure) {
				lastFailure = f
			}
		}
	}
	if n == 0 {
		return
	}
	wait := min(10*time.Second<<min(n-1, 10), 10*time.Minute)
	if c.world.Now().Before(lastFailure.Add(wait)) {
		c.violate("S9", "pod %s is created %v after the last of %d failures", pod.Name, c.world.Now().Sub(lastFailure), n)
	}
}

// answered is S4: the controller never writes a status that the API server rejects.
func (c *Checker) answered(err error) {
	if apierrors.IsInvalid(err) {
		c.violate("S4", "%v", err)
	}
}

func (c *Checker) synced(job types.UID, err error) {
	if err != nil {
		c.world.tracef("sync of %s failed: %v", job, err)
	}
}

// manyPods is how many pods of a Job make it too slow to check the core on every
// write: beyond that it is checked once for as many writes as there are pods.
const manyPods = 100

// core is S10, on the state that the write led to: Compute gives the same plan
// twice and for every order of pods, changes nothing it is given, and comes to
// rest when its plans are carried out at the same instant.
func (c *Checker) core(job *batchv1.Job) {
	stored := c.world.Store.PodsOf(job.UID)
	c.checks++
	if len(stored) > manyPods && c.checks%len(stored) != 0 {
		return
	}
	o := reconcile.Observation{Job: job, Now: c.world.Now()}
	for _, pod := range stored {
		p := observe.Pod(pod)
		o.Pods = append(o.Pods, &p)
	}
	for _, broken := range checkCore(o, c.world.rng.Perm(len(o.Pods))) {
		c.violate("S10", "%s", broken)
	}
}

func statusChange(old, next *batchv1.JobStatus) string {
	var out []string
	add := func(name string, a, b any) {
		if before, after := fmt.Sprint(a), fmt.Sprint(b); before != after {
			out = append(out, fmt.Sprintf("%s %s→%s", name, before, after))
		}
	}
	add("active", old.Active, next.Active)
	add("ready", ptr.Deref(old.Ready, 0), ptr.Deref(next.Ready, 0))
	add("terminating", ptr.Deref(old.Terminating, 0), ptr.Deref(next.Terminating, 0))
	add("succeeded", old.Succeeded, next.Succeeded)
	add("failed", old.Failed, next.Failed)
	add("completedIndexes", strconv.Quote(old.CompletedIndexes), strconv.Quote(next.CompletedIndexes))
	add("uncounted", uncountedText(old), uncountedText(next))
	add("startTime", timeText(old.StartTime), timeText(next.StartTime))
	for _, condition := range next.Conditions {
		if !slices.Contains(old.Conditions, condition) {
			out = append(out, fmt.Sprintf("%s=%s (%s)", condition.Type, condition.Status, condition.Reason))
		}
	}
	if len(out) == 0 {
		return "first"
	}
	return joinComma(out)
}

func joinComma(parts []string) string {
	text := ""
	for i, p := range parts {
		if i > 0 {
			text += ", "
		}
		text += p
	}
	return text
}

func timeText(t *metav1.Time) string {
	if t == nil {
		return "none"
	}
	return t.UTC().Format("15:04:05")
}

func uncountedText(s *batchv1.JobStatus) string {
	const few = 6
	succeeded, failed := succeededUIDs(s), failedUIDs(s)
	if len(succeeded)+len(failed) > few {
		return fmt.Sprintf("{%d succeeded, %d failed}", len(succeeded), len(failed))
	}
	return fmt.Sprintf("{succeeded %v, failed %v}", succeeded, failed)
}
