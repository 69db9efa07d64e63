package testcluster

import (
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// The verdict finds each kind of violation (STV-25, PRP-24): a status that breaks a rule, a second pod of an index, too
// many pods, a finalizer left behind, a pod that ends twice, a write to another controller's Job, a rejected status.
func TestVerdictFindsEachViolation(t *testing.T) {
	t.Parallel()
	job := func(change func(*batchv1.Job)) history.Version {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job", UID: "job"}}
		j.Spec.ManagedBy, j.Spec.Parallelism = ptr.To("batchjob.dev/controller"), ptr.To[int32](1)
		j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		j.Spec.CompletionMode, j.Spec.Completions = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](3)
		change(j)
		return history.Version{Job: j}
	}
	pod := func(name, index string, change func(*corev1.Pod)) history.Version {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index}}}
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", UID: "job", Name: "job", Controller: ptr.To(true)}}
		p.Finalizers = []string{batchv1.JobTrackingFinalizer}
		change(p)
		return history.Version{Pod: p}
	}
	phase := func(to corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = to } }
	written := func(change func(*batchv1.JobStatus)) history.Version {
		return job(func(j *batchv1.Job) {
			j.Status.UncountedTerminatedPods, j.Status.Terminating = &batchv1.UncountedTerminatedPods{}, ptr.To[int32](0)
			change(&j.Status)
		})
	}
	same := func(*corev1.Pod) {}
	fresh := job(func(*batchv1.Job) {})
	for what, c := range map[string]struct {
		versions []history.Version
		text     string
	}{
		"nothing": {[]history.Version{fresh, pod("a", "0", same), pod("a", "0", phase(corev1.PodFailed)), pod("b", "0", same)}, ""},
		"a rule":  {[]history.Version{fresh, written(func(s *batchv1.JobStatus) { s.Ready = ptr.To[int32](1) })}, "STV-16"},
		"same index": {[]history.Version{
			job(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](2) }), pod("a", "0", same),
			pod("a", "0", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), pod("b", "0", same),
		}, "2 pods run for index 0"},
		"too many":   {[]history.Version{fresh, pod("a", "0", same), pod("b", "1", same)}, "2 pods run, and 1 may"},
		"footprint":  {[]history.Version{fresh, written(func(s *batchv1.JobStatus) { s.Active, s.Terminating = 1, ptr.To[int32](1) })}, "2 active and terminating"},
		"ends twice": {[]history.Version{fresh, pod("a", "0", phase(corev1.PodFailed)), pod("a", "0", phase(corev1.PodSucceeded))}, "ended Failed, and then Succeeded"},
		"finalizers": {[]history.Version{fresh, pod("a", "0", phase(corev1.PodFailed)), {Job: fresh.Job, Gone: true}}, "the Job is gone, and pod a holds its finalizer"},
		"trespass": {[]history.Version{job(func(j *batchv1.Job) {
			j.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Subresource: "status"}}
		})}, "kube-controller-manager has written Job job, status"},
	} {
		found := strings.Join(newAuditor(os.DevNull).audit("ns", c.versions), "\n")
		if c.text == "" && found != "" || !strings.Contains(found, c.text) {
			t.Errorf("%s: found %q", what, found)
		}
	}
	log := "E1 \"Sync failed\" err=\"writing the status: Job.batch \\\"x\\\" is invalid: status.ready: Invalid value\"\n"
	assert.Equal(t, len(badLines("I0 all is well\n"+log)), 1, "bad lines")
}
