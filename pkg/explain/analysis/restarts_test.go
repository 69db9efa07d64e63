package analysis_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// restarting returns a Job with restartPolicy OnFailure that failed by its backoffLimit 10 minutes ago, with failed
// failures counted.
func restarting(limit, failed int32) *batchv1.Job {
	return jobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		j.Spec.BackoffLimit, j.Status.Failed = &limit, failed
		ended(j, "BackoffLimitExceeded", "")
	})
}

// restartedPod returns a pod change: the pod runs, its container exited with code and was restarted, and the pod was
// deleted d ago if d is not 0.
func restartedPod(restarts, code int32, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: ago(11 * time.Minute)}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: code, Reason: "Error", Message: "no licence", StartedAt: ago(12 * time.Minute), FinishedAt: ago(12*time.Minute - 2*time.Second),
			}},
		}}
		if d > 0 {
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(ago(d-30*time.Second)), ptr.To[int64](30)
		}
	}
}

// stopped ends the container of such a pod with code, which fails the pod.
func stopped(start func(*corev1.Pod), code int32, at metav1.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		start(p)
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", StartedAt: ago(11 * time.Minute), FinishedAt: at}}
	}
}

// counted removes the finalizer.
func counted(change func(*corev1.Pod)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		change(p)
		p.Finalizers = nil
	}
}

const (
	findDeleter = "find out what deletes or evicts"
	nothingKept = "restartPolicy Never: failed pods then stay"
)

// JOB-16, CLI-04: restarts that use up backoffLimit are explained by the failure of the container, and the deletions that
// follow are the controller's own.
func TestRestartsUseUpTheLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, failed int32
		pods          []*input.Pod
		want          []string
	}{
		"counted, and still ending": {3, 1, []*input.Pod{podOf("a", counted(restartedPod(3, 7, 10*time.Minute)))}, []string{
			"container main of pod a was restarted 3 times, and backoffLimit 3 allows no more; it last exited with code 7, “no licence”",
			"backoffLimit 3: with restartPolicy OnFailure, container restarts count too (3 restarts); 1 pod counts as failed",
			"container main exited with code 7 after 2s, before it was restarted", "kubectl logs a --previous -n ns",
		}},
		"still ending": {1, 0, []*input.Pod{podOf("a", restartedPod(1, 7, 10*time.Minute))}, []string{
			"The Job is going to fail: container main of pod a was restarted 1 time, and backoffLimit 1 allows no more; it last exited with code 7, “no licence”; it waits for 1 terminating pod",
			"container main exited with code 7 after 2s, before it was restarted", "kubectl logs a --previous -n ns",
		}},
		"limit 0": {0, 1, []*input.Pod{podOf("a", restartedPod(1, 7, 10*time.Minute))}, []string{
			"container main of pod a was restarted 1 time, and backoffLimit 0 allows no retries; it last exited with code 7",
		}},
		"killed by the deletion": {1, 1, []*input.Pod{podOf("a", stopped(restartedPod(1, 7, 10*time.Minute), 137, ago(9*time.Minute)))}, []string{
			"container main of pod a was restarted 1 time, and backoffLimit 1 allows no more; it last exited with code 7",
			"container main exited with code 7 after 2s, before it was restarted",
		}},
		"waited to be restarted": {0, 1, []*input.Pod{podOf("a", stopped(restartedPod(1, 7, 10*time.Minute), 9, ago(11*time.Minute)))}, []string{
			"container main of pod a was restarted 1 time, and backoffLimit 0 allows no retries; it last exited with code 9",
		}},
		"more pods than the limit": {2, 3, []*input.Pod{
			podOf("a", restartedPod(1, 7, 10*time.Minute)), podOf("b", restartedPod(2, 8, 10*time.Minute)), podOf("c", restartedPod(0, 9, 10*time.Minute)),
		}, []string{"container main was restarted 3 times, and backoffLimit 2 allows no more; it last exited with code 8"}},
		"not deleted yet": {2, 0, []*input.Pod{podOf("a", restartedPod(2, 7, 0))}, []string{"container main of pod a was restarted 2 times", "last exited with code 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			job := restarting(tc.limit, tc.failed)
			if tc.failed == 0 {
				job.Status.Conditions = job.Status.Conditions[:1] // FailureTarget
			}
			r := report(factsOf(job, tc.pods...))
			wantText(t, r, append(tc.want, nothingKept)...)
			wantWithout(t, r, findDeleter, "pod failed,", "pods failed,")
			for _, c := range r.Causes {
				if !c.Consequence && name != "waited to be restarted" {
					t.Errorf("%+v is told as a cause", c)
				}
			}
		})
	}
}

// JOB-16, CLI-04: the same when the pods no longer exist, and only the Job and its events are left.
func TestRestartsAreExplainedWithoutTheirPods(t *testing.T) {
	known := func(f cause.Failure) []input.Event {
		e := failedEvent(f, "a", 1, 0)
		e.First = noon.Add(-10 * time.Minute)
		return []input.Event{e}
	}
	oomKilled := killed(137)
	oomKilled.Restarted = cause.Exit{Container: "main", ExitCode: 137, Reason: "OOMKilled"}
	for name, tc := range map[string]struct {
		limit, failed int32
		events        []input.Event
		want          []string
	}{
		"its event tells": {3, 1, known(deletedAfterExit7), []string{
			"container main was restarted at least 3 times, and backoffLimit 3 allows no more; it last exited with code 7",
		}},
		"of a container that was killed": {0, 1, known(oomKilled), []string{
			"restarted at least 1 time, and backoffLimit 0 allows no retries; it last exited with code 137 (OOMKilled)",
			"a LimitRange may have set one in its pods",
		}},
		"its event does not tell": {3, 1, known(deletedPod), []string{"container main was restarted at least 3 times, and backoffLimit 3 allows no more"}},
		"no event":                {1, 1, nil, []string{"container main was restarted at least 1 time, and backoffLimit 1 allows no more; no pod or log of it is left"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := factsOf(restarting(tc.limit, tc.failed))
			f.Events = tc.events
			r := report(f)
			wantText(t, r, append(tc.want, nothingKept)...)
			wantWithout(t, r, findDeleter, "let nothing delete")
			if len(r.Causes) != len(tc.events) || len(r.Causes) > 0 && !r.Causes[0].Consequence {
				t.Errorf("%+v", r.Causes)
			}
		})
	}
}

// JOB-16, CLI-04: of several containers, the kubelet's events name the one that was restarted.
func TestTheRestartedContainerIsNamedByItsEvents(t *testing.T) {
	job := restarting(1, 1)
	job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
	of := func(name string) input.Event {
		return input.Event{Pod: "a", Reason: "BackOff", Message: "Back-off restarting failed container " + name + " in pod a_ns(uid)", Count: 2}
	}
	for want, events := range map[string][]input.Event{
		"container proxy was restarted":            {of("proxy"), of("proxy")},
		"containers of its pods were restarted at": {of("proxy"), of("main")},
		"no pod or log of it is left":              nil,
	} {
		f := factsOf(job)
		f.Events = events
		wantText(t, report(f), want)
	}
}

// JOB-15, CLI-04: deletions by others and disruptions fail a Job with OnFailure, too.
func TestDeletionsFailOnFailureJobsToo(t *testing.T) {
	job := restarting(0, 0)
	job.Status.Conditions, job.Status.UncountedTerminatedPods.Failed = job.Status.Conditions[:1], []types.UID{"uid-a"}
	f := factsOf(job, podOf("a", func(p *corev1.Pod) {
		restartedPod(0, 0, 10*time.Minute)(p)
		p.Status.ContainerStatuses = nil
	}))
	wantText(t, report(f), "pod was deleted before it ended; backoffLimit 0 allows no retries")
	wantWithout(t, report(f), "uses up", "was restarted")

	f = factsOf(restarting(0, 1))
	f.Events = []input.Event{failedEvent(deletedPod, "a", 1, 9*time.Minute)}
	wantText(t, report(f), "backoffLimit 0 allows no retries", findDeleter+" the Job's pods")

	// Nothing shows whether restarts led to deletions long before the end.
	f = factsOf(restarting(1, 2))
	f.Events = []input.Event{failedEvent(deletedAfterExit7, "a", 2, 20*time.Minute)}
	wantText(t, report(f), "2 pods failed, and backoffLimit 1 allows 1 retry", findDeleter+" the Job's pods")

	evicted := func(p *corev1.Pod) {
		stopped(restartedPod(5, 7, 9*time.Minute), 137, ago(15*time.Minute))(p)
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet"}}
	}
	wantWithout(t, report(factsOf(restarting(0, 1), podOf("a", evicted))), "uses up", "was restarted")

	never := restarting(3, 4)
	never.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	wantWithout(t, report(factsOf(never)), "restarted", nothingKept)
}

// CLI-04: the actor that ended a container is no open question if the controller did, because the Job was ending.
func TestControllersDeletionsAreNoCause(t *testing.T) {
	stoppedPod := podOf("a", stopped(restartedPod(0, 0, 10*time.Minute), 137, ago(9*time.Minute)))
	stoppedPod.Containers = stoppedPod.Containers[:1] // It was not restarted.
	r := report(factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		ended(j, "DeadlineExceeded", "")
	}), stoppedPod))
	wantText(t, r, "container main exited with code 137", "read the whole log")
	wantWithout(t, r, findDeleter)
}

// JOB-15, CLI-04: one restart at the end does not turn failures by drained nodes into restarts.
func TestOneRestartDoesNotHideDrainedNodes(t *testing.T) {
	drained := killed(143)
	drained.Condition = corev1.DisruptionTarget
	drainedAfterExit7, last := drained, deletedAfterExit7
	drainedAfterExit7.Restarted = exit7
	known := func(f cause.Failure, count int32, d time.Duration) input.Event {
		e := failedEvent(f, "a", count, d)
		e.First = e.Last
		return e
	}
	for name, tc := range map[string]struct {
		limit, failed int32
		events        []input.Event
		want          string
	}{
		"drained long before":             {3, 5, []input.Event{known(drained, 4, 30*time.Minute), known(last, 1, 10*time.Minute)}, "5 pods failed, and backoffLimit 3 allows 3 retries"},
		"the drained one was restarted":   {2, 3, []input.Event{known(drainedAfterExit7, 3, 10*time.Minute)}, "3 pods failed, and backoffLimit 2 allows 2 retries"},
		"drained, but within the limit":   {3, 3, []input.Event{known(drained, 2, 30*time.Minute), known(last, 1, 10*time.Minute)}, "and backoffLimit 3 allows no more"},
		"stopped by the controller alone": {1, 3, []input.Event{known(last, 3, 10*time.Minute)}, "and backoffLimit 1 allows no more; it last exited with code 7"},
	} {
		f := factsOf(restarting(tc.limit, tc.failed))
		f.Events = tc.events
		assert.Contains(t, verdict(report(f)), tc.want, name)
	}
}

// The pods of a crash loop are deleted when the Job fails: a verb that followed the Job has seen how their containers ended.
//
// Requirements: CLI-04
func TestRestartsThatWereSeenAreTheCauseAfterThePodsAreGone(t *testing.T) {
	f := factsOf(restarting(3, 1))
	f.SeenRestart = &input.Container{Name: "main", Ended: true, ExitCode: 1, Reason: "Error", Message: "cannot connect to postgres:5432"}
	r := report(f)
	assert.Contains(t, verdict(r), "it last exited with code 1, “cannot connect to postgres:5432”")
	wantWithout(t, r, "no pod or log of it is left")
}

// A list shows how the container of a crash loop ends, and not only that it is restarted.
//
// Requirements: CLI-30
func TestAListShowsHowACrashLoopEnds(t *testing.T) {
	loops := containers(corev1.PodRunning, nil, []corev1.ContainerStatus{restarted(waitsFor("main", "CrashLoopBackOff"), 3, 1, time.Minute)})
	f := factsOf(jobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy, j.Status.Active = corev1.RestartPolicyOnFailure, 1
		j.Status.StartTime = ptr.To(metav1.NewTime(noon.Add(-time.Hour)))
	}), podOf("a", loops))
	f.Listed = true
	stall := analysis.StallOf(f)
	if stall == nil || stall.Brief != "exit 1, 3 restarts" || stall.Reason != "CrashLoopBackOff" {
		t.Errorf("%+v", stall)
	}
}

// JOB-16, CLI-04: restarts of pods that no longer exist are not attributed to an existing pod.
func TestRestartsOfGonePodsAreNotBlamedOnOthers(t *testing.T) {
	r := report(factsOf(restarting(6, 3), podOf("a", stopped(restartedPod(2, 7, 10*time.Minute), 137, ago(9*time.Minute)))))
	wantText(t, r, "container main was restarted at least 6 times, and backoffLimit 6 allows no more")
	wantWithout(t, r, "of pod a was restarted", "(2 restarts)")
}
