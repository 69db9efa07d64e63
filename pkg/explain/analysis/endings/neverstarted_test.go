package endings_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// deadlineOf returns a Job that passed its deadline with one pod, train-x, which no longer exists; the events are the pod's.
func deadlineOf(events ...input.Event) input.Input {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		j.Spec.Parallelism, j.Spec.Completions = ptr.To[int32](1), ptr.To[int32](1)
		explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	}))
	created := explaintest.JobEvent("SuccessfulCreate", "Created pod: train-x", 1, time.Hour)
	created.Type = corev1.EventTypeNormal
	f.Events = append([]input.Event{created}, events...)
	return f
}

const unschedulable = "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."

// Requirements: FCT-05
func TestDeadlineThatWasSpentPendingNamesWhy(t *testing.T) {
	r := explaintest.Report(deadlineOf(explaintest.PodEvent("FailedScheduling", unschedulable, 30*time.Minute)))
	explaintest.WantVerdict(t, r, "The Job failed: its pods never started, as no node could take them: 3 nodes lack free cpu; meanwhile, its activeDeadlineSeconds (1m) passed.")
	explaintest.WantText(t, r, "free cpu on the nodes, or add a node")
	explaintest.WantWithout(t, r, "that ran", "give the Job more time", "resolve what kept its pods from starting")
	denied := deadlineOf()
	denied.Job.Status.Failed, denied.Events = 0, []input.Event{explaintest.JobEvent("FailedCreate", `Error creating: pods "train-x" is forbidden: error looking up service account ns/etl: serviceaccount "etl" not found`, 1, 30*time.Minute)}
	for want, f := range map[string]input.Input{
		"its pods never started because Secret none did not exist; its volume data needs it": deadlineOf(explaintest.PodEvent("FailedMount", `MountVolume.SetUp failed for volume "data" : secret "none" not found`, 30*time.Minute)),
		"its pods never started because Secret none did not exist":                           deadlineOf(explaintest.PodEvent("Failed", `Error: secret "none" not found`, 30*time.Minute)),
		"no pod could be created: ServiceAccount etl in namespace ns does not exist":         denied,
	} {
		r := explaintest.Report(f)
		explaintest.WantVerdict(t, r, "The Job failed: "+want+"; meanwhile, its activeDeadlineSeconds (1m) passed.")
		explaintest.WantWithout(t, r, "automatically", "give the Job more time")
	}
}

// Requirements: FCT-05
func TestPendingPodThatStillExistsShowsWhyTheDeadlineWasSpent(t *testing.T) {
	f := deadlineOf()
	f.Pods = []*input.Pod{explaintest.PodOf("train-x", func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.DeletionTimestamp = ptr.To(explaintest.Ago(10 * time.Minute))
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: unschedulable}}
	})}
	assert.Contains(t, explaintest.Verdict(explaintest.Report(f)), "its pods never started, as no node could take them: 3 nodes lack free cpu")
}

// Requirements: FCT-05, PND-03
func TestDeadlineThatWasSpentPullingNamesTheMeaning(t *testing.T) {
	pull := explaintest.PodEvent("Failed", `Failed to pull image "train:1": toomanyrequests: You have reached your pull rate limit`, 31*time.Minute)
	r := explaintest.Report(deadlineOf(pull, explaintest.PodEvent("Failed", "Error: ImagePullBackOff", 30*time.Minute)))
	explaintest.WantVerdict(t, r, "The Job failed: its pods never started, as image train:1 cannot be pulled: the registry's rate limit is exceeded; meanwhile, its activeDeadlineSeconds (1m) passed.")
}

// Requirements: FCT-05, PND-03
func TestDeadlineThatWasSpentPullingIsAboutTheImageWhateverRanBefore(t *testing.T) {
	const image = "registry.example/logging/cluster-logging-operator-bundle-of-the-mirror:v5.6.3"
	event := func(reason, container, message string, d time.Duration) input.Event {
		e := explaintest.PodEvent(reason, message, d)
		e.Type, e.Container = corev1.EventTypeNormal, container
		return e
	}
	f := deadlineOf(event("Scheduled", "", "Successfully assigned ns/train-x to worker-1", 34*time.Minute), event("Started", "util", "Started container util", 33*time.Minute),
		event("BackOff", "pull", `Back-off pulling image "`+image+`"`, 32*time.Minute))
	f.Job.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "util", Image: "util:1"}, {Name: "pull", Image: image}}
	r := explaintest.Report(f)
	explaintest.WantVerdict(t, r, "The Job failed: its pods never started, as image "+image+" cannot be pulled; init container pull needs it; meanwhile, its activeDeadlineSeconds (1m) passed.")
	explaintest.WantWithout(t, r, "give the Job more time", "--active-deadline-seconds", "that ran")
	if !explaintest.HasAdvice(r, "find the reason, which no event has, on node worker-1", "crictl pull "+image) {
		t.Errorf("%+v", r.Advice)
	}

	// An init container that started last may have run until the deadline.
	f.Events = append(f.Events, event("Started", "pull", "Started container pull", 31*time.Minute))
	assert.NotContains(t, explaintest.Verdict(explaintest.Report(f)), "never started")
}
