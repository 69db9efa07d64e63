package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/invariants"
)

// trail is what the log of the API server has of the requests for pods: who asked for a change, and when.
// No stored version shows that.
type trail struct {
	file string
	// read is how much of the file has been read.
	read int64
	// ours and builtIn are when our controllers' first change of a pod arrived, and that of kube-controller-manager.
	ours, builtIn map[types.NamespacedName]time.Time
	creations     map[types.UID]creation
}

// creation is when a request to create a pod arrived, and when it was answered.
type creation struct{ arrived, answered time.Time }

// lateFrom is how long a creation takes that waits.
const lateFrom = time.Second

func newTrail(file string) *trail {
	return &trail{file: file, ours: map[types.NamespacedName]time.Time{}, builtIn: map[types.NamespacedName]time.Time{}, creations: map[types.UID]creation{}}
}

// follow reads what has been logged since.
func (l *trail) follow() (err error) {
	l.read, err = auditLog(l.file, l.read, l.note)
	return err
}

func (l *trail) note(e auditEvent) {
	switch {
	case e.ObjectRef == nil || e.ObjectRef.Resource != "pods" || e.ObjectRef.Subresource != "":
	case e.Verb == "create" && e.ResponseObject != nil:
		l.creations[e.ResponseObject.UID] = creation{e.At, e.AnsweredAt}
	case e.Stage != arrival:
	case e.User.Username == systemUser:
		first(l.ours, e)
	case strings.HasPrefix(e.UserAgent, "kube-controller-manager/"):
		first(l.builtIn, e)
	}
}

func first(at map[types.NamespacedName]time.Time, e auditEvent) {
	pod := types.NamespacedName{Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name}
	if before, known := at[pod]; !known || e.At.Before(before) {
		at[pod] = e.At
	}
}

// excuses are the pods of our controllers' Jobs that kube-controller-manager has released, and those whose creation
// waited.
func (l *trail) excuses(versions []history.Version) invariants.Excuses {
	e := invariants.Excuses{Released: sets.New[types.UID](), Late: sets.New[types.UID]()}
	jobs, pods, written := map[types.UID]*batchv1.Job{}, map[types.UID]*corev1.Pod{}, map[types.UID]time.Time{}
	for _, v := range versions {
		if v.Job != nil {
			if old := jobs[v.Job.UID]; old != nil && !equality.Semantic.DeepEqual(old.Status, v.Job.Status) {
				written[v.Job.UID] = v.Seen
			}
			jobs[v.Job.UID] = v.Job
			continue
		}
		old, job := pods[v.Pod.UID], jobs[history.JobOf(v.Pod)]
		pods[v.Pod.UID] = v.Pod
		switch {
		case job == nil || history.IsBuiltIn(job):
		case old == nil && l.waited(v.Pod.UID, written[job.UID]):
			e.Late.Insert(v.Pod.UID)
		case old != nil && history.IsTracked(old) && (v.Gone || !history.IsTracked(v.Pod)) && l.isBuiltIn(v):
			e.Released.Insert(v.Pod.UID)
		}
	}
	return e
}

// waited reports whether the creation of a pod took long, and arrived before a write.
func (l *trail) waited(pod types.UID, write time.Time) bool {
	c, known := l.creations[pod]
	return known && c.answered.Sub(c.arrived) >= lateFrom && c.arrived.Before(write)
}

// isBuiltIn reports whether kube-controller-manager had asked for a change of the pod when the version was stored,
// and our controllers had not.
func (l *trail) isBuiltIn(v history.Version) bool {
	pod := types.NamespacedName{Namespace: v.Pod.Namespace, Name: v.Pod.Name}
	theirs, asked := l.builtIn[pod]
	ours, alsoOurs := l.ours[pod]
	return asked && !theirs.After(v.Seen) && (!alsoOurs || ours.After(v.Seen))
}

// forget drops what is known of the pods of a history.
func (l *trail) forget(versions []history.Version) {
	for _, v := range versions {
		if v.Pod != nil {
			pod := types.NamespacedName{Namespace: v.Pod.Namespace, Name: v.Pod.Name}
			delete(l.ours, pod)
			delete(l.builtIn, pod)
			delete(l.creations, v.Pod.UID)
		}
	}
}

// A pod that kube-controller-manager released is no mistake of ours, and neither is one whose creation waited while
// the Job ended (TRK-05, TRK-24); with a change of ours before, or without a wait, they are.
func TestTrailTellsWhoseMistakeItIs_TRK_05_TRK_24(t *testing.T) {
	t.Parallel()
	second := func(n float64) time.Time { return time.Unix(0, 0).Add(time.Duration(n * float64(time.Second))) }
	ref := &auditRef{Resource: "pods", Namespace: "ns", Name: "a"}
	change := func(user, agent string, at float64) auditEvent {
		return auditEvent{Stage: arrival, Verb: "patch", User: auditUser{user}, UserAgent: agent, ObjectRef: ref, At: second(at)}
	}
	ours := func(at float64) auditEvent { return change(systemUser, "kubectl-batchjob/v1", at) }
	builtIn := func(at float64) auditEvent {
		return change("admin", "kube-controller-manager/v1.37.1 (linux/amd64)", at)
	}
	create := func(at, answered float64) auditEvent {
		created := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
		return auditEvent{Stage: "ResponseComplete", Verb: "create", User: auditUser{systemUser}, ObjectRef: ref, ResponseObject: created, At: second(at), AnsweredAt: second(answered)}
	}
	status := change(systemUser, "kubectl-batchjob/v1", 1)
	status.ObjectRef = &auditRef{Resource: "pods", Subresource: "status", Namespace: "ns", Name: "a"}
	for what, c := range map[string]struct {
		log            []auditEvent
		released, late bool
	}{
		"nothing logged":               {nil, false, false},
		"ours":                         {[]auditEvent{ours(5)}, false, false},
		"the other one's":              {[]auditEvent{builtIn(5)}, true, false},
		"the other one's, and ours":    {[]auditEvent{ours(5.5), builtIn(5)}, false, false},
		"ours comes after that":        {[]auditEvent{builtIn(5), ours(7)}, true, false},
		"the other one's is too late":  {[]auditEvent{builtIn(7)}, false, false},
		"a person's":                   {[]auditEvent{change("admin", "kubectl/v1", 5)}, false, false},
		"of its status":                {[]auditEvent{status, builtIn(5)}, true, false},
		"a creation that waited":       {[]auditEvent{create(1, 4)}, false, true},
		"a creation after the write":   {[]auditEvent{create(2.5, 4)}, false, false},
		"a creation that did not wait": {[]auditEvent{create(1.5, 2.4)}, false, false},
	} {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "job", UID: "job"}}
		job.Spec.ManagedBy = ptr.To("batchjob.dev/controller")
		failed := job.DeepCopy()
		failed.Status.Failed = 1
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "a", Finalizers: []string{batchv1.JobTrackingFinalizer}}}
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		free := pod.DeepCopy()
		free.Finalizers = nil
		l := newTrail("")
		for _, e := range c.log {
			l.note(e)
		}
		versions := []history.Version{{Job: job, Seen: second(0)}, {Job: failed, Seen: second(2)}, {Pod: pod, Seen: second(3.9)}, {Pod: free, Seen: second(6)}}
		e := l.excuses(versions)
		if e.Released.Has("a") != c.released || e.Late.Has("a") != c.late {
			t.Errorf("%s: released %v, late %v", what, e.Released, e.Late)
		}
		if l.forget(versions); len(l.ours)+len(l.builtIn)+len(l.creations) > 0 {
			t.Errorf("%s: not forgotten: %+v", what, l)
		}
	}
}

// The log is read as it grows: a line that is half written waits, and one that was never completed is lost (SOK-01).
func TestTrailReadsTheLogAsItGrows_SOK_01(t *testing.T) {
	t.Parallel()
	const first, second = `{"kind":"Event","verb":"get"}`, `{"kind":"Event","verb":"list"}`
	file := filepath.Join(t.TempDir(), "audit.log")
	verbs, at := []string{}, int64(0)
	for _, c := range []struct {
		text, want string
	}{
		{first + "\n" + second[:10], "get"},
		{first + "\n" + second + "\n", "get list"},
		{first + "\n" + second + "\n" + first[:20] + second + "\n" + first + "\n", "get list list get"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if at, err = auditLog(file, at, func(e auditEvent) { verbs = append(verbs, e.Verb) }); err != nil || strings.Join(verbs, " ") != c.want {
			t.Errorf("%q, %v after %q", verbs, err, c.text)
		}
	}
}
