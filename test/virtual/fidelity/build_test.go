package fidelity

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// newName returns the name of a new object; an argument may set the name's length or suffix.
func (p *player) newName(o *object, c call) string {
	name := p.prefix + o.label
	for _, a := range c.args {
		switch a.key {
		case "length":
			name += strings.Repeat("x", max(0, int(orZero(number[int32](a.value)))-len(name)))
		case "suffix":
			name += a.value
		}
	}
	return name
}

func (p *player) newJob(o *object, c call) *batchv1.Job {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: p.newName(o, c)},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "image"}},
		}}},
	}
	p.editJob(job, c)
	return job
}

func (p *player) editJob(job *batchv1.Job, c call) {
	for _, a := range c.args {
		if edit := specEdits[a.key]; edit != nil {
			edit(job, a.value)
		} else {
			p.editMetadata(&job.ObjectMeta, a)
		}
	}
}

func (p *player) editMetadata(m *metav1.ObjectMeta, a arg) {
	if edit := metadataEdits[a.key]; edit != nil {
		edit(m, a.value)
	}
	if a.key != "owner" && a.key != "otherOwner" {
		return
	}
	owner := p.owner(a)
	if !slices.ContainsFunc(m.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == owner.UID }) {
		m.OwnerReferences = append(m.OwnerReferences, owner)
	}
}

// owner returns a reference to a Job, as the controller or only as an owner.
func (p *player) owner(a arg) metav1.OwnerReference {
	job := p.object(a.value)
	ref := metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: job.name, UID: job.uid()}
	if a.key == "owner" {
		ref.Controller, ref.BlockOwnerDeletion = ptr.To(true), ptr.To(true)
	}
	return ref
}

func (p *player) newPod(o *object, c call) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.newName(o, c)},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "image"}},
		},
	}
	for _, a := range c.args {
		switch a.key {
		case "generateName":
			pod.GenerateName = pod.Name + "-"
			if a.value != "both" {
				pod.Name = ""
			}
		case "node":
			pod.Spec.NodeName = a.value
		case "grace":
			pod.Spec.TerminationGracePeriodSeconds = number[int64](a.value)
		case "restart":
			pod.Spec.RestartPolicy = corev1.RestartPolicy(a.value)
		case "phase":
			pod.Status.Phase = corev1.PodPhase(a.value)
		default:
			p.editMetadata(&pod.ObjectMeta, a)
		}
	}
	return pod
}

func (p *player) editPod(pod *corev1.Pod, c call) {
	for _, a := range c.args {
		switch a.key {
		case "image":
			pod.Spec.Containers = slices.Clone(pod.Spec.Containers)
			pod.Spec.Containers[0].Image = a.value
		case "deadline":
			pod.Spec.ActiveDeadlineSeconds = number[int64](a.value)
		case "hostname":
			pod.Spec.Hostname = a.value
		default:
			p.editMetadata(&pod.ObjectMeta, a)
		}
	}
}
