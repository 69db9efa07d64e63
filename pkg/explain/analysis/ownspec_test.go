package analysis_test

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
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
		f := crashLoop(backsOff)
		f.Job.Spec.Template.Spec.Volumes = volumes
		f.Job.Spec.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "scratch", MountPath: "/scratch/"}, {Name: "settings", MountPath: "/etc/app"}}
		f.Logs = []input.LogTail{{Pod: "a", Container: "main", Lines: []string{line}}}
		wantText(t, report(f), advice)
	}
}

// Requirements: CLI-06
func TestVersionOfTheCLibraryIsNoModule(t *testing.T) {
	f := crashLoop(backsOff)
	f.Logs = []input.LogTail{{Pod: "a", Container: "main", Lines: []string{"/tmp/sh: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /tmp/sh)"}}}
	r := wantFirst(t, f, "its libc lacks GLIBC_2.34, which /tmp/sh needs")
	wantText(t, r, "run /tmp/sh in the image that it was built for, or in one whose libc has GLIBC_2.34")
	wantWithout(t, r, "module")
}

// Requirements: CLI-06
func TestNodeSelectorThatNoNodeMatchesIsNamed(t *testing.T) {
	pod := podOf("train-x", func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector.",
		}}
	})
	job := jobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	r := wantFirst(t, input.Input{Now: noon, Job: job, PodsRead: true, Pods: []*input.Pod{pod}}, "no node can take the pod: 5 nodes do not match its nodeSelector (disk=ssd)")
	wantText(t, r, "correct the nodeSelector disk=ssd of the pod template, or give a node that label", "kubectl get nodes -l disk=ssd")
	job.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	wantText(t, report(input.Input{Now: noon, Job: job, PodsRead: true, Pods: []*input.Pod{pod}}), "compare nodeSelector and affinity of the pod with the labels of the nodes")
}

// More pods at once do not make a Job faster that runs a single pod, or all of its pods, at once.
// Requirements: CLI-06
func TestParallelismIsAdvisedOnlyIfMorePodsCanRun(t *testing.T) {
	for _, tc := range []struct {
		completions *int32
		parallelism int32
		more        bool
	}{{ptr.To[int32](1), 1, false}, {ptr.To[int32](1), 0, false}, {ptr.To[int32](3), 3, false}, {ptr.To[int32](3), 1, true}, {nil, 1, false}} {
		f := factsOf(jobWith(func(j *batchv1.Job) {
			j.Spec.Completions, j.Spec.Parallelism, j.Spec.ActiveDeadlineSeconds = tc.completions, &tc.parallelism, ptr.To[int64](20)
			ended(j, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
			j.Status.Failed = 1
		}))
		r := report(f)
		wantText(t, r, "give the Job more time (activeDeadlineSeconds)")
		if tc.more {
			wantText(t, r, "(parallelism)")
		} else {
			wantWithout(t, r, "(parallelism)")
		}
	}
}

// Requirements: TOL-03
func TestDeadlineOfAHookIsChangedInItsChart(t *testing.T) {
	job := ofTool(nil, map[string]string{"helm.sh/hook": "pre-delete"})
	job.Spec.ActiveDeadlineSeconds = ptr.To[int64](20)
	ended(job, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	job.Status.Failed = 1
	wantText(t, report(factsOf(job)), "give the Job more time (activeDeadlineSeconds)", "change the chart or its values, not this Job: Helm creates the hook again at helm uninstall")
}

// Requirements: CLI-06
func TestNodeSelectorOfFullNodesIsRight(t *testing.T) {
	job := jobWith(func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"} })
	pod := podOf("train-x", func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
			Message: "0/5 nodes are available: 4 node(s) didn't match Pod's node affinity/selector, 1 Insufficient cpu.",
		}}
	})
	r := report(input.Input{Now: noon, Job: job, PodsRead: true, Pods: []*input.Pod{pod}})
	wantText(t, r, "free cpu on the nodes")
	wantWithout(t, r, "correct the nodeSelector")
}
