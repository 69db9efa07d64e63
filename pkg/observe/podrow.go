package observe

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// podRow is a pod in the cache: one that a Job controls, or one that nobody controls
// (a stray).
type podRow struct {
	// job controls the pod. Of a stray that still holds the tracking finalizer it is
	// the Job that did, and has to take it away if nobody adopts the pod (TRK-20).
	job types.UID
	pod *reconcile.Pod
	// at is the pod's place in jobPods.rows.
	at int32
	// held says that the pod was reported to Cache.onHeld, and holds its finalizer still.
	held bool
	// more is what only few pods need; nil for the others.
	more *podMore
}

// podMore costs as much as a pod. It changes with its row only.
type podMore struct {
	// namespace is kept of strays, and of pods whose Job the cache does not hold there.
	namespace string
	// labels are kept of strays, and of controlled pods that do not have the label
	// that generated selectors ask for.
	labels map[string]string
	stray  bool
	// jobName is the name of a Job that the cache does not hold, where the pod is
	// needed to find out what has become of the Job.
	jobName string
	// strayAt is the pod's place in the strayIndex.
	strayAt int
}

func (r podRow) isStray() bool { return r.more != nil && r.more.stray }

// isKept says that the pod is of interest: somebody else's pods are not.
func (r podRow) isKept() bool { return r.job != "" || r.isStray() }

func (r podRow) labels() map[string]string {
	if r.more == nil {
		return nil
	}
	return r.more.labels
}

// sameLabels tells labels that are not kept from none.
func sameLabels(a, b podRow) bool {
	return (a.labels() == nil) == (b.labels() == nil) && maps.Equal(a.labels(), b.labels())
}

func (r podRow) jobName() string {
	if r.more == nil {
		return ""
	}
	return r.more.jobName
}

// isElsewhere says that the pod is not in the namespace of the Job that it names.
func (r podRow) isElsewhere(job *batchv1.Job) bool {
	return job != nil && r.more != nil && r.more.namespace != "" && r.more.namespace != job.Namespace
}

// slimPod is a pod between the watch and the store: the reflector wants to read a
// name from it while it gathers a first list.
type slimPod struct {
	namespace string
	version   string
	row       podRow
	// former is the Job that a stray names as its own, jobName the name of the Job of
	// any pod that this program made (or whoever did, if that does not matter) and that
	// holds the tracking finalizer.
	former  types.UID
	jobName string
}

// GetObjectMeta makes slimPod readable for the reflector's temporary store.
func (s *slimPod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: s.namespace, Name: s.row.pod.Name}
}

func (c *Cache) slim(pod *corev1.Pod) *slimPod {
	p := Pod(pod)
	s := &slimPod{namespace: pod.Namespace, version: pod.ResourceVersion, row: podRow{job: JobUID(pod), pod: &p}}
	owner := metav1.GetControllerOfNoCopy(pod)
	_, made := pod.Annotations[AttemptAnnotation]
	made = made || c.anyMaker
	switch {
	case owner == nil:
		s.row.more = &podMore{namespace: pod.Namespace, labels: pod.Labels, stray: true}
		if made && p.Finalizer {
			s.former, s.jobName = c.formerJob(pod)
		}
	case s.row.job != "":
		if pod.Labels[batchv1.ControllerUidLabel] != string(s.row.job) {
			s.row.more = &podMore{labels: orEmpty(pod.Labels)}
		}
		if made && p.Finalizer {
			s.jobName = owner.Name
		}
	}
	return s
}

// orEmpty tells no labels from labels that are not kept.
func orEmpty(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

// settle makes the row of a pod, which depends on what is known of it and of its Job.
// The caller holds the lock.
func (c *Cache) settle(old podRow, s *slimPod) podRow {
	r := s.row
	if old.pod != nil {
		// Each version is decoded with strings of its own; one of each is enough.
		r.pod.UID, r.pod.Name = old.pod.UID, old.pod.Name
	}
	if r.isStray() && r.pod.Finalizer {
		if r.job = old.job; r.job == "" {
			r.job = s.former
		}
	}
	if r.job == "" {
		return r
	}
	if job := c.job(r.job); job != nil && job.Namespace == s.namespace {
		// All pods of a Job share its string, instead of one each from decoding.
		r.job = job.UID
		return r
	}
	if r.more == nil {
		r.more = &podMore{}
	}
	r.more.namespace = s.namespace
	// A pod that was seen together with its Job needs no name: who saw the Job knows
	// whether it was theirs.
	if old.pod == nil || old.jobName() != "" {
		r.more.jobName = s.jobName
	}
	return r
}

// changes is what to tell after a pod went from one state, and perhaps one Job,
// to another.
func (c *Cache) changes(old, now podRow) []PodChange {
	var out []PodChange
	before, after := c.shown(old), c.shown(now)
	if before != nil && (after == nil || old.job != now.job) {
		out = append(out, PodChange{Job: old.job, Old: before, Active: c.activeOf(old.job)})
		before = nil
	}
	if after != nil {
		out = append(out, PodChange{
			Job: now.job, Old: before, New: after, Active: c.activeOf(now.job),
			Relabelled: before != nil && !sameLabels(old, now),
		})
	}
	return out
}

// shown is the pod as its Job sees it: nothing of a stray, unless the Job is gone.
func (c *Cache) shown(r podRow) *reconcile.Pod {
	if r.job == "" || r.isStray() && c.hasJob(r.job) {
		return nil
	}
	return r.pod
}
