package e2e

import (
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// indexedJob returns a Job whose pods follow the annotations, given without the prefix kwok.batchjob.dev/.
func indexedJob(completions, parallelism int32, annotations map[string]string, change func(*batchv1.JobSpec)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	job.Spec = batchv1.JobSpec{
		ManagedBy: ptr.To("batchjob.dev/controller"), CompletionMode: ptr.To(batchv1.IndexedCompletion),
		Completions: &completions, Parallelism: &parallelism,
	}
	job.Spec.Template.Annotations = map[string]string{}
	for key, value := range annotations {
		job.Spec.Template.Annotations["kwok.batchjob.dev/"+key] = value
	}
	job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}
	if change != nil {
		change(&job.Spec)
	}
	return job
}

// The upgrade test of KEP-3850's production readiness review: upgrade, downgrade, upgrade, with the real binary, a
// long-running Job, and pods deleted with a grace period of 1 s.
// Requirements: BLI-36
func TestJobSurvivesUpgradeAndDowngrade(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	arguments := []string{"--namespaces", ns, "--managed-by", ownManager(ns)}
	job := indexedJob(3, 3, map[string]string{"run-time": "30m"}, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
	job.Name = "job-longrun"
	create(t, ns, job, managedBy(ns))

	p := startController(t, arguments...)
	failTwice(t, ns, 0)
	is := func(active, failed int32, failedIndexes *string) func(*batchv1.Job) bool {
		return func(j *batchv1.Job) bool {
			return countsOf(j) == counts{active: active, failed: failed} && ptr.Equal(j.Status.FailedIndexes, failedIndexes)
		}
	}
	untilJob(t, ns, "job-longrun", `active 2, failedIndexes "0"`, is(2, 2, ptr.To("0")))
	assert.Equal(t, p.stop(t), 0, "the controller ends with")

	p = startController(t, append(arguments, "--feature-gates", "JobBackoffLimitPerIndex=false")...)
	untilJob(t, ns, "job-longrun", "active 3, no failedIndexes", is(3, 2, nil))
	for _, pod := range untilRunning(t, ns, "job-longrun", 3) {
		if count, there := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]; there != (indexOf(pod) != 0) {
			t.Errorf("index %d has failed %q times, by its annotation", indexOf(pod), count)
		}
	}
	assert.Equal(t, p.stop(t), 0, "the controller ends with")

	startController(t, arguments...)
	untilJob(t, ns, "job-longrun", "failedIndexes there again, and empty", is(3, 2, ptr.To("")))
	failTwice(t, ns, 1)
	untilJob(t, ns, "job-longrun", `active 2, failedIndexes "1"`, is(2, 4, ptr.To("1")))
	indexes := []int32{}
	for _, pod := range untilRunning(t, ns, "job-longrun", 2) {
		indexes = append(indexes, indexOf(pod))
	}
	if slices.Sort(indexes); !slices.Equal(indexes, []int32{0, 2}) {
		t.Errorf("indexes %v run, want 0 and 2", indexes)
	}
}

// failTwice deletes the running pod of an index, and its replacement once that runs.
func failTwice(t *testing.T, ns string, index int32) {
	t.Helper()
	for count := range 2 {
		what := fmt.Sprintf("of index %d, after %d failures", index, count)
		pod := untilPods(t, ns, "job-longrun", 1, what, func(pod *corev1.Pod) bool {
			return isRunning(pod) && indexOf(pod) == index && pod.Annotations[batchv1.JobIndexFailureCountAnnotation] == fmt.Sprint(count)
		})[0]
		deletePod(t, pod, 1)
	}
}
