package soak

import (
	"fmt"
	"math/rand/v2"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// deed is a user action: its kind, the choice among the suitable objects, and a parameter.
type deed struct {
	what  string
	which float64
	how   int
}

func nextDeed(dice *rand.Rand) deed {
	// Some actions are more frequent than others.
	deeds := []string{
		"suspend", "suspend", "resume", "resume", "resume", "parallelism", "parallelism", "elastic", "elastic",
		"delete Job", "delete Job", "delete pod", "delete pod", "delete pod", "delete pod", "evict", "evict",
	}
	return deed{deeds[dice.IntN(len(deeds))], dice.Float64(), dice.IntN(12)}
}

// doDeed draws an action, and carries it out if there is a suitable object. Only objects in the newest namespace are
// disturbed, so that everything ends eventually.
func (s *soak) doDeed() {
	d := nextDeed(s.user)
	if len(s.spaces) == 0 || s.spaces[len(s.spaces)-1].closed {
		return
	}
	now := past.now(s.spaces[len(s.spaces)-1].name)
	var err error
	switch d.what {
	case "delete pod", "evict":
		if pod := pick(now.pods, d.which, history.IsRunning); pod != nil {
			err = s.disturb(pod, d)
			s.done[d.what]++
		}
	default:
		if job := pick(now.jobs, d.which, d.suits); job != nil {
			err = s.change(job, d)
			s.done[d.what]++
		}
	}
	s.tolerate(d.what, err)
}

// tolerate accepts an error because another client was faster, and any error during an outage.
func (s *soak) tolerate(what string, err error) {
	// The Job may no longer be elastic.
	isLate := apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) && what == "elastic"
	if err != nil && !isLate && s.ledger.Calm() {
		s.t.Fatalf("%s: %v", what, err)
	}
}

// pick returns a qualifying element, at the same relative position for the same decision, or nil if there is none.
func pick[T any](list []*T, which float64, qualifies func(*T) bool) *T {
	var candidates []*T
	for _, o := range list {
		if qualifies(o) {
			candidates = append(candidates, o)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return candidates[int(which*float64(len(candidates)))]
}

// suits reports whether the action is possible for the Job.
func (d deed) suits(job *batchv1.Job) bool {
	suspended := ptr.Deref(job.Spec.Suspend, false)
	if history.IsFinished(job) || job.DeletionTimestamp != nil {
		return false
	}
	switch d.what {
	case "suspend":
		return !suspended
	case "resume":
		return suspended
	case "elastic":
		return job.Labels[kindLabel] == "elastic" && ptr.Equal(job.Spec.Completions, job.Spec.Parallelism)
	}
	return true
}

func (s *soak) change(job *batchv1.Job, d deed) error {
	jobs := client.BatchV1().Jobs(job.Namespace)
	patch := ""
	switch n := 1 + d.how%5; d.what {
	case "suspend":
		patch = `{"spec":{"suspend":true}}`
	case "resume":
		patch = `{"spec":{"suspend":false}}`
	case "parallelism":
		patch = fmt.Sprintf(`{"spec":{"parallelism":%d}}`, n)
	case "elastic":
		patch = fmt.Sprintf(`{"spec":{"parallelism":%d,"completions":%d}}`, n, n)
	case "delete Job":
		policy := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[d.how%3]
		return jobs.Delete(s.t.Context(), job.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
	}
	_, err := jobs.Patch(s.t.Context(), job.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *soak) disturb(pod *corev1.Pod, d deed) error {
	pods := client.CoreV1().Pods(pod.Namespace)
	if d.what == "evict" {
		return pods.EvictV1(s.t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace}})
	}
	return pods.Delete(s.t.Context(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To([]int64{0, 1, 30}[d.how%3])})
}

// tidy deletes Jobs that finished a while ago, and pods of deleted Jobs. Once no more Jobs are created, suspended Jobs
// are resumed, and Jobs that no controller runs are deleted.
func (s *soak) tidy(space *space) {
	now, jobs := past.now(space.name), map[types.UID]bool{}
	for _, job := range now.jobs {
		jobs[job.UID] = true
		s.tolerate("tidying up", s.tidyJob(space, job))
	}
	for _, pod := range now.pods {
		if uid := types.UID(pod.Labels[batchv1.ControllerUidLabel]); !jobs[uid] && pod.DeletionTimestamp == nil && metav1.GetControllerOf(pod) == nil {
			s.tolerate("tidying up", client.CoreV1().Pods(space.name).Delete(s.t.Context(), pod.Name, metav1.DeleteOptions{}))
		}
	}
}

func (s *soak) tidyJob(space *space, job *batchv1.Job) error {
	switch {
	case job.DeletionTimestamp != nil:
		return nil
	case finishedFor(job) > keepFinished && job.Spec.TTLSecondsAfterFinished == nil,
		space.closed && (s.hurried || ptr.Deref(job.Spec.ManagedBy, "") == "example.com/nobody"):
		policy := metav1.DeletePropagationBackground
		return client.BatchV1().Jobs(space.name).Delete(s.t.Context(), job.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
	case history.IsBuiltIn(job) && !history.IsFinished(job) && time.Since(space.opened) > stalledAfter:
		s.stalled++
		s.say("the built-in controller does not go on with Job %s/%s: deleting it", job.Namespace, job.Name)
		return s.change(job, deed{what: "delete Job"})
	case space.closed && ptr.Deref(job.Spec.Suspend, false) && !history.IsFinished(job):
		return s.change(job, deed{what: "resume"})
	}
	return nil
}

func finishedFor(job *batchv1.Job) time.Duration {
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		if c := history.Condition(job, t); c != nil {
			return time.Since(c.LastTransitionTime.Time)
		}
	}
	return 0
}
