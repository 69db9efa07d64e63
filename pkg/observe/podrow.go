package observe

import (
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// podRow is a pod in the cache: either a Job controls it, or it has no controller (a stray).
type podRow struct {
	// job is the UID of the Job that controls the pod. For a stray that still has the tracking finalizer, it is the
	// former Job, which has to remove the finalizer if no Job adopts the pod (TRK-20).
	job types.UID
	pod *reconcile.Pod
	// at is the pod's position in jobPods.rows.
	at int32
	// held reports whether the pod was reported to Cache.onHeld and still has its finalizer.
	held bool
	// more holds the fields that only few pods need; nil for others.
	more *podMore
}

// podMore holds the fields that only few pods need, since it takes as much memory as a pod. It changes only with its
// row.
type podMore struct {
	// namespace is kept for strays, and for pods whose Job is not in the cache.
	namespace string
	// labels are kept for strays, and for controlled pods without the label of
	// generated selectors.
	labels map[string]string
	stray  bool
	// jobName is the name of a Job that is not in the cache, if the name is needed to find out whether that Job exists.
	jobName string
	// strayAt is the pod's position in the strayIndex.
	strayAt int
}

func (r podRow) isStray() bool { return r.more != nil && r.more.stray }

// keeps reports whether the cache keeps a pod: a stray, or a pod controlled by a Job, unless that Job is known and not
// the caller's. The caller holds the lock.
func (c *Cache) keeps(r podRow) bool { return r.isStray() || r.job != "" && !c.isForeign(r.job) }

// Ignores reports whether the cache does not need a pod with this controller (nil for none): the cache does not have
// the pod, and its controller is not a Job, or is a Job known not to be the caller's.
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

// isForeign reports whether a Job is in the cache and not the caller's. (spec.managedBy is immutable.) The caller holds
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

// sameLabels reports whether both rows have the same labels; labels that are not kept differ from no labels.
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

// slimPod is a pod on the way from the watch to the store. The reflector reads its name while it collects the initial
// list.
type slimPod struct {
	namespace string
	version   string
	row       podRow
	// former is the Job that a stray names as its former controller. jobName is the name of the Job of any pod that has
	// the tracking finalizer and was created by this program (or, with orphansOfAll, by any program).
	former  types.UID
	jobName string
}

// GetObjectMeta implements metav1.ObjectMetaAccessor, for the reflector's temporary store.
func (s *slimPod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: s.namespace, Name: s.row.pod.Name}
}

// slim returns the parts of a pod that the cache needs; ofAll is Cache.orphansOfAll.
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

// newRow returns the row of a pod, given its previous row and the cached Jobs. The caller holds the lock.
func (c *Cache) newRow(old podRow, s *slimPod) podRow {
	r := s.row
	if old.pod != nil {
		// Each version is decoded into new strings; one copy of each is enough.
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
		// All pods of a Job share its UID string, instead of each holding a decoded copy.
		r.job = job.UID
		return r
	}
	if r.more == nil {
		r.more = &podMore{}
	}
	r.more.namespace, r.more.jobName = s.namespace, nameOfJob(old, s, r.job)
	return r
}

// nameOfJob returns the name of a Job that is not in the cache, or "". A pod that was seen together with its Job needs
// no name: it is known whether the Job was ours. A client may have removed the labels since the pod was first seen.
func nameOfJob(old podRow, s *slimPod, job types.UID) string {
	switch {
	case old.pod != nil && old.jobName() == "":
		return ""
	case s.jobName == "" && job == old.job:
		return old.jobName()
	}
	return s.jobName
}

// changes returns the changes to report after a pod changed its state, and perhaps its Job.
func (c *Cache) changes(old, now podRow) []PodChange {
	var out []PodChange
	// A stray is not shown to its Job, unless the Job is gone.
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
