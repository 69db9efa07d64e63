package laws

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// exits: containers exit with a code, and with a message or without one.
func (d draw) exits() {
	code, message := pick(d, int32(1), 2, 3, 42, 78, 126, 127, 134, 139, 143, 255), ""
	d.w.Cause, d.w.First = "exit", []string{fmt.Sprint("code ", code)}
	if d.yes() {
		message = d.message()
		d.w.First = append(d.w.First, ending(message))
	}
	d.failPods(func(p *corev1.Pod, at metav1.Time) {
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: d.terminated(code, "Error", message, at)}
	})
}

// ending returns the part of a message of the generator that tells why.
func ending(message string) string {
	const reason = 20
	return message[max(0, len(message)-reason):]
}

// loops: restartPolicy OnFailure, and the container is restarted again and again. Whether it waits, runs or has just ended
// depends on the moment of the look.
func (d draw) loops() {
	j := d.w.Job
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	code, message := pick(d, int32(1), 2, 42, 137), ""
	restarts := d.between(2, 4)
	j.Spec.BackoffLimit = ptr.To(restarts + d.between(2, 4))
	d.w.Cause, d.w.First = "crash loop", []string{fmt.Sprint("code ", code), fmt.Sprintf("restarted %d times", restarts)}
	if d.yes() {
		message = d.message()
		d.w.First = append(d.w.First, ending(message))
	}
	p := d.pod(0, d.ago(3*time.Minute, 5*time.Minute))
	p.Status.Phase = corev1.PodRunning
	last := d.terminated(code, "Error", message, d.ago(5*time.Second, 20*time.Second))
	status := &p.Status.ContainerStatuses[0]
	status.RestartCount = restarts
	j.Status.Active, j.Status.Ready = 1, ptr.To(int32(0))
	d.event(p, "kubelet", "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s_%s(%s)", status.Name, p.Name, p.Namespace, p.UID))
	looks := []func(now time.Time) (corev1.ContainerState, corev1.ContainerState){
		func(time.Time) (corev1.ContainerState, corev1.ContainerState) {
			return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s restarting failed container=" + status.Name}}, corev1.ContainerState{Terminated: last}
		},
		func(now time.Time) (corev1.ContainerState, corev1.ContainerState) {
			return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-time.Second))}}, corev1.ContainerState{Terminated: last}
		},
		func(time.Time) (corev1.ContainerState, corev1.ContainerState) { // Kubelet 1.37 shows the end, not the back-off.
			return corev1.ContainerState{Terminated: last}, corev1.ContainerState{Terminated: last}
		},
	}
	look := d.IntN(len(looks))
	status.State, status.LastTerminationState = looks[look](Noon)
	d.w.Later = func(w *World, by time.Duration) {
		w.Now = w.Now.Add(by)
		look = (look + 1) % len(looks)
		status.State, status.LastTerminationState = looks[look](w.Now)
		status.Ready = status.State.Running != nil
	}
}

// outOfMemory: the kernel kills a process of the container for its memory limit.
func (d draw) outOfMemory() {
	d.w.Cause, d.w.First = "OOM", []string{"OOMKilled"}
	if d.yes() {
		limit := pick(d, "128Mi", "2Gi")
		d.w.Job.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
		d.w.First = append(d.w.First, limit)
	}
	code := pick(d, int32(137), 1)
	d.failPods(func(p *corev1.Pod, at metav1.Time) {
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: d.terminated(code, "OOMKilled", "", at)}
	})
}

// waits: a container cannot be started, for a reason that the kubelet or the runtime tells.
func (d draw) waits() {
	why := d.message()
	kind := pick(d,
		[2]string{"ErrImagePull", `failed to pull and unpack image "registry.example/team/app:1.4": ` + why},
		[2]string{"ImagePullBackOff", `Back-off pulling image "registry.example/team/app:1.4": ErrImagePull: rpc error: code = Unknown desc = ` + why},
		[2]string{"CreateContainerConfigError", why},
		[2]string{"CreateContainerError", "failed to create containerd container: " + why},
		[2]string{"RunContainerError", "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: " + why},
	)
	d.w.Cause, d.w.Quoted = "waits: "+kind[0], ending(why)
	p := d.pod(0, d.ago(10*time.Minute, 30*time.Minute))
	p.Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: kind[0], Message: kind[1]}
	d.event(p, "kubelet", "Failed", "Error: "+kind[1])
	d.w.Job.Status.Active, d.w.Job.Status.Ready = 1, ptr.To(int32(0))
	d.w.Later = func(w *World, by time.Duration) { w.Now = w.Now.Add(by) }
}

// cannotMount: the pod has a node, and its volumes or its sandbox are not ready.
func (d draw) cannotMount() {
	why := d.message()
	kind := pick(d,
		[2]string{"FailedMount", `MountVolume.SetUp failed for volume "data" : ` + why},
		[2]string{"FailedAttachVolume", `AttachVolume.Attach failed for volume "pvc-77aa" : rpc error: code = Internal desc = ` + why},
		[2]string{"FailedCreatePodSandBox", `Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "9f3c": plugin type="acme" failed (add): ` + why},
	)
	d.w.Cause, d.w.Quoted = "cannot mount: "+kind[0], ending(why)
	p := d.pod(0, d.ago(10*time.Minute, 30*time.Minute))
	d.event(p, "kubelet", kind[0], kind[1])
	d.w.Job.Status.Active, d.w.Job.Status.Ready = 1, ptr.To(int32(0))
	d.w.Later = func(w *World, by time.Duration) { w.Now = w.Now.Add(by) }
}

// refused: the API server refuses the pods.
func (d draw) refused() {
	pod := d.w.Job.Name + "-x7k2p"
	used := d.between(4, 9)
	why := d.message()
	switch d.IntN(3) {
	case 0:
		d.w.Cause, d.w.Numbers = "quota", []string{"requests.cpu=3", fmt.Sprint("requests.cpu=", used), "requests.cpu=10"}
		why = fmt.Sprintf("pods %q is forbidden: exceeded quota: compute, requested: requests.cpu=3, used: requests.cpu=%d, limited: requests.cpu=10", pod, used)
	case 1:
		d.w.Cause, d.w.Quoted = "webhook", ending(why)
		why = `admission webhook "pods.acme.example" denied the request: ` + why
	default:
		d.w.Cause, d.w.Quoted = "refusal", ending(why)
		why = fmt.Sprintf("pods %q is forbidden: ", pod) + why
	}
	d.event(nil, "job-controller", "FailedCreate", "Error creating: "+why)
	d.w.Job.Status.Ready = ptr.To(int32(0))
	d.w.Later = func(w *World, by time.Duration) { w.Now = w.Now.Add(by) }
}

// unschedulable: no node can take the pod.
func (d draw) unschedulable() {
	nodes := d.between(3, 9)
	why := fmt.Sprintf("0/%d nodes are available: %d Insufficient cpu. preemption: 0/%d nodes are available: %d No preemption victims found for incoming pod.", nodes, nodes, nodes, nodes)
	d.w.Cause, d.w.First = "unschedulable", []string{"cpu", fmt.Sprint(nodes)}
	p := d.pod(0, d.ago(10*time.Minute, 30*time.Minute))
	p.Spec.NodeName, p.Status.StartTime, p.Status.ContainerStatuses = "", nil, nil
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: why, LastTransitionTime: p.CreationTimestamp}}
	d.event(p, "default-scheduler", "FailedScheduling", why)
	d.w.Job.Status.Active, d.w.Job.Status.Ready = 1, ptr.To(int32(0))
	d.w.Later = func(w *World, by time.Duration) { w.Now = w.Now.Add(by) }
}

// evicted: the kubelet evicts the pods.
func (d draw) evicted() {
	used := d.between(5, 9)
	message := fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %dGi. ", used)
	d.w.Cause, d.w.First = "evicted", []string{"evicted", fmt.Sprintf("%dGi", used)}
	d.failPods(func(p *corev1.Pod, at metav1.Time) {
		p.Status.Reason, p.Status.Message = "Evicted", message
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: d.terminated(137, "Error", "", at)}
	})
}

// deadline: the Job ran longer than its activeDeadlineSeconds, and its pods are gone.
func (d draw) deadline() {
	seconds := int64(d.between(60, 3000))
	d.w.Cause, d.w.First = "deadline", []string{"activeDeadlineSeconds"}
	d.w.Job.Spec.ActiveDeadlineSeconds = &seconds
	at := metav1.NewTime(d.w.Job.Status.StartTime.Add(time.Duration(seconds) * time.Second))
	d.w.Job.Status.Failed = 1
	d.fail(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline", at)
}

// runs: nothing is wrong.
func (d draw) runs() {
	d.w.Cause, d.w.Job.Spec.Parallelism = "runs", ptr.To(d.between(1, *d.w.Job.Spec.Completions))
	for i := range *d.w.Job.Spec.Parallelism {
		d.start(d.pod(i, d.ago(time.Minute, 10*time.Minute)))
	}
	d.w.Retries = &[2]int32{0, *d.w.Job.Spec.BackoffLimit}
	d.w.Later = func(w *World, by time.Duration) { w.Now = w.Now.Add(by) }
}
