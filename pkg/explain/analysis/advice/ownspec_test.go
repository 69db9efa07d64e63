package advice_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// A container that lacks a file at the path of one of its volumes lacks it in that volume.
// Requirements: CLI-06
func TestMissingFileOfAVolumeIsLookedForInTheVolume(t *testing.T) {
	volumes := []corev1.Volume{
		{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "app"}}}},
	}
	for line, advice := range map[string]string{
		"chown: /scratch/*: No such file or directory":       "find out what should write into volume scratch (emptyDir), which is mounted at /scratch/ in container main: it is empty or has nothing that matches /scratch/*",
		"cat: /etc/app/a.yaml: No such file or directory":    "check volume settings (ConfigMap app), which is mounted at /etc/app in container main: it is empty or lacks /etc/app/a.yaml",
		"cat: /etc/appendix.yaml: No such file or directory": "check the path /etc/appendix.yaml: whether a volume is mounted there in container main",
	} {
		f := explaintest.CrashLoop(explaintest.BacksOff)
		f.Job.Spec.Template.Spec.Volumes = volumes
		f.Job.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch/"}, {Name: "settings", MountPath: "/etc/app"}}
		f.Logs = []input.LogTail{{Pod: "a", Container: "main", Lines: []string{line}}}
		explaintest.WantText(t, explaintest.Report(f), advice)
	}
}

// Requirements: CLI-06
func TestVersionOfTheCLibraryIsNoModule(t *testing.T) {
	f := explaintest.CrashLoop(explaintest.BacksOff)
	f.Logs = []input.LogTail{{Pod: "a", Container: "main", Lines: []string{"/tmp/sh: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /tmp/sh)"}}}
	r := explaintest.WantFirst(t, f, "its libc lacks GLIBC_2.34, which /tmp/sh needs")
	explaintest.WantText(t, r, "run /tmp/sh in the image that it was built for, or in one whose libc has GLIBC_2.34")
	explaintest.WantWithout(t, r, "module")
}

// Requirements: CLI-06
func TestNodeSelectorThatNoNodeMatchesIsNamed(t *testing.T) {
	pod := explaintest.UnscheduledPod("0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.")
	job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	r := explaintest.WantFirst(t, explaintest.InputOf(job, pod), "no node can take the pod: 5 nodes do not match its nodeSelector (disk=ssd)")
	explaintest.WantText(t, r, "correct the nodeSelector disk=ssd of the pod template, or give a node that label", "kubectl get nodes -L disk")
	job.Spec.Template.Spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": "a"}
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job, pod)), "or add a node that has it: the kubelet, the cloud or an operator sets such labels")
	job.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}
	job.Spec.Template.Spec.NodeSelector = nil
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job, pod)), "compare nodeSelector and affinity of the pod with the labels of the nodes")
}

// More pods at once do not make a Job faster that runs a single pod, or all of its pods, at once.
// Requirements: CLI-06
func TestParallelismIsAdvisedOnlyIfMorePodsCanRun(t *testing.T) {
	for _, tc := range []struct {
		completions *int32
		parallelism int32
		more        bool
	}{{ptr.To[int32](1), 1, false}, {ptr.To[int32](1), 0, false}, {ptr.To[int32](3), 3, false}, {ptr.To[int32](3), 1, true}, {nil, 1, false}} {
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Spec.ActiveDeadlineSeconds = tc.completions, &tc.parallelism, ptr.To[int64](20)
			explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
			j.Status.Failed = 1
		}))
		r := explaintest.Report(f)
		explaintest.WantText(t, r, "give the Job more time (activeDeadlineSeconds)")
		if tc.more {
			explaintest.WantText(t, r, "(parallelism)")
		} else {
			explaintest.WantWithout(t, r, "(parallelism)")
		}
	}
}

// Requirements: TOL-03
func TestDeadlineOfAHookIsChangedInItsChart(t *testing.T) {
	job := explaintest.ToolJob(nil, map[string]string{"helm.sh/hook": "pre-delete"})
	job.Spec.ActiveDeadlineSeconds = ptr.To[int64](20)
	explaintest.FailJob(job, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	job.Status.Failed = 1
	explaintest.WantText(t, explaintest.Report(explaintest.InputOf(job)), "give the Job more time (activeDeadlineSeconds)", "change the chart or its values, not this Job: Helm creates the hook again at helm uninstall")
}

// Requirements: CLI-06
func TestNodeSelectorOfFullNodesIsRight(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	pod := explaintest.UnscheduledPod("0/5 nodes are available: 4 node(s) didn't match Pod's node affinity/selector, 1 Insufficient cpu.")
	r := explaintest.Report(explaintest.InputOf(job, pod))
	explaintest.WantText(t, r, "free cpu on the nodes")
	explaintest.WantWithout(t, r, "correct the nodeSelector")
}
