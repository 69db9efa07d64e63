package sim

import (
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *scenario) deletePod(t *testing.T, d *datadriven.TestData) string {
	name := s.podName(t, d)
	if d.HasArg("force") {
		s.world.Store.KillPod(name)
		return s.world.Trace()
	}
	_, err := s.world.Store.DeletePod(name, "")
	return s.answer(err)
}

func (s *scenario) evict(t *testing.T, d *datadriven.TestData) string {
	return s.answer(s.world.Store.EvictPod(s.podName(t, d)))
}

// nodeBack lets a node answer again: what was asked of it meanwhile happens now.
func (s *scenario) nodeBack(t *testing.T, d *datadriven.TestData) string {
	if pod := s.world.Store.pods[s.podName(t, d)]; pod != nil {
		s.world.kubelet.back(pod)
	}
	return s.world.Trace()
}

// nodeDeleted does to a pod what the pod garbage collector does when the node is no more.
func (s *scenario) nodeDeleted(t *testing.T, d *datadriven.TestData) string {
	name, store := s.podName(t, d), s.world.Store
	if pod := store.pods[name]; pod != nil && !isTerminal(pod) {
		store.EditPod("pod-gc", name, func(p *corev1.Pod) {
			store.setPodCondition(p, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists"})
			p.Status.Phase = corev1.PodFailed
		})
	}
	store.KillPod(name)
	return s.world.Trace()
}

func (s *scenario) phase(t *testing.T, d *datadriven.TestData) string {
	var phase string
	var exit int32
	d.ScanArgs(t, "phase", &phase)
	code := &exit
	if !scanIf(t, d, "exit", code) {
		code = nil
	}
	name := s.podName(t, d)
	if d.HasArg("unreported") {
		s.world.kubelet.stillRunning(name)
	}
	s.world.kubelet.tamper(name, corev1.PodPhase(phase), code)
	return s.world.Trace()
}

// createPod creates a pod that looks like one of a Job, as somebody might by hand.
func (s *scenario) createPod(t *testing.T, d *datadriven.TestData) string {
	job := s.world.Store.jobs[jobName(t, d)]
	if job == nil {
		return "no Job\n"
	}
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	d.ScanArgs(t, "name", &pod.Name)
	pod.Namespace = Namespace
	if !d.HasArg("no-owner") {
		pod.OwnerReferences = []metav1.OwnerReference{jobReference(job)}
		if !d.HasArg("untracked") {
			pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
		}
	}
	var index int32
	if scanIf(t, d, "index", &index) {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(int(index)))
	}
	_, err := s.world.Store.CreatePod(pod)
	return s.answer(err)
}

// orphanPod takes its owners from a pod.
func (s *scenario) orphanPod(t *testing.T, d *datadriven.TestData) string {
	s.world.Store.EditPod("orphan", s.podName(t, d), func(p *corev1.Pod) { p.OwnerReferences = nil })
	return s.world.Trace()
}

// relabel sets labels of a pod, or removes those without a value.
func (s *scenario) relabel(t *testing.T, d *datadriven.TestData) string {
	s.world.Store.EditPod("relabel", s.podName(t, d), func(p *corev1.Pod) { p.Labels = changed(p.Labels, d) })
	return s.world.Trace()
}

// annotatePod sets annotations of a pod, or removes those without a value.
func (s *scenario) annotatePod(t *testing.T, d *datadriven.TestData) string {
	s.world.Store.EditPod("annotate", s.podName(t, d), func(p *corev1.Pod) { p.Annotations = changed(p.Annotations, d) })
	return s.world.Trace()
}

// unlabel takes all labels from a pod.
func (s *scenario) unlabel(t *testing.T, d *datadriven.TestData) string {
	s.world.Store.EditPod("unlabel", s.podName(t, d), func(p *corev1.Pod) { p.Labels = nil })
	return s.world.Trace()
}

// strip takes a finalizer from a pod, or all of them.
func (s *scenario) strip(t *testing.T, d *datadriven.TestData) string {
	var only string
	scanIf(t, d, "finalizer", &only)
	s.world.Store.EditPod("strip", s.podName(t, d), func(p *corev1.Pod) {
		var kept []string
		for _, f := range p.Finalizers {
			if only != "" && f != only {
				kept = append(kept, f)
			}
		}
		p.Finalizers = kept
	})
	return s.world.Trace()
}
