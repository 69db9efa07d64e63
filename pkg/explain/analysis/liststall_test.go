package analysis_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// unlisted are the problems that a list does not report as stalls: problems with a STATUS of their own, and problems that
// only terminating pods or a Lease show.
var unlisted = map[explain.ProblemKind]bool{
	explain.ProblemSuspended: true, explain.ProblemDeleting: true, explain.ProblemControllerGone: true,
	explain.ProblemTerminatingHolds: true, explain.ProblemTerminatingStuck: true, explain.ProblemNodeGone: true,
}

// agrees fails unless the list and the report agree about a stall, and returns its kind, or "".
func agrees(t *testing.T, name string, f input.Input) explain.ProblemKind {
	t.Helper()
	r := explaintest.Report(f)
	stall := analysis.StallOf(explaintest.Listed(f))
	if !r.Verdict.Stalled {
		if stall != nil {
			t.Errorf("%s: the list has %+v, and why says: %s", name, stall, explaintest.Verdict(r))
		}
		return ""
	}
	p := r.Problems[*r.Verdict.Problem]
	switch {
	case unlisted[p.Kind] && stall == nil:
		return ""
	case stall == nil || stall.Kind != p.Kind:
		t.Errorf("%s: the list has %+v, and why says: %s", name, stall, explaintest.Verdict(r))
	case stall.Reason == "" || stall.Text != p.Text:
		t.Errorf("%s: %+v, want %s", name, stall, p.Text)
	}
	return p.Kind
}

// CLI-06, issue 17: for every recorded Job, a list reports the same stalls as why, as far as it can detect them.
func TestListAgreesOnRecordedStalls(t *testing.T) {
	found := map[explain.ProblemKind]int{}
	for _, c := range cases(t) {
		for _, f := range c.Inputs {
			found[agrees(t, c.Name, f)]++
		}
	}
	for _, kind := range []explain.ProblemKind{
		explain.ProblemNotReconciled, explain.ProblemCreationRefused, explain.ProblemImagePull, explain.ProblemContainerConfig,
		explain.ProblemUnschedulable, explain.ProblemSchedulingGated,
	} {
		if found[kind] == 0 {
			t.Errorf("no recorded Job is stalled by %s", kind)
		}
	}
}

// CLI-06, issue 17: the same for stalls that are not recorded, and the texts of the REASON column.
func TestListAgreesOnStalls(t *testing.T) {
	pending := func(change func(*corev1.Pod)) *input.Pod {
		return explaintest.PodOf("a", func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending; change(p) })
	}
	waiting := func(reason string) *input.Pod {
		return pending(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		})
	}
	active := func(n int32) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) { j.Status.Active, j.Status.Ready = n, ptr.To[int32](0) })
	}
	refused := func(message string) []input.Event {
		return []input.Event{explaintest.JobEvent("FailedCreate", message, 4, time.Minute)}
	}
	for name, tc := range map[string]struct {
		job    *batchv1.Job
		pods   []*input.Pod
		events []input.Event
		reason string
	}{
		"no ServiceAccount": {active(0), nil, refused(`Error creating: pods "train-x" is forbidden: error looking up service account ns/nope: serviceaccount "nope" not found`), "FailedCreate: ServiceAccount nope in namespace ns does not exist"},
		"no PriorityClass":  {active(0), nil, refused(`Error creating: pods "train-x" is forbidden: no PriorityClass with name nope was found`), "FailedCreate: PriorityClass nope does not exist"},
		"parallelism 0":     {explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) }), nil, nil, "NoParallelism"},
		"no controller":     {explaintest.JobWith(func(j *batchv1.Job) { j.Status = batchv1.JobStatus{} }), nil, nil, "NotReconciled"},
		"image":             {active(1), []*input.Pod{waiting("ImagePullBackOff")}, nil, "ImagePullBackOff"},
		"config":            {active(1), []*input.Pod{waiting("CreateContainerConfigError")}, nil, "CreateContainerConfigError"},
		"gates":             {active(1), []*input.Pod{pending(func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}} })}, nil, "SchedulingGated"},
		"no node": {active(1), []*input.Pod{pending(func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient cpu. preemption: none"}}
		})}, nil, "Unschedulable: 3 Insufficient cpu"},
		"image of another platform": {active(1), []*input.Pod{pending(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ErrImagePull", Message: "no match for platform in manifest: not found",
			}}}}
		})}, nil, "ErrImagePull: no image for the platform"},
		"volume": {active(1), []*input.Pod{pending(func(p *corev1.Pod) {
			p.Spec.NodeName = "node-1"
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}
		})}, []input.Event{explaintest.AboutPod("a", "Warning", "kubelet", "FailedMount", `MountVolume.SetUp failed for volume "data" : secret "train" not found`)}, "FailedMount: no Secret train"},
		"no scheduler":        {active(1), []*input.Pod{pending(func(*corev1.Pod) {})}, nil, "PodPending"},
		"one of two pods":     {active(2), []*input.Pod{waiting("ImagePullBackOff"), explaintest.PodOf("b", nil)}, nil, ""},
		"suspended":           {explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), nil, nil, ""},
		"complete":            {explaintest.JobWith(func(j *batchv1.Job) { explaintest.AddCondition(j, batchv1.JobComplete, "CompletionsReached", "", 0) }), nil, refused("exceeded quota"), ""},
		"no pod is missing":   {active(2), []*input.Pod{explaintest.PodOf("a", nil), explaintest.PodOf("b", nil)}, refused("exceeded quota"), ""},
		"runs and is refused": {active(1), []*input.Pod{explaintest.PodOf("a", nil)}, refused("exceeded quota"), ""},
	} {
		f := explaintest.InputOf(tc.job, tc.pods...)
		f.Events = tc.events
		agrees(t, name, f)
		reason := ""
		if stall := analysis.StallOf(explaintest.Listed(f)); stall != nil {
			reason = stall.Reason
		}
		assert.Equal(t, reason, tc.reason, name)
	}
}

// Requirements: PND-01
func TestNarrowColumnHasTheSchedulersReasons(t *testing.T) {
	stall := analysis.StallOf(explaintest.Listed(explaintest.InputOf(explaintest.JobOfOne(), explaintest.UnscheduledPod("0/9 nodes are available: 1 Insufficient nvidia.com/gpu, 8 Too many pods."))))
	if stall == nil || stall.Brief != "1 Insufficient nvidia.com/gpu, 8 Too many pods" {
		t.Fatalf("%+v", stall)
	}
	assert.Equal(t, words.Why(&explain.Outline{Stalled: stall}, explaintest.Noon, words.WhyWidth), "1 Insufficient nvidia.com/gpu…")
}

// A list reads no Normal events: a creation after a refusal shows only in a later status.
// Requirements: CLI-06
func TestListForgetsARefusalThatIsOver(t *testing.T) {
	for ago, stalled := range map[time.Duration]bool{10 * time.Second: false, 6 * time.Minute: true} {
		f := explaintest.Listed(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Status.Failed = 1
			written(j, ago)
		})))
		f.Events = []input.Event{explaintest.JobEvent("FailedCreate", "exceeded quota", 1, 5*time.Minute)}
		if stall := analysis.StallOf(f); (stall != nil) != stalled {
			t.Errorf("status written %s ago: %+v", ago, stall)
		}
	}
}

// Requirements: CLI-06. A Job that runs some of its pods, and cannot create the others, is not stalled, and shows why it lacks pods.
func TestListShowsWhyPodsOfARunningJobWait(t *testing.T) {
	const quota = "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2"
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		why    string
	}{
		"quota":              {func(*batchv1.Job) {}, "3 pods wait: quota q exhausted"},
		"ready after that":   {func(j *batchv1.Job) { written(j, 2*time.Minute) }, "3 pods wait: quota q exhausted"},
		"just changed":       {func(j *batchv1.Job) { written(j, time.Second) }, ""},
		"fewer are left":     {func(j *batchv1.Job) { j.Status.Succeeded = 7 }, "1 pod waits: quota q exhausted"},
		"others terminate":   {func(j *batchv1.Job) { j.Status.Terminating = ptr.To[int32](3) }, ""},
		"no pod is missing":  {func(j *batchv1.Job) { j.Status.Active = 5 }, ""},
		"queue that empties": {func(j *batchv1.Job) { j.Spec.Completions, j.Status.Succeeded = nil, 1 }, ""},
		"suspended":          {func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }, ""},
		"going to fail": {func(j *batchv1.Job) {
			explaintest.AddCondition(j, batchv1.JobFailureTarget, "BackoffLimitExceeded", "", 0)
		}, ""},
	} {
		job := explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Parallelism, j.Spec.Completions = ptr.To[int32](5), ptr.To[int32](10)
			j.Status.Active, j.Status.Ready = 2, ptr.To[int32](2)
			tc.change(j)
		})
		f := explaintest.Listed(explaintest.InputOf(job))
		f.Events = []input.Event{explaintest.JobEvent("FailedCreate", quota, 4, 5*time.Minute)}
		row := explain.Outline{Stalled: analysis.StallOf(f), Refused: analysis.RefusedOf(f)}
		if why := words.Why(&row, explaintest.Noon, words.WhyWidth); why != tc.why || row.Stalled != nil || row.HasProblem() != (tc.why != "") {
			t.Errorf("%s: %q, want %q; %+v", name, why, tc.why, row.Stalled)
		}
	}
}

// written sets when the Job's status was written.
func written(job *batchv1.Job, ago time.Duration) {
	job.ManagedFields = []metav1.ManagedFieldsEntry{{Subresource: "status", Time: ptr.To(metav1.NewTime(explaintest.Noon.Add(-ago)))}}
}

// A row of a healthy Job must be cheap: lists are rebuilt for each change.
func BenchmarkStallOf(b *testing.B) {
	healthy := explaintest.Listed(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Active, j.Status.Ready = 2, ptr.To[int32](2) })))
	refused := explaintest.Listed(explaintest.InputOf(explaintest.JobWith(nil)))
	refused.Events = []input.Event{explaintest.JobEvent("FailedCreate", strings.Repeat("x", 100), 4, time.Minute)}
	for name, f := range map[string]input.Input{"healthy": healthy, "refused": refused} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				analysis.StallOf(f)
			}
		})
	}
}

// A list shows how the container of a crash loop ends, and not only that it is restarted.
// Requirements: CLI-30
func TestAListShowsHowACrashLoopEnds(t *testing.T) {
	loops := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.Restarted(explaintest.WaitsFor("main", "CrashLoopBackOff"), 3, 1, time.Minute)})
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy, j.Status.Active = corev1.RestartPolicyOnFailure, 1
		j.Status.StartTime = ptr.To(metav1.NewTime(explaintest.Noon.Add(-time.Hour)))
	}), explaintest.PodOf("a", loops))
	f.Listed = true
	stall := analysis.StallOf(f)
	if stall == nil || stall.Brief != "exit 1, 3 restarts" || stall.Reason != "CrashLoopBackOff" {
		t.Errorf("%+v", stall)
	}
}
