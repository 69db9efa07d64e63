package observe

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// podRow is a pod in the cache: one that a Job controls, or one without a controller (a
// stray).
type podRow struct {
	// job controls the pod. For a stray that still has the tracking finalizer, it is the
	// Job that did, and has to remove it if no Job adopts the pod (TRK-20).
	job types.UID
	pod *reconcile.Pod
	// at is the pod's position in jobPods.rows.
	at int32
	// held reports whether the pod was reported to Cache.onHeld and still has its finalizer.
	held bool
	// more is what only few pods need; nil for others.
	more *podMore
}

// podMore takes as much memory as a pod. It changes only with its row.
type podMore struct {
	// namespace is kept for strays, and for pods whose Job is not in the cache.
	namespace string
	// labels are kept for strays, and for controlled pods without the label of
	// generated selectors.
	labels map[string]string
	stray  bool
	// jobName is the name of a Job that is not in the cache, if it is needed to find
	// out whether that Job exists.
	jobName string
	// strayAt is the pod's position in the strayIndex.
	strayAt int
}

func (r podRow) isStray() bool { return r.more != nil && r.more.stray }

// keeps reports whether the cache keeps a pod: a stray, or one that a Job controls, unless that Job is known, and not the
// caller's. The caller holds the lock.
func (c *Cache) keeps(r podRow) bool { return r.isStray() || r.job != "" && !c.isForeign(r.job) }

// Ignores reports whether the cache needs nothing of a pod with this controller, nil for none: it does not have the pod, and
// what controls the pod is no Job, or one that is not the caller's.
func (c *Cache) Ignores(pod types.UID, controller *metav1.OwnerReference) bool {
	if controller == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, gone := c.pods.gone[pod]
	if gone || c.pods.rows[pod] != nil {
		return false
	}
	job := jobUID(controller)
	return job == "" || c.isForeign(job)
}

// isForeign reports whether a Job is in the cache, and not the caller's. (spec.managedBy is immutable.) The caller holds
// the lock.
func (c *Cache) isForeign(uid types.UID) bool {
	job := c.job(uid)
	return job != nil && !c.owns(job)
}

func (r podRow) labels() map[string]string {
	if r.more == nil {
		return nil
	}
	return r.more.labels
}

// sameLabels distinguishes labels that are not kept from no labels.
func sameLabels(a, b podRow) bool {
	return (a.labels() == nil) == (b.labels() == nil) && maps.Equal(a.labels(), b.labels())
}

func (r podRow) jobName() string {
	if r.more == nil {
		return ""
	}
	return r.more.jobName
}

// isElsewhere reports whether the pod is not in the namespace of the Job that it names.
func (r podRow) isElsewhere(job *batchv1.Job) bool {
	return job != nil && r.more != nil && r.more.namespace != "" && r.more.namespace != job.Namespace
}

// slimPod is a pod between the watch and the store. The reflector reads its name
// while it collects a first list.
type slimPod struct {
	namespace string
	version   string
	row       podRow
	// former is the Job that a stray names as its own. jobName is the name of the Job of
	// any pod that this program created (or anyone, with orphansOfAll) and that has the
	// tracking finalizer.
	former  types.UID
	jobName string
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, for the reflector's temporary store.
func (s *slimPod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: s.namespace, Name: s.row.pod.Name}
}

// slim returns what the cache needs of a pod; ofAll is Cache.orphansOfAll.
func slim(pod *corev1.Pod, ofAll bool) *slimPod {
	p := Pod(pod)
	s := &slimPod{namespace: pod.Namespace, version: pod.ResourceVersion, row: podRow{job: JobUID(pod), pod: &p}}
	owner := metav1.GetControllerOfNoCopy(pod)
	made := isOurs(pod) || ofAll
	switch {
	case owner == nil:
		s.row.more = &podMore{namespace: pod.Namespace, labels: pod.Labels, stray: true}
		if made && p.Finalizer {
			s.former, s.jobName = formerJob(pod, ofAll)
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

// orEmpty returns non-nil labels: nil means that they are not kept.
func orEmpty(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

// newRow returns the row of a pod, given what is known of it and of its Job. The caller
// holds the lock.
func (c *Cache) newRow(old podRow, s *slimPod) podRow {
	r := s.row
	if old.pod != nil {
		// Each version is decoded into new strings; one of each is enough.
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
		// All pods of a Job share its string, instead of a decoded one each.
		r.job = job.UID
		return r
	}
	if r.more == nil {
		r.more = &podMore{}
	}
	r.more.namespace, r.more.jobName = s.namespace, nameOfJob(old, s, r.job)
	return r
}

// nameOfJob is the name of a Job that is not in the cache. A pod that was seen together with its Job
// needs none: whether the Job was ours is known. Somebody may have taken the labels since it was first seen.
func nameOfJob(old podRow, s *slimPod, job types.UID) string {
	switch {
	case old.pod != nil && old.jobName() == "":
		return ""
	case s.jobName == "" && job == old.job:
		return old.jobName()
	}
	return s.jobName
}

// changes returns what to report after a pod changed its state, and perhaps its Job.
func (c *Cache) changes(old, now podRow) []PodChange {
	var out []PodChange
	// Its Job does not see a stray, unless the Job is gone.
	shown := func(r podRow) *reconcile.Pod {
		if r.job == "" || r.isStray() && c.job(r.job) != nil {
			return nil
		}
		return r.pod
	}
	active := func(job types.UID) int {
		if of := c.byJob[job]; of != nil {
			return of.active
		}
		return 0
	}
	before, after := shown(old), shown(now)
	if before != nil && (after == nil || old.job != now.job) {
		out = append(out, PodChange{Job: old.job, Old: before, Active: active(old.job)})
		before = nil
	}
	if after != nil {
		out = append(out, PodChange{
			Job: now.job, Old: before, New: after, Active: active(now.job),
			Relabeled: before != nil && !sameLabels(old, now),
		})
	}
	return out
}
