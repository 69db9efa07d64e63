package advice_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// unstarted returns a pod change: containerd could not start the container, d ago.
func unstarted(message string, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		explaintest.Exits(128, "StartError", d)(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.StartedAt, end.Message = metav1.Unix(0, 0), message
	}
}

// Issue 5, CLI-04: a start time in 1970 means that the container never started.
func TestStartIn1970IsNone(t *testing.T) {
	pod := unstarted("no", time.Minute)
	r := explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), explaintest.PodOf("a", pod)))
	explaintest.WantText(t, r, "container main could not be started (StartError)")
	explaintest.WantWithout(t, r, "(StartError) after")
	whole := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	pod(whole)
	whole.Status.ContainerStatuses[0].LastTerminationState = whole.Status.ContainerStatuses[0].State
	for _, c := range explain.PodDetailOf(whole, nil).Containers {
		if c.Now.Started != nil || c.Before.Started != nil || !c.Now.Ended.Equal(whole.Status.ContainerStatuses[0].State.Terminated.FinishedAt.DeepCopy()) {
			t.Errorf("%+v, before %+v", c.Now, c.Before)
		}
	}
}

// Issue 5, CLI-04: a container that never started has no log to read, and its message determines the advice.
func TestContainerThatNeverStartedHasNoLog(t *testing.T) {
	for message, want := range map[string]string{
		`unable to start container process: exec: "trian": executable file not found in $PATH`:                     "fix the command of container main, or use an image that contains it (image train:1)",
		`unable to start container process: exec: "/x": stat /x: no such file or directory`:                        "fix the command of container main",
		"crun: executable file `trian` not found in $PATH: No such file or directory":                              "fix the command of container main",
		`unable to start container process: exec: "/x": permission denied`:                                         "make /x executable",
		`unable to start container process: exec /x: exec format error`:                                            "use an image of container main for the architecture of the node",
		`error mounting "/data" to rootfs: no such file or directory`:                                              "if its pods start on other nodes, see what the container runtime logs",
		`unable to apply cgroup configuration: mkdir /sys/fs/cgroup/memory: permission denied: exec of it was not`: "if its pods start on other nodes, see what the container runtime logs",
	} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }), explaintest.PodOf("a", unstarted(message, time.Minute)), explaintest.PodOf("b", unstarted(message, 2*time.Minute)))
		explaintest.WantText(t, explaintest.Report(f), want)
		explaintest.WantWithout(t, explaintest.Report(f), "log of", "read the", "kubectl logs", "kubectl batchjob logs")
		if targets := analysis.LogTargets(f, explain.Options{}, 3); len(targets) > 0 {
			t.Errorf("%q: logs of %v are asked for", message, targets)
		}
	}
	ran := explaintest.PodOf("c", explaintest.Exits(128, "StartError", time.Minute)) // with the time of a start
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), ran)), "read the whole log")
	both := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }), explaintest.PodOf("a", unstarted("", time.Minute)), explaintest.PodOf("b", explaintest.Exits(3, "Error", 2*time.Minute)))
	explaintest.WantText(t, explaintest.Report(both), "read the logs of all failed pods")
}

// Issue 5, CLI-04: the same for a failed index, if none of its containers started.
func TestIndexThatNeverStartedHasNoLog(t *testing.T) {
	job := explaintest.IndexedJob(1, func(j *batchv1.Job) {
		j.Status.Failed = 1
		explaintest.FailJob(j, batchv1.JobReasonFailedIndexes, "")
	})
	explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", explaintest.OnIndex(0, 1, unstarted("", 10*time.Minute))))), "read the logs")
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", explaintest.OnIndex(0, 1, explaintest.Exits(3, "Error", 10*time.Minute))))), "read the logs of the failed pods")
	explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(job)), "read the logs") // Its pod no longer exists.
}

// Issue 5, CLI-06: the same while the kubelet restarts it repeatedly.
func TestLoopThatNeverStartsHasNoLog(t *testing.T) {
	loop := func(start metav1.Time) explain.Report {
		job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
		return explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 128, Reason: "StartError", Message: `exec: "trian": executable file not found in $PATH`, StartedAt: start, FinishedAt: explaintest.Ago(time.Minute),
				}},
			}}
		})))
	}
	r := loop(metav1.Unix(0, 0))
	explaintest.WantText(t, r, "fix the command of container main", "kubectl describe pod a -n ns")
	explaintest.WantWithout(t, r, "kubectl logs")
	explaintest.WantText(t, loop(explaintest.Ago(2*time.Minute)), "kubectl logs a --previous -n ns")
}
