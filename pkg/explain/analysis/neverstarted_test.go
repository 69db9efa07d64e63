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
)

// unstarted returns a pod change: containerd could not start the container, d ago.
func unstarted(message string, d time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		exits(128, "StartError", d)(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.StartedAt, end.Message = metav1.Unix(0, 0), message
	}
}

// Issue 5, CLI-04: a start time in 1970 means that the container never started.
func TestStartIn1970IsNone(t *testing.T) {
	pod := unstarted("no", time.Minute)
	r := report(factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), podOf("a", pod)))
	wantText(t, r, "container main could not be started (StartError)")
	wantWithout(t, r, "(StartError) after")
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
		`error mounting "/data" to rootfs: no such file or directory`:                                              "fix what the container runtime reports about container main",
		`unable to apply cgroup configuration: mkdir /sys/fs/cgroup/memory: permission denied: exec of it was not`: "fix what the container runtime reports about container main",
	} {
		f := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }), podOf("a", unstarted(message, time.Minute)), podOf("b", unstarted(message, 2*time.Minute)))
		wantText(t, report(f), want)
		wantWithout(t, report(f), "log of", "read the", "kubectl logs", "kubectl batchjob logs")
		if targets := analysis.LogTargets(f, explain.Options{}, 3); len(targets) > 0 {
			t.Errorf("%q: logs of %v are asked for", message, targets)
		}
	}
	ran := podOf("c", exits(128, "StartError", time.Minute)) // with the time of a start
	wantText(t, report(factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 1 }), ran)), "read the whole log")
	both := factsOf(jobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }), podOf("a", unstarted("", time.Minute)), podOf("b", exits(3, "Error", 2*time.Minute)))
	wantText(t, report(both), "read the logs of all failed pods")
}

// Issue 5, CLI-04: the same for a failed index, if none of its containers started.
func TestIndexThatNeverStartedHasNoLog(t *testing.T) {
	job := indexedJob(1, func(j *batchv1.Job) {
		j.Status.Failed = 1
		ended(j, batchv1.JobReasonFailedIndexes, "")
	})
	wantWithout(t, report(factsOf(job, podOf("a", onIndex(0, 1, unstarted("", 10*time.Minute))))), "read the logs")
	wantText(t, report(factsOf(job, podOf("a", onIndex(0, 1, exits(3, "Error", 10*time.Minute))))), "read the logs of the failed pods")
	wantWithout(t, report(factsOf(job)), "read the logs") // Its pod no longer exists.
}

// Issue 5, CLI-06: the same while the kubelet restarts it repeatedly.
func TestLoopThatNeverStartsHasNoLog(t *testing.T) {
	loop := func(start metav1.Time) explain.Report {
		job := jobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
		return report(factsOf(job, podOf("a", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", RestartCount: 3, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
					ExitCode: 128, Reason: "StartError", Message: `exec: "trian": executable file not found in $PATH`, StartedAt: start, FinishedAt: ago(time.Minute),
				}},
			}}
		})))
	}
	r := loop(metav1.Unix(0, 0))
	wantText(t, r, "fix the command of container main", "kubectl describe pod a -n ns")
	wantWithout(t, r, "kubectl logs")
	if r = loop(ago(2 * time.Minute)); !strings.Contains(sentences(r), "kubectl logs a --previous -n ns") {
		t.Errorf("%s", sentences(r))
	}
}

// Requirements: CLI-04. A container that was restarted again and again has run, although its pod and its log are gone.
func TestDeadlineWhileAContainerIsRestartedNamesIt(t *testing.T) {
	for message, want := range map[string]string{
		"Back-off restarting failed container migrate in pod a_ns(1)": "container migrate failed and was restarted again and again, until activeDeadlineSeconds (1m) was over; its pod and its log are gone",
		"Back-off restarting failed container":                        "it ran longer than its activeDeadlineSeconds (1m)",
	} {
		job := jobWith(func(j *batchv1.Job) {
			j.Status.Failed, j.Spec.ActiveDeadlineSeconds = 1, ptr.To[int64](60)
			ended(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
		})
		f := factsOf(job)
		f.Events = []input.Event{jobEvent("SuccessfulCreate", "Created pod: a", 1, time.Hour), about("a", "Warning", "kubelet", "BackOff", message)}
		r := report(f)
		wantText(t, r, want)
		wantWithout(t, r, "never started")
	}
}
