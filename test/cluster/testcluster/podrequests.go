package testcluster

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// podRequests holds the requests for pods from the API server's audit log: who requested a change, and when. No stored
// version shows that.
type podRequests struct {
	file string
	// read is the number of bytes of the file that have been read.
	read int64
	// ours and builtIn are the first changes of a pod that our controllers and kube-controller-manager's Job controller
	// requested.
	ours, builtIn map[types.NamespacedName]change
	// creations are our creations, by UID; statuses are the times when our status writes of a Job were answered.
	creations map[types.UID]creation
	statuses  map[types.NamespacedName][]time.Time
}

// change holds when the first request arrived, and when one first succeeded; zero for never.
type change struct{ arrived, succeeded time.Time }

// creation holds when a request to create a pod arrived, and when it was answered.
type creation struct{ arrived, answered time.Time }

// lateFrom is the duration from which a creation counts as late.
const lateFrom = time.Second

func newPodRequests(file string) *podRequests {
	return &podRequests{
		file: file, ours: map[types.NamespacedName]change{}, builtIn: map[types.NamespacedName]change{},
		creations: map[types.UID]creation{}, statuses: map[types.NamespacedName][]time.Time{},
	}
}

// follow reads the new part of the log.
func (r *podRequests) follow() (err error) {
	r.read, err = auditLog(r.file, r.read, r.note)
	return err
}

func (r *podRequests) note(e auditEvent) {
	ref := e.ObjectRef
	if ref == nil {
		return
	}
	isOurs, resource := e.User.Username == SystemUser, ref.resource()
	name := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	switch {
	case resource == "jobs/status" && isOurs && e.succeeded():
		r.statuses[name] = append(r.statuses[name], e.AnsweredAt)
	case resource != "pods":
	case e.Verb == "create":
		if e.ResponseObject != nil && e.ResponseObject.UID != "" {
			r.creations[e.ResponseObject.UID] = creation{e.At, e.AnsweredAt}
		}
	case isOurs:
		keepFirst(r.ours, name, e)
	case isJobController(e.UserAgent):
		keepFirst(r.builtIn, name, e)
	}
}

// isJobController reports whether a user agent is the Job controller of kube-controller-manager.
func isJobController(agent string) bool {
	return strings.HasPrefix(agent, "kube-controller-manager/") && (strings.HasSuffix(agent, "/job-controller") || strings.HasSuffix(agent, ":job-controller"))
}

func keepFirst(changes map[types.NamespacedName]change, pod types.NamespacedName, e auditEvent) {
	c, known := changes[pod]
	if !known {
		c.arrived = e.At
	}
	if e.succeeded() && c.succeeded.IsZero() {
		c.succeeded = e.AnsweredAt
	}
	changes[pod] = c
}

// excuses returns the pods of our controllers' Jobs that kube-controller-manager released, and the ones whose creation
// waited.
func (r *podRequests) excuses(versions []history.Version) invariants.Excuses {
	e := invariants.Excuses{Released: sets.New[types.UID](), Late: map[types.UID]invariants.Arrival{}}
	jobs, pods := map[types.UID]history.Version{}, map[types.UID]*corev1.Pod{}
	for _, v := range versions {
		if v.Job != nil {
			jobs[v.Job.UID] = v
			continue
		}
		old, owner := pods[v.Pod.UID], jobs[history.JobOf(v.Pod)]
		pods[v.Pod.UID] = v.Pod
		switch {
		case owner.Job == nil || owner.Gone || history.IsBuiltIn(owner.Job) || owner.Job.DeletionTimestamp != nil:
		case old == nil:
			if c, known := r.creations[v.Pod.UID]; known && c.answered.Sub(c.arrived) >= lateFrom {
				e.Late[v.Pod.UID] = invariants.Arrival{At: c.arrived, Writes: r.statusesBefore(owner.Job, c.arrived)}
			}
		case old.DeletionTimestamp != nil && history.IsTracked(old) && (v.Gone || !history.IsTracked(v.Pod)) && r.releasedByBuiltIn(v):
			e.Released.Insert(v.Pod.UID)
		}
	}
	return e
}

// statusesBefore returns how many status writes of the Job had been answered at a time.
func (r *podRequests) statusesBefore(job *batchv1.Job, at time.Time) (n int) {
	for _, answered := range r.statuses[types.NamespacedName{Namespace: job.Namespace, Name: job.Name}] {
		if answered.Before(at) {
			n++
		}
	}
	return n
}

// releasedByBuiltIn reports whether kube-controller-manager had requested a change of the pod before the version was
// stored, and our controllers had not, or only after that change was made.
func (r *podRequests) releasedByBuiltIn(v history.Version) bool {
	pod := types.NamespacedName{Namespace: v.Pod.Namespace, Name: v.Pod.Name}
	theirs, asked := r.builtIn[pod]
	ours, alsoOurs := r.ours[pod]
	isFirst := !alsoOurs || ours.arrived.After(v.Seen) || !theirs.succeeded.IsZero() && theirs.succeeded.Before(ours.arrived)
	return asked && !theirs.arrived.After(v.Seen) && isFirst
}

// forget drops the requests for the pods and Jobs of a history.
func (r *podRequests) forget(versions []history.Version) {
	for _, v := range versions {
		name := types.NamespacedName{Namespace: v.Object().GetNamespace(), Name: v.Object().GetName()}
		if v.Job != nil {
			delete(r.statuses, name)
			continue
		}
		delete(r.ours, name)
		delete(r.builtIn, name)
		delete(r.creations, v.Pod.UID)
	}
}
