package suite

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// Change modifies the Job that a case creates.
type Change func(*batchv1.Job)

// Job is a Job that belongs to a case.
type Job struct {
	t    *T
	name string
	uid  types.UID
}

// Create creates a Job for the controller under test, named after the case.
func (t *T) Create(changes ...Change) *Job { return t.CreateNamed("", changes...) }

// CreateNamed creates a Job whose name ends in a suffix.
func (t *T) CreateNamed(suffix string, changes ...Change) *Job {
	job := t.Draft(changes...)
	job.Name += suffix
	stored, err := t.Client.BatchV1().Jobs(t.Namespace).Create(t.ctx, job, metav1.CreateOptions{})
	t.must("creating Job "+job.Name, err)
	return t.Adopt(stored)
}

// Draft returns the Job that Create would create.
func (t *T) Draft(changes ...Change) *batchv1.Job {
	job := t.newJob(t.name)
	for _, change := range changes {
		change(job)
	}
	return job
}

// Adopt adds a stored Job to the case.
func (t *T) Adopt(stored *batchv1.Job) *Job {
	j := &Job{t: t, name: stored.Name, uid: stored.UID}
	t.jobs = append(t.jobs, j)
	t.must("recording a Job", t.recorder.WaitFor(t.ctx, stored))
	return j
}

// Name returns the Job's name.
func (j *Job) Name() string { return j.name }

// UID returns the Job's UID.
func (j *Job) UID() types.UID { return j.uid }

// Now returns the latest version of the Job.
func (j *Job) Now() *batchv1.Job {
	versions := j.Versions()
	return versions[len(versions)-1]
}

// Versions returns all versions of the Job, the oldest first.
func (j *Job) Versions() []*batchv1.Job {
	versions, _ := j.t.recorder.Job(j.uid)
	return versions
}

// Pods returns the Job's existing pods, the oldest first.
func (j *Job) Pods() []*corev1.Pod {
	return slices.DeleteFunc(j.AllPods(), func(pod *corev1.Pod) bool { return j.t.recorder.Pod(pod.UID).Gone })
}

// AllPods returns all pods that the Job ever had, in their current or last version.
func (j *Job) AllPods() (list []*corev1.Pod) {
	for _, v := range j.t.recorder.Pods() {
		if history.JobOf(v.Pod) == j.uid {
			list = append(list, v.Pod)
		}
	}
	return list
}

// Running returns the running pods, lowest index first.
func (j *Job) Running() []*corev1.Pod {
	list := slices.DeleteFunc(j.Pods(), func(pod *corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil
	})
	slices.SortStableFunc(list, func(a, b *corev1.Pod) int { return int(history.IndexOf(a) - history.IndexOf(b)) })
	return list
}

// UntilRunning waits until exactly n pods run, and returns them.
func (j *Job) UntilRunning(n int) []*corev1.Pod {
	j.t.until(fmt.Sprintf("%d pods of %s run", n, j.name), func() bool { return len(j.Running()) == n })
	return j.Running()
}

// UntilIndex waits until a pod of the index runs, and returns it.
func (j *Job) UntilIndex(index int32) (pod *corev1.Pod) {
	j.t.until(fmt.Sprintf("a pod of index %d of %s runs", index, j.name), func() bool {
		for _, p := range j.Running() {
			if history.IndexOf(p) == index {
				pod = p
				return true
			}
		}
		return false
	})
	return pod
}

// Until waits until a version of the Job satisfies reached, even a past one, and returns that version.
func (j *Job) Until(what string, reached func(*batchv1.Job) bool) (found *batchv1.Job) {
	j.t.until(what, func() bool {
		for _, version := range j.Versions() {
			if reached(version) {
				found = version
				return true
			}
		}
		return false
	})
	j.t.Observe("%s", what)
	return found
}

// UntilNow waits until the latest version of the Job satisfies reached.
func (j *Job) UntilNow(what string, reached func(*batchv1.Job) bool) *batchv1.Job {
	j.t.until(what, func() bool { return reached(j.Now()) })
	j.t.Observe("%s", what)
	return j.Now()
}

// UntilComplete waits until the Job is finished; it must be Complete.
func (j *Job) UntilComplete() *batchv1.Job { return j.untilFinished(batchv1.JobComplete, "") }

// UntilFailed waits until the Job is finished; it must be Failed with the reason.
func (j *Job) UntilFailed(reason string) *batchv1.Job {
	return j.untilFinished(batchv1.JobFailed, reason)
}

func (j *Job) untilFinished(end batchv1.JobConditionType, reason string) *batchv1.Job {
	j.t.until(fmt.Sprintf("the Job is %s", end), func() bool { return history.IsFinished(j.Now()) })
	job := j.Now()
	c := history.Condition(job, end)
	if c == nil {
		j.t.Fatalf(fmt.Sprintf("the Job is %s", end), "%s", j.describe())
	}
	if reason == "" {
		j.t.Observe("the Job is %s", end)
		return job
	}
	Equal(j.t, fmt.Sprintf("the reason of %s", end), reason, c.Reason)
	return job
}

// UntilGone waits until the Job no longer exists.
func (j *Job) UntilGone() {
	j.t.until("the Job is gone", func() bool {
		_, gone := j.t.recorder.Job(j.uid)
		return gone
	})
	j.t.Observe("the Job is gone")
}

// Play makes the Job's pods end by themselves, as play decides.
func (j *Job) Play(play Play) {
	j.t.player.change(func() { j.t.player.plays[j.name] = play })
}

// Hold keeps deleted pods of the Job terminating until Release.
func (j *Job) Hold() { j.t.player.change(func() { j.t.player.holds[j.name] = true }) }

// Release allows terminating pods to end.
func (j *Job) Release() { j.t.player.change(func() { delete(j.t.player.holds, j.name) }) }

// Patch merges a change into the Job.
func (j *Job) Patch(patch string) *batchv1.Job {
	stored, err := j.t.Client.BatchV1().Jobs(j.t.Namespace).Patch(j.t.ctx, j.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	j.t.must("changing the Job", err)
	j.t.must("recording the Job", j.t.recorder.WaitFor(j.t.ctx, stored))
	j.t.Observe("the Job is changed: %s", patch)
	return stored
}

// Delete deletes the Job.
func (j *Job) Delete(policy metav1.DeletionPropagation) {
	err := j.t.Client.BatchV1().Jobs(j.t.Namespace).Delete(j.t.ctx, j.name, metav1.DeleteOptions{
		PropagationPolicy: &policy, Preconditions: metav1.NewUIDPreconditions(string(j.uid)),
	})
	j.t.must("deleting the Job", err)
}

// describe returns the state of the Job, for a wait that timed out.
func (j *Job) describe() string {
	job := j.Now()
	s := job.Status
	parts := []string{fmt.Sprintf("%s has active %d, ready %d, terminating %s, succeeded %d, failed %d", j.name,
		s.Active, ptr.Deref(s.Ready, 0), optional(s.Terminating), s.Succeeded, s.Failed)}
	if history.IsIndexed(&job.Spec) {
		parts = append(parts, fmt.Sprintf("completedIndexes %q, failedIndexes %q", s.CompletedIndexes, ptr.Deref(s.FailedIndexes, "")))
	}
	for _, c := range s.Conditions {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason)))
	}
	phases := map[string]int{}
	for _, pod := range j.Pods() {
		phase := string(pod.Status.Phase)
		if pod.DeletionTimestamp != nil {
			phase += " and being deleted"
		}
		phases[phase]++
	}
	return strings.Join(append(parts, fmt.Sprintf("pods %v", phases)), ", ")
}

func optional(n *int32) string {
	if n == nil {
		return "absent"
	}
	return fmt.Sprint(*n)
}
