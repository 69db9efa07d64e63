package advice_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

func complete(job *batchv1.Job) *batchv1.Job {
	end := metav1.NewTime(explaintest.Noon.Add(-time.Hour))
	job.Status = batchv1.JobStatus{Succeeded: 1, CompletionTime: &end, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True", LastTransitionTime: end}}}
	return job
}

// A complete Job stays until something deletes it, and is in the way of an update of its pod template.
// Requirements: TOL-03
func TestCompleteJobThatStaysHasAdvice(t *testing.T) {
	for want, job := range map[string]*batchv1.Job{
		"set ttlSecondsAfterFinished":                                      explaintest.JobWith(func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](700) }),
		"delete it before helm upgrade --install changes its pod template": explaintest.ToolJob(nil, map[string]string{"meta.helm.sh/release-name": "web"}),
		"sync-options: Replace=true,Force=true in it":                      explaintest.ToolJob(nil, map[string]string{"argocd.argoproj.io/tracking-id": "shop:batch/Job:ns/train"}),
		"the annotation kustomize.toolkit.fluxcd.io/force: enabled in it":  explaintest.ToolJob(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}, nil),
	} {
		explaintest.WantText(t, explaintest.Report(explaintest.InputOf(complete(job))), want)
		job.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
		explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(job)), want)
	}
}

// Requirements: TOL-03
func TestJobThatIsCreatedAgainAfterItsTTLIsNamed(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](5) }), explaintest.PodOf("a", nil))
	f.Earlier = []input.Event{explaintest.JobEvent("Completed", "Job completed", 1, time.Minute)}
	again := "an earlier Job of this name completed 1m ago; ttlSecondsAfterFinished (5s) deleted it, and something created it again"
	explaintest.WantText(t, explaintest.Report(f), again, "leave out ttlSecondsAfterFinished: a tool that keeps the Job")
	f.Job.Annotations = map[string]string{"helm.sh/hook": "pre-upgrade"}
	explaintest.WantWithout(t, explaintest.Report(f), again)

	set := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Labels = map[string]string{"jobset.sigs.k8s.io/restart-attempt": "2"}
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "set", Controller: ptr.To(true)}}
	}), explaintest.PodOf("a", nil))
	set.Earlier = []input.Event{explaintest.JobEvent("BackoffLimitExceeded", "Job has reached the specified backoff limit", 1, time.Minute)}
	explaintest.WantText(t, explaintest.Report(set), "an earlier Job of this name failed 1m ago, and its JobSet started over (restart 2)")
}

// Requirements: TOL-03
func TestTTLOfAJobThatAToolKeepsIsDoubted(t *testing.T) {
	for want, labels := range map[string]map[string]string{
		"Argo CD creates a deleted Job again, or shows its Application as OutOfSync": {"argocd.argoproj.io/instance": "shop"},
		"Flux creates a deleted Job again":                                           {"kustomize.toolkit.fluxcd.io/name": "apps"},
	} {
		job := complete(explaintest.ToolJob(labels, nil))
		job.Spec.TTLSecondsAfterFinished = ptr.To[int32](60)
		explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job)), "leave out ttlSecondsAfterFinished: "+want)
	}
}

// A generated token is no part of a chart: the pod, or the Job, has to be created again.
// Requirements: PND-05, TOL-03
func TestGeneratedTokenThatIsGoneIsRenewed(t *testing.T) {
	pod := explaintest.PendingPod("", "")
	hook := explaintest.ToolJob(nil, map[string]string{"helm.sh/hook": "pre-install"})
	missing := []input.Event{explaintest.PodEvent("FailedMount", `MountVolume.SetUp failed for volume "t" : secret "web-token-ngdj5" not found`, time.Minute)}
	for _, inTemplate := range []bool{false, true} {
		want := "kubectl delete pod train-x -n ns"
		if inTemplate {
			hook.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "t", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "web-token-ngdj5"}}}}
			want = "kubectl delete job train -n ns"
		}
		f := explaintest.InputOf(hook, pod)
		f.Events = missing
		r := explaintest.Report(f)
		explaintest.WantText(t, r, "this Secret was the generated token of ServiceAccount web", want)
		explaintest.WantWithout(t, r, "make it a pre-install hook", "before it creates the other objects")
	}
}

// Requirements: TOL-03
func TestSuspendedJobOfAToolIsResumedInItsSourceToo(t *testing.T) {
	job := explaintest.ToolJob(nil, map[string]string{"argocd.argoproj.io/hook": "Sync"})
	job.Spec.Suspend, job.Status.Active = ptr.To(true), 0
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: "True"}}
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job)), "resume it", "take suspend: true out of the source of its Application, too")
	operated := job.DeepCopy()
	operated.Annotations, operated.Labels = nil, map[string]string{"ray.io/originated-from-crd": "RayJob", "ray.io/originated-from-cr-name": "train"}
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(operated)), "RayJob train, or a webhook, as that of Kueue suspends Jobs that name no queue")
	job.Status.Succeeded = 1 // It was not created suspended.
	explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(job)), "take suspend: true")
}
