package testcluster

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
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

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
	ours, builtIn := of(SystemUser, "kubectl-batchjob/v1"), of("admin", "kube-controller-manager/v1.37.1 (linux/amd64) kubernetes/ab/job-controller")
	cronJobs, garbage := of("admin", "kube-controller-manager/v1.37.1 kubernetes/ab/cronjob-controller"), of("admin", "kube-controller-manager/v1.37.1 kubernetes/ab/generic-garbage-collector")
	create := func(at, answered float64) auditEvent {
		created := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
		return auditEvent{Stage: "ResponseComplete", Verb: "create", User: auditUser{SystemUser}, ObjectRef: ref, ResponseObject: created, At: second(at), AnsweredAt: second(answered)}
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
