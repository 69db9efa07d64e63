package analysis_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// completeJob returns a Job with one completion, which succeeded; its container has a memory limit.
func completeJob(change func(*batchv1.Job)) *batchv1.Job {
	return jobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Succeeded = ptr.To[int32](1), ptr.To[int32](1), 1
		j.Spec.Template.Spec.Containers[0].Resources = memory("512Mi")
		condition(j, batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "", time.Minute)
		j.Status.CompletionTime = ptr.To(ago(time.Minute))
		if change != nil {
			change(j)
		}
	})
}

// succeeded returns a pod whose main container exited with 0 for this reason.
func succeeded(name, reason string, change func(*corev1.Pod)) *input.Pod {
	return podOf(name, func(p *corev1.Pod) {
		exits(0, reason, time.Minute)(p)
		p.Spec.Containers[0].Resources = memory("512Mi")
		if change != nil {
			change(p)
		}
	})
}

func wantSentence(t *testing.T, r explain.Report, want string) {
	t.Helper()
	assert.Equal(t, verdict(r), want, "verdict")
}

// Requirements: FCT-01
func TestProcessThatIsOOMKilledMakesSuccessDoubtful(t *testing.T) {
	r := report(factsOf(completeJob(nil), succeeded("train-x", cause.OOMKilled, nil)))
	wantSentence(t, r, "The Job is complete: 1 of 1 pod succeeded in 59m; container main exited with code 0, but the kernel killed a process in it for lack of memory (OOMKilled, memory limit 512Mi): its result may be incomplete.")
	p := problem(t, r, explain.ProblemProcessOOMKilled)
	if p.Blocks || p.Count != 1 || r.Verdict.Problem == nil || len(r.Causes) != 0 || r.Counts.Failed != 0 {
		t.Errorf("%+v", r)
	}
	for _, advice := range []string{"raise the memory limit of container main, which is 512Mi", "exit with another code than 0", "kubectl logs train-x"} {
		if !hasAdvice(r, advice) {
			t.Errorf("no advice %q in %+v", advice, r.Advice)
		}
	}
}

// Requirements: FCT-01
func TestSidecarThatIsOOMKilledIsNamed(t *testing.T) {
	r := report(factsOf(completeJob(nil), succeeded("train-x", "Completed", func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "logs", Image: "shipper:1", Resources: memory("32Mi")}}
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "logs", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: cause.OOMKilled, StartedAt: ago(3 * time.Minute), FinishedAt: ago(2 * time.Minute)},
		}}}
	})))
	assert.Contains(t, verdict(r), "sidecar logs exited with code 137 for lack of memory (OOMKilled, memory limit 32Mi")
}

// A sidecar that the kubelet stops at the end of the pod is no problem, nor is a pod without one.
//
// Requirements: FCT-01
func TestUsualSuccessHasNoReservation(t *testing.T) {
	stopped := succeeded("train-x", "Completed", func(p *corev1.Pod) {
		p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "logs", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error", StartedAt: ago(3 * time.Minute), FinishedAt: ago(time.Minute)},
		}}}
	})
	assert.Equal(t, len(report(factsOf(completeJob(nil), stopped)).Problems), 0)
}

// Requirements: FCT-04
func TestDeletionWithoutPodsNamesWhatHoldsIt(t *testing.T) {
	held := func(j *batchv1.Job) {
		j.DeletionTimestamp, j.Finalizers = ptr.To(ago(time.Minute)), []string{"foregroundDeletion"}
	}
	const why = "he Job is being deleted and has no pods left, but the garbage collector has not removed its finalizer foregroundDeletion"
	r := report(factsOf(completeJob(held)))
	if !strings.HasPrefix(verdict(r), "The Job is complete: 1 of 1 pod succeeded in 59m; t"+why+". An admission policy or webhook may reject that") {
		t.Error(verdict(r))
	}
	r = report(factsOf(jobWith(held)))
	if !strings.HasPrefix(verdict(r), "T"+why+"; an admission policy or webhook may reject that") {
		t.Error(verdict(r))
	}
	if !hasAdvice(r, "kubectl annotate job train dry-run=true --dry-run=server -n ns") || !hasAdvice(r, "garbage collector", "kube-controller-manager") || hasAdvice(r, "pods are left") {
		t.Errorf("%+v", r.Advice)
	}
}

// Requirements: FCT-04
func TestDeletionWaitsForPodsUnlessThereAreNone(t *testing.T) {
	for name, change := range map[string]func(f *input.Input){
		"a pod is left": func(f *input.Input) {
			f.Pods = []*input.Pod{podOf("train-x", func(p *corev1.Pod) {
				p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(-time.Minute)), ptr.To[int64](120)
			})}
		},
		"pods could not be read": func(f *input.Input) { f.PodsRead = false },
	} {
		f := factsOf(jobWith(func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = ptr.To(ago(time.Minute)), []string{"foregroundDeletion"}
		}))
		change(&f)
		if r := report(f); !strings.HasPrefix(verdict(r), "The Job is being deleted, and has waited 1m for its pods to be deleted first (foreground deletion).") {
			t.Errorf("%s: %s", name, verdict(r))
		}
	}
}

// deadlineOf returns a Job that passed its deadline with one pod, train-x, which no longer exists; the events are the pod's.
func deadlineOf(events ...input.Event) input.Input {
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		j.Spec.Parallelism, j.Spec.Completions = ptr.To[int32](1), ptr.To[int32](1)
		ended(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	}))
	created := jobEvent("SuccessfulCreate", "Created pod: train-x", 1, time.Hour)
	created.Type = corev1.EventTypeNormal
	f.Events = append([]input.Event{created}, events...)
	return f
}

const unschedulable = "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."

// Requirements: FCT-05
func TestDeadlineThatWasSpentPendingNamesWhy(t *testing.T) {
	for want, e := range map[string]input.Event{
		"as no node could take them: 3 nodes lack free cpu": podEvent("FailedScheduling", unschedulable, 30*time.Minute),
	} {
		r := report(deadlineOf(e))
		wantSentence(t, r, "The Job failed: its pods never started, "+want+"; meanwhile, its activeDeadlineSeconds (1m) passed.")
		text := textsOf(r)
		if strings.Contains(text, "that ran") || strings.Contains(text, "give the Job more time") || !strings.Contains(text, "activeDeadlineSeconds also counts while they wait") {
			t.Error(text)
		}
	}
	r := report(deadlineOf(podEvent("FailedMount", `MountVolume.SetUp failed for volume "data" : secret "none" not found`, 30*time.Minute)))
	wantSentence(t, r, `The Job failed: its pods never started because Secret none did not exist; its volume data needs it; meanwhile, its activeDeadlineSeconds (1m) passed.`)
}

// textsOf returns the texts of the report.
func textsOf(r explain.Report) string {
	text := verdict(r)
	for _, e := range r.Evidence {
		text += "\n" + e.Text
	}
	for _, a := range r.Advice {
		text += "\n" + a.Text
	}
	return text
}

// Requirements: FCT-05
func TestDeadlineIsNotSpentPendingIfPodsMayHaveStarted(t *testing.T) {
	warning := podEvent("FailedScheduling", unschedulable, 40*time.Minute)
	started := podEvent("Started", "Started container main", 30*time.Minute)
	started.Type = corev1.EventTypeNormal
	other := jobEvent("SuccessfulCreate", "Created pod: train-y", 1, time.Hour)
	for name, f := range map[string]input.Input{
		"it started":               deadlineOf(warning, started),
		"nothing is known of it":   deadlineOf(),
		"another one is not known": deadlineOf(warning, other),
	} {
		if r := report(f); !strings.HasPrefix(verdict(r), "The Job failed: it ran longer than its activeDeadlineSeconds (1m)") || !hasAdvice(r, "give the Job more time") {
			t.Errorf("%s: %s", name, verdict(r))
		}
	}
	f := deadlineOf(warning)
	f.Job.Status.Failed = 2 // One of them no longer has an event.
	if r := report(f); strings.Contains(verdict(r), "never started") {
		t.Error(verdict(r))
	}
}

// Requirements: FCT-05
func TestPendingPodThatStillExistsShowsWhyTheDeadlineWasSpent(t *testing.T) {
	f := deadlineOf()
	f.Pods = []*input.Pod{podOf("train-x", func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.DeletionTimestamp = ptr.To(ago(10 * time.Minute))
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: unschedulable}}
	})}
	assert.Contains(t, verdict(report(f)), "its pods never started, as no node could take them: 3 nodes lack free cpu")
}

// Requirements: FCT-06
func TestKueueHoldsAJobForItsOwnReason(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) {
		j.Labels, j.Spec.Suspend = map[string]string{"kueue.x-k8s.io/queue-name": "team-a"}, ptr.To(true)
		condition(j, batchv1.JobSuspended, "JobSuspended", "Job suspended", time.Minute)
	})
	byKueue := func(reason, message string, d time.Duration) input.Event {
		e := jobEvent(reason, message, 1, d)
		e.Type, e.Source = corev1.EventTypeNormal, "batch/job-kueue-controller"
		return e
	}
	stopped := byKueue("Stopped", "The workload is deactivated due to exceeding the maximum number of re-queuing retries", time.Minute)
	foreign := stopped
	foreign.Source = "example.com/controller"
	for name, tc := range map[string]struct {
		events []input.Event
		want   string
	}{
		"it was never started":     {nil, "Kueue keeps the Job suspended (queue team-a)."},
		"it was stopped":           {[]input.Event{stopped}, "Kueue keeps the Job suspended (queue team-a): the workload is deactivated due to exceeding the maximum number of re-queuing retries."},
		"it was started again":     {[]input.Event{stopped, byKueue("Started", "Admitted by clusterQueue", time.Second)}, "Kueue keeps the Job suspended (queue team-a)."},
		"somebody else stopped it": {[]input.Event{foreign}, "Kueue keeps the Job suspended (queue team-a)."},
	} {
		f := factsOf(job)
		f.Events = tc.events
		assert.Equal(t, verdict(report(f)), tc.want, name)
	}
	if stall := analysis.StallOf(listed(factsOf(job))); stall != nil {
		t.Errorf("%+v", stall)
	}
}

// Another controller's finalizer can delay the deletion of a Job, even of a finished one: the first sentence names the finalizer,
// and its owner if it is known.
// Requirements: FCT-11.
func TestFinalizerThatHoldsADeletedJobIsNamed(t *testing.T) {
	const hook = "argocd.argoproj.io/hook-finalizer"
	held := func(d time.Duration, finalizers ...string) func(j *batchv1.Job) {
		return func(j *batchv1.Job) { j.DeletionTimestamp, j.Finalizers = ptr.To(ago(d)), finalizers }
	}
	for name, tc := range map[string]struct {
		job  *batchv1.Job
		want string
	}{
		"of a complete Job": {
			completeJob(held(2*time.Second, hook)),
			"The Job is complete: 1 of 1 pod succeeded in 59m; the Job is being deleted, and waits for the finalizer argocd.argoproj.io/hook-finalizer, which Argo CD should remove.",
		},
		"of a failed Job, for long": {
			jobWith(func(j *batchv1.Job) {
				ended(j, "Other", "it ended")
				held(time.Hour, hook)(j)
			}),
			"the Job is being deleted, and has waited 1h for the finalizer argocd.argoproj.io/hook-finalizer, which Argo CD should remove.",
		},
		"of a Job that runs": {
			jobWith(held(2*time.Minute, "example.com/x")),
			"The Job is being deleted, and has waited 2m for the finalizer example.com/x.",
		},
		"of several controllers": {
			completeJob(held(2*time.Second, "orphan", "example.com/x", "kueue.x-k8s.io/resource-in-use")),
			"waits for the finalizers example.com/x and kueue.x-k8s.io/resource-in-use (of Kueue).",
		},
	} {
		if r := report(factsOf(tc.job)); !strings.HasSuffix(verdict(r), tc.want) || r.Verdict.Problem == nil {
			t.Errorf("%s: %s", name, verdict(r))
		}
	}
	r := report(factsOf(completeJob(held(time.Minute, "orphan", hook))))
	const remove = `kubectl patch job train --type json -p '[{"op":"test","path":"/metadata/finalizers/1","value":"argocd.argoproj.io/hook-finalizer"},{"op":"remove","path":"/metadata/finalizers/1"}]' -n ns`
	if !hasAdvice(r, "Argo CD has not removed") || !hasAdvice(r, remove) {
		t.Errorf("%+v", r.Advice)
	}
}

// The pods of a finished Job take a while to be deleted: the first sentence mentions the deletion only if it lasts.
// Requirements: FCT-11.
func TestDeletionOfAnEndedJobMayTakeAWhile(t *testing.T) {
	for d, want := range map[time.Duration]bool{time.Minute: false, time.Hour: true} {
		f := factsOf(completeJob(func(j *batchv1.Job) {
			j.DeletionTimestamp, j.Finalizers = ptr.To(ago(d)), []string{"foregroundDeletion"}
		}))
		f.Pods = []*input.Pod{podOf("train-x", exits(0, "", time.Hour))}
		assert.Equalf(t, strings.Contains(verdict(report(f)), "is being deleted"), want, "after %s", d)
	}
}
