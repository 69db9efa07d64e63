package failures_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// stopped ends the container of such a pod with code, which fails the pod.
func stopped(start func(*corev1.Pod), code int32, at metav1.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		start(p)
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", StartedAt: explaintest.Ago(11 * time.Minute), FinishedAt: at}}
	}
}

const findDeleter = "find out what deletes or evicts"

const nothingKept = "restartPolicy Never: failed pods then stay"

var exit7 = cause.Exit{Container: "main", ExitCode: 7}

// deletedAfterExit7 is the failure of a pod that was restarted and then deleted.
var deletedAfterExit7 = cause.Failure{DeletedRunning: true, Restarted: exit7}

// JOB-16, CLI-04: restarts that use up backoffLimit are explained by the failure of the container, and the deletions that
// follow are the controller's own.
func TestRestartsUseUpTheLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		limit, failed int32
		pods          []*input.Pod
		want          []string
	}{
		"counted, and still ending": {3, 1, []*input.Pod{explaintest.PodOf("a", explaintest.Counted(explaintest.RestartedPod(3, 7, 10*time.Minute)))}, []string{
			"container main exited with code 7, “no licence”; it was restarted 3 times, and backoffLimit 3 allows no more",
			"backoffLimit 3: with restartPolicy OnFailure, container restarts count too, each as it begins (3 restarts); 1 pod counts as failed",
			"container main exited with code 7 after 2s, before it was restarted", "kubectl logs a --previous -n ns",
		}},
		"still ending": {1, 0, []*input.Pod{explaintest.PodOf("a", explaintest.RestartedPod(1, 7, 10*time.Minute))}, []string{
			"The Job is going to fail: container main exited with code 7, “no licence”; it was restarted 1 time, and backoffLimit 1 allows no more; it waits for 1 terminating pod",
			"container main exited with code 7 after 2s, before it was restarted", "kubectl logs a --previous -n ns",
		}},
		"limit 0": {0, 1, []*input.Pod{explaintest.PodOf("a", explaintest.RestartedPod(1, 7, 10*time.Minute))}, []string{
			"container main exited with code 7, “no licence”; it was restarted 1 time, and backoffLimit 0 allows no retries",
		}},
		"killed by the deletion": {1, 1, []*input.Pod{explaintest.PodOf("a", stopped(explaintest.RestartedPod(1, 7, 10*time.Minute), 137, explaintest.Ago(9*time.Minute)))}, []string{
			"container main exited with code 7, “no licence”; it was restarted 1 time, and backoffLimit 1 allows no more",
			"container main exited with code 7 after 2s, before it was restarted",
		}},
		"waited to be restarted": {0, 1, []*input.Pod{explaintest.PodOf("a", stopped(explaintest.RestartedPod(1, 7, 10*time.Minute), 9, explaintest.Ago(11*time.Minute)))}, []string{
			"container main exited with code 9; it was restarted 1 time, and backoffLimit 0 allows no retries",
		}},
		"more pods than the limit": {2, 3, []*input.Pod{
			explaintest.PodOf("a", explaintest.RestartedPod(1, 7, 10*time.Minute)), explaintest.PodOf("b", explaintest.RestartedPod(2, 8, 10*time.Minute)), explaintest.PodOf("c", explaintest.RestartedPod(0, 9, 10*time.Minute)),
		}, []string{"container main exited with code 8, “no licence”; it was restarted 3 times, and backoffLimit 2 allows no more"}},
		"not deleted yet": {2, 0, []*input.Pod{explaintest.PodOf("a", explaintest.RestartedPod(2, 7, 0))}, []string{"container main exited with code 7, “no licence”; it was restarted 2 times"}},
	} {
		t.Run(name, func(t *testing.T) {
			job := explaintest.RestartingJob(tc.limit, tc.failed)
			if tc.failed == 0 {
				job.Status.Conditions = job.Status.Conditions[:1] // FailureTarget
			}
			r := explaintest.Report(explaintest.InputOf(job, tc.pods...))
			explaintest.WantText(t, r, append(tc.want, nothingKept)...)
			explaintest.WantWithout(t, r, findDeleter, "pod failed,", "pods failed,")
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
		e := explaintest.FailedEvent(f, "a", 1, 0)
		e.First = explaintest.Noon.Add(-10 * time.Minute)
		return []input.Event{e}
	}
	oomKilled := explaintest.Killed(137)
	oomKilled.Restarted = cause.Exit{Container: "main", ExitCode: 137, Reason: "OOMKilled"}
	for name, tc := range map[string]struct {
		limit, failed int32
		events        []input.Event
		want          []string
	}{
		"its event tells": {3, 1, known(deletedAfterExit7), []string{
			"container main exited with code 7; it was restarted at least 3 times, and backoffLimit 3 allows no more",
		}},
		"of a container that was killed": {0, 1, known(oomKilled), []string{
			"container main exited with code 137 (OOMKilled); it was restarted at least 1 time, and backoffLimit 0 allows no retries",
			"a LimitRange may have set one in its pods",
		}},
		"its event does not tell": {3, 1, known(explaintest.DeletedPod), []string{"container main was restarted at least 3 times, and backoffLimit 3 allows no more"}},
		"no event":                {1, 1, nil, []string{"container main was restarted at least 1 time, and backoffLimit 1 allows no more; no pod or log of it is left"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := explaintest.InputOf(explaintest.RestartingJob(tc.limit, tc.failed))
			f.Events = tc.events
			r := explaintest.Report(f)
			explaintest.WantText(t, r, append(tc.want, nothingKept)...)
			explaintest.WantWithout(t, r, findDeleter, "let nothing delete")
			if len(r.Causes) != len(tc.events) || len(r.Causes) > 0 && !r.Causes[0].Consequence {
				t.Errorf("%+v", r.Causes)
			}
		})
	}
}

// JOB-16, CLI-04: of several containers, the kubelet's events name the one that was restarted.
func TestTheRestartedContainerIsNamedByItsEvents(t *testing.T) {
	job := explaintest.RestartingJob(1, 1)
	job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
	of := func(name string) input.Event {
		return input.Event{Pod: "a", Reason: "BackOff", Message: "Back-off restarting failed container " + name + " in pod a_ns(uid)", Count: 2}
	}
	for want, events := range map[string][]input.Event{
		"container proxy was restarted":            {of("proxy"), of("proxy")},
		"containers of its pods were restarted at": {of("proxy"), of("main")},
		"no pod or log of it is left":              nil,
	} {
		f := explaintest.InputOf(job)
		f.Events = events
		explaintest.WantText(t, explaintest.Report(f), want)
	}
}

// JOB-15, CLI-04: deletions by others and disruptions fail a Job with OnFailure, too.
func TestDeletionsFailOnFailureJobsToo(t *testing.T) {
	job := explaintest.RestartingJob(0, 0)
	job.Status.Conditions, job.Status.UncountedTerminatedPods.Failed = job.Status.Conditions[:1], []types.UID{"uid-a"}
	f := explaintest.InputOf(job, explaintest.PodOf("a", func(p *corev1.Pod) {
		explaintest.RestartedPod(0, 0, 10*time.Minute)(p)
		p.Status.ContainerStatuses = nil
	}))
	explaintest.WantText(t, explaintest.Report(f), "pod was deleted before it ended; backoffLimit 0 allows no retries")
	explaintest.WantWithout(t, explaintest.Report(f), "uses up", "was restarted")

	f = explaintest.InputOf(explaintest.RestartingJob(0, 1))
	f.Events = []input.Event{explaintest.FailedEvent(explaintest.DeletedPod, "a", 1, 9*time.Minute)}
	explaintest.WantText(t, explaintest.Report(f), "backoffLimit 0 allows no retries", findDeleter+" the Job's pods")

	// Nothing shows whether restarts led to deletions long before the end.
	f = explaintest.InputOf(explaintest.RestartingJob(1, 2))
	f.Events = []input.Event{explaintest.FailedEvent(deletedAfterExit7, "a", 2, 20*time.Minute)}
	explaintest.WantText(t, explaintest.Report(f), "2 pods failed (parallelism 2), and backoffLimit 1 allows 1 retry in all", findDeleter+" the Job's pods")

	evicted := func(p *corev1.Pod) {
		stopped(explaintest.RestartedPod(5, 7, 9*time.Minute), 137, explaintest.Ago(15*time.Minute))(p)
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet"}}
	}
	explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(explaintest.RestartingJob(0, 1), explaintest.PodOf("a", evicted))), "uses up", "was restarted")

	never := explaintest.RestartingJob(3, 4)
	never.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(never)), "restarted", nothingKept)
}

// CLI-04: the actor that ended a container is no open question if the controller did, because the Job was ending.
func TestControllersDeletionsAreNoCause(t *testing.T) {
	stoppedPod := explaintest.PodOf("a", stopped(explaintest.RestartedPod(0, 0, 10*time.Minute), 137, explaintest.Ago(9*time.Minute)))
	stoppedPod.Containers = stoppedPod.Containers[:1] // It was not restarted.
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](60), 1
		explaintest.FailJob(j, "DeadlineExceeded", "")
	}), stoppedPod))
	explaintest.WantText(t, r, "container main exited with code 137", "read the whole log")
	explaintest.WantWithout(t, r, findDeleter)
}

// JOB-15, CLI-04: one restart at the end does not turn failures by drained nodes into restarts.
func TestOneRestartDoesNotHideDrainedNodes(t *testing.T) {
	drained := explaintest.Killed(143)
	drained.Condition = corev1.DisruptionTarget
	drainedAfterExit7, last := drained, deletedAfterExit7
	drainedAfterExit7.Restarted = exit7
	known := func(f cause.Failure, count int32, d time.Duration) input.Event {
		e := explaintest.FailedEvent(f, "a", count, d)
		e.First = e.Last
		return e
	}
	for name, tc := range map[string]struct {
		limit, failed int32
		events        []input.Event
		want          string
	}{
		"drained long before":             {3, 5, []input.Event{known(drained, 4, 30*time.Minute), known(last, 1, 10*time.Minute)}, "5 pods failed (parallelism 2), and backoffLimit 3 allows 3 retries"},
		"the drained one was restarted":   {2, 3, []input.Event{known(drainedAfterExit7, 3, 10*time.Minute)}, "3 pods failed (parallelism 2), and backoffLimit 2 allows 2 retries in all"},
		"drained, but within the limit":   {3, 3, []input.Event{known(drained, 2, 30*time.Minute), known(last, 1, 10*time.Minute)}, "and backoffLimit 3 allows no more"},
		"deleted by the controller alone": {0, 1, []input.Event{{Reason: "SuccessfulDelete", Message: "Deleted pod: train-x", First: explaintest.Ago(time.Minute).Time}}, "container main was restarted at least 1 time"},
		"stopped by the controller alone": {1, 3, []input.Event{known(last, 3, 10*time.Minute)}, "container main exited with code 7; it was restarted at least 1 time, and backoffLimit 1 allows no more"},
	} {
		f := explaintest.InputOf(explaintest.RestartingJob(tc.limit, tc.failed))
		f.Events = tc.events
		assert.Contains(t, explaintest.Verdict(explaintest.Report(f)), tc.want, name)
	}
}

// JOB-16, CLI-04: restarts of pods that no longer exist are not attributed to an existing pod.
func TestRestartsOfGonePodsAreNotBlamedOnOthers(t *testing.T) {
	r := explaintest.Report(explaintest.InputOf(explaintest.RestartingJob(6, 3), explaintest.PodOf("a", stopped(explaintest.RestartedPod(2, 7, 10*time.Minute), 137, explaintest.Ago(9*time.Minute)))))
	explaintest.WantText(t, r, "it was restarted at least 6 times, and backoffLimit 6 allows no more")
	explaintest.WantWithout(t, r, "of pod a was restarted", "(2 restarts)")
}

// CLI-04: a restarted container shows the reason from before it was stopped with its Job.
func TestRestartedContainerKeepsItsReason(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Template.Spec.RestartPolicy, j.Status.Failed = corev1.RestartPolicyOnFailure, 1
		explaintest.FailJob(j, "BackoffLimitExceeded", "")
	}), explaintest.PodOf("a", func(p *corev1.Pod) {
		explaintest.Exits(143, "Error", 9*time.Minute)(p)
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = ptr.To(explaintest.Ago(9*time.Minute)), ptr.To[int64](30)
		p.Status.ContainerStatuses[0].RestartCount = 6
		p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 9, Reason: "Error", Message: "no licence"}
	}))
	r := explaintest.Report(f)
	explaintest.WantText(t, r, "exited with code 9", "kubectl logs a --previous -n ns")
	explaintest.WantWithout(t, r, "is gone", "action FailJob")
}
