package explain

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// The events of pods, in one request, show why a pod of a CronJob's Job does not start. Nothing is read if its pods have started.
// Requirements: CRJ-01, CLI-09
func TestAnswerAboutACronJobHasTheEventsOfAWaitingPod(t *testing.T) {
	for phase, wanted := range map[corev1.PodPhase]int32{corev1.PodPending: 1, corev1.PodRunning: 0} {
		job := clitest.SimpleJob("ns1", "nightly-1", 0)
		job.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: "uid-nightly", Controller: ptr.To(true)}})
		o := clitest.NewObjects(t, job)
		start := metav1.NewTime(clitest.Now().Add(-5 * time.Minute))
		o.API.CronJobs = []*batchv1.CronJob{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "nightly", UID: "uid-nightly"},
			Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *"}, Status: batchv1.CronJobStatus{LastScheduleTime: &start},
		}}
		pod := clitest.EndedPod(job, "nightly-1-a", 0, "")
		pod.Status = corev1.PodStatus{Phase: phase, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: start}}}
		o.Pods.Put(pod)
		o.Events = append(o.Events, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "e"}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pod.Name, UID: pod.UID},
			Type: "Warning", Reason: "FailedMount", Message: `MountVolume.SetUp failed for volume "scripts" : configmap "scripts" not found`, Count: 9, LastTimestamp: metav1.NewTime(clitest.Now()),
		})
		var requests atomic.Int32
		o.API.SetRefuse(func(r *http.Request) *clitest.Status {
			if strings.Contains(r.URL.RawQuery, "involvedObject.kind%3DPod") {
				requests.Add(1)
			}
			return nil
		})
		got := program.Run(t, o.API, "why", "cronjob/nightly")
		first, _, _ := strings.Cut(got.Out, "\n\n")
		if named := strings.Contains(strings.ReplaceAll(first, "\n", " "), "ConfigMap scripts"); got.Code != 0 || requests.Load() != wanted || named != (wanted == 1) {
			t.Errorf("%s: exit %d, %d requests for events of pods: %s%s", phase, got.Code, requests.Load(), first, got.ErrOut)
		}
	}
}
