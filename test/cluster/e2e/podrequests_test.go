package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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
	isOurs, resource := e.User.Username == systemUser, ref.resource()
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

// A pod that kube-controller-manager released, or whose creation waited, is excused (TRK-05, TRK-24); after a change of
// ours, or without a wait, it is not.
func TestRequestsShowWhoReleasedAPod(t *testing.T) {
	t.Parallel()
	second := func(n float64) time.Time { return time.Unix(0, 0).Add(time.Duration(n * float64(time.Second))) }
	ref := &auditRef{Resource: "pods", Namespace: "ns", Name: "a"}
	of := func(user, agent string) func(at, answered float64) []auditEvent {
		return func(at, answered float64) []auditEvent {
			e := auditEvent{Stage: arrival, Verb: "patch", User: auditUser{user}, UserAgent: agent, ObjectRef: ref, At: second(at)}
			end := e
			end.Stage, end.AnsweredAt, end.ResponseStatus.Code = "ResponseComplete", second(answered), 200
			return []auditEvent{e, end}
		}
	}
	ours, builtIn := of(systemUser, "kubectl-batchjob/v1"), of("admin", "kube-controller-manager/v1.37.1 (linux/amd64) kubernetes/ab/job-controller")
	cronJobs, garbage := of("admin", "kube-controller-manager/v1.37.1 kubernetes/ab/cronjob-controller"), of("admin", "kube-controller-manager/v1.37.1 kubernetes/ab/generic-garbage-collector")
	create := func(at, answered float64) auditEvent {
		created := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
		return auditEvent{Stage: "ResponseComplete", Verb: "create", User: auditUser{systemUser}, ObjectRef: ref, ResponseObject: created, At: second(at), AnsweredAt: second(answered)}
	}
	status := ours(1, 1.5)[1]
	status.Verb, status.ObjectRef = "update", &auditRef{Resource: "jobs", Subresource: "status", Namespace: "ns", Name: "job"}
	podStatus := ours(1, 1.5)[1]
	podStatus.ObjectRef = &auditRef{Resource: "pods", Subresource: "status", Namespace: "ns", Name: "a"}
	const never = -1
	for what, c := range map[string]struct {
		log      []auditEvent
		released bool
		late     int
	}{
		"nothing logged":                     {nil, false, never},
		"ours":                               {ours(5, 6), false, never},
		"the other one's":                    {builtIn(5, 6), true, never},
		"the other one's, without an answer": {builtIn(5, 6)[:1], true, never},
		"the other one's, and ours":          {append(ours(5.5, 6), builtIn(5, 5.8)...), false, never},
		"ours comes after the version":       {append(builtIn(5, 5.8), ours(7, 8)...), true, never},
		"ours comes after the answer":        {append(builtIn(5, 5.3), ours(5.5, 6)...), true, never},
		"the other one's is too late":        {builtIn(7, 8), false, never},
		"of the CronJob controller":          {cronJobs(5, 6), false, never},
		"of the garbage collector":           {garbage(5, 6), false, never},
		"a person's":                         {of("admin", "kubectl/v1")(5, 6), false, never},
		"ours of its status":                 {append(builtIn(5, 6), podStatus), true, never},
		"a creation that waited":             {[]auditEvent{create(1, 4)}, false, 0},
		"one that waited after a status":     {[]auditEvent{status, create(2.5, 4)}, false, 1},
		"one that arrived before the answer": {[]auditEvent{status, create(1.2, 4)}, false, 0},
		"a creation that did not wait":       {[]auditEvent{create(1.5, 2.4)}, false, never},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job", UID: "job"}}
		job.Spec.ManagedBy = ptr.To("batchjob.dev/controller")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "a", Finalizers: []string{batchv1.JobTrackingFinalizer}}}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		deleted := pod.DeepCopy()
		deleted.DeletionTimestamp = &metav1.Time{Time: second(4)}
		free := deleted.DeepCopy()
		free.Finalizers = nil
		r := newPodRequests("")
		for _, e := range c.log {
			r.note(e)
		}
		versions := []history.Version{{Job: job, Seen: second(0)}, {Pod: pod, Seen: second(3.9)}, {Pod: deleted, Seen: second(4)}, {Pod: free, Seen: second(6)}}
		e := r.excuses(versions)
		writes := never
		if arrival, late := e.Late["a"]; late {
			writes = arrival.Writes
		}
		if e.Released.Has("a") != c.released || writes != c.late {
			t.Errorf("%s: released %v, late %v", what, e.Released, e.Late)
		}
		if e := r.excuses(slices.Delete(slices.Clone(versions), 2, 3)); len(e.Released) > 0 {
			t.Errorf("%s: released, and was not deleted", what)
		}
		if r.forget(versions); len(r.ours)+len(r.builtIn)+len(r.creations)+len(r.statuses) > 0 {
			t.Errorf("%s: not forgotten: %+v", what, r)
		}
	}
}

// The log is read as it grows: an incomplete line waits, and an event that was never completed is skipped (SOK-01).
func TestAuditLogIsReadAsItGrows(t *testing.T) {
	t.Parallel()
	const get, list = `{"kind":"Event","verb":"get"}`, `{"kind":"Event","verb":"list"}`
	file := filepath.Join(t.TempDir(), "audit.log")
	verbs, at := []string{}, int64(0)
	for _, c := range []struct{ text, want string }{
		{get + "\n" + list[:10], "get"},
		{get + "\n" + list + "\n", "get list"},
		{get + "\n" + list + "\n" + get[:20] + list + "\n" + get + "\n", "get list list get"},
	} {
		assert.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		var err error
		if at, err = auditLog(file, at, func(e auditEvent) { verbs = append(verbs, e.Verb) }); err != nil || strings.Join(verbs, " ") != c.want {
			t.Errorf("%q, %v after %q", verbs, err, c.text)
		}
	}
	assert.NoError(t, os.Truncate(file, 10))
	if _, err := auditLog(file, at, func(auditEvent) {}); err == nil {
		t.Error("the log has become shorter, and nobody notices")
	}
}
