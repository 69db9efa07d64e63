package invariants

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// created checks TRK-01, S5, S6, S9 and PRP-24 when a pod is created. PRP-24: under podReplacementPolicy Failed, pods
// that have not ended count, and occupy their index.
func (c *checker) created(l *ledger, pod *corev1.Pod) {
	if !history.IsTracked(pod) {
		c.violate(l.job, "TRK-01", "pod %s is created without the finalizer", pod.Name)
	}
	if c.wasRight(l, pod) {
		return
	}
	for _, m := range l.mistakes(pod) {
		c.violate(l.job, m.invariant, "pod %s is created%s", pod.Name, m.text)
	}
}

// mistake describes why a creation is wrong.
type mistake struct{ invariant, text string }

// mistakes returns why the pod must not be created now, given the others, whose creation is not stored yet.
func (l *ledger) mistakes(pod *corev1.Pod, others ...*corev1.Pod) (out []mistake) {
	job := l.job
	if history.IsDecided(job) || history.IsFinished(job) {
		out = append(out, mistake{"S5", ", and the Job's outcome is decided"})
	}
	if !slices.ContainsFunc(l.known, func(job *batchv1.Job) bool { return !ptr.Deref(job.Spec.Suspend, false) }) {
		out = append(out, mistake{"S9", " in a suspended Job"})
	}
	running, rivals := l.beside(pod)
	for _, other := range others {
		running++
		if history.IndexOf(other) == history.IndexOf(pod) {
			rivals++
		}
	}
	if limit := l.bound(); running+1 > limit {
		out = append(out, mistake{"S5", fmt.Sprintf(": %d pods run, and %d may", running+1, limit)})
	}
	if history.IsIndexed(&job.Spec) && rivals > 0 {
		out = append(out, mistake{"S6", fmt.Sprintf(": %d pods run for index %d", rivals+1, history.IndexOf(pod))})
	}
	return out
}

// waitingPod is a pod whose creation may have arrived but is not stored yet.
type waitingPod struct {
	Arrival
	pod   *corev1.Pod
	right bool
}

// waiting returns the pods whose creation waited, by Job.
func (e Excuses) waiting(versions []history.Version) map[types.UID][]*waitingPod {
	waiting, seen := map[types.UID][]*waitingPod{}, map[types.UID]bool{}
	for _, v := range versions {
		if v.Pod == nil || seen[v.Pod.UID] {
			continue
		}
		seen[v.Pod.UID] = true
		if arrival, late := e.Late[v.Pod.UID]; late {
			job := history.JobOf(v.Pod)
			waiting[job] = append(waiting[job], &waitingPod{Arrival: arrival, pod: v.Pod})
		}
	}
	return waiting
}

// judgeWaiting records which waiting creations would be right before version v is stored.
func (c *checker) judgeWaiting(v history.Version) {
	var job types.UID
	if v.Job != nil {
		job = v.Job.UID
	} else {
		job = history.JobOf(v.Pod)
	}
	l := c.ledgers[job]
	for _, w := range c.waiting[job] {
		if l != nil && l.writes >= w.Writes && v.Seen.After(w.At) && l.pods[w.pod.UID] == nil {
			w.right = w.right || len(l.mistakes(w.pod, c.before(w)...)) == 0
		}
	}
}

// before returns the waiting pods of the same Job whose creation arrived earlier.
func (c *checker) before(w *waitingPod) (pods []*corev1.Pod) {
	for _, other := range c.waiting[history.JobOf(w.pod)] {
		if other.At.Before(w.At) && c.pods[other.pod.UID] == nil {
			pods = append(pods, other.pod)
		}
	}
	return pods
}

// wasRight reports whether the creation of the pod waited, and was right at some time meanwhile.
func (c *checker) wasRight(l *ledger, pod *corev1.Pod) bool {
	return slices.ContainsFunc(c.waiting[l.job.UID], func(w *waitingPod) bool { return w.pod.UID == pod.UID && w.right })
}

// beside returns how many other pods occupy a place in the Job, and how many of them have the pod's index.
func (l *ledger) beside(pod *corev1.Pod) (all, ofIndex int32) {
	for uid, p := range l.pods {
		takesRoom := history.IsActive(p.pod) || history.IsTerminating(p.pod) && replacesFailedOnly(l.job)
		if uid == pod.UID || !p.isOf(l.job) || !takesRoom {
			continue
		}
		all++
		if history.IndexOf(p.pod) == history.IndexOf(pod) {
			ofIndex++
		}
	}
	return all, ofIndex
}

// bound returns how many pods may run, by the most permissive version that the controller may know.
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

// succeeded returns the number of completions, recorded or not. A success that was recorded as a failure before does not
// count.
func (l *ledger) succeeded(job *batchv1.Job) int32 {
	indexes, pods := map[int32]bool{}, int32(0)
	for uid, pod := range l.ended {
		if pod.Status.Phase == corev1.PodSucceeded && history.InRange(&job.Spec, history.IndexOf(pod)) && !l.failed[uid] {
			indexes[history.IndexOf(pod)] = true
			pods++
		}
	}
	if history.IsIndexed(&job.Spec) {
		return int32(len(indexes))
	}
	return pods
}
