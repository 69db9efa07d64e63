package scenario

import (
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

func deletePod(s *Runner, t *testing.T, d *datadriven.TestData) string {
	name := s.podName(t, d)
	if d.HasArg("force") {
		s.World.Store.KillPod(name)
		return s.World.Trace()
	}
	_, err := s.World.Store.DeletePod(name, "")
	return s.answer(err)
}

func evict(s *Runner, t *testing.T, d *datadriven.TestData) string {
	return s.answer(s.World.Store.EvictPod(s.podName(t, d)))
}

// nodeBack makes a node respond again: it now does what was requested meanwhile.
func nodeBack(s *Runner, t *testing.T, d *datadriven.TestData) string {
	if pod := s.World.Store.Pods()[s.podName(t, d)]; pod != nil {
		s.World.Nodes().Back(pod)
	}
	return s.World.Trace()
}

// nodeDeleted changes a pod as the pod garbage collector does when the node no longer exists.
func nodeDeleted(s *Runner, t *testing.T, d *datadriven.TestData) string {
	name, store := s.podName(t, d), s.World.Store
	if pod := store.Pods()[name]; pod != nil && !history.HasEnded(pod) {
		store.EditPod("pod-gc", name, func(p *corev1.Pod) {
			store.SetPodCondition(p, corev1.PodCondition{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "DeletionByPodGC", Message: "PodGC: node no longer exists",
			})
			p.Status.Phase = corev1.PodFailed
		})
	}
	store.KillPod(name)
	return s.World.Trace()
}

func phase(s *Runner, t *testing.T, d *datadriven.TestData) string {
	var phase string
	var exit int32
	d.ScanArgs(t, "phase", &phase)
	code := &exit
	if !scanIf(t, d, "exit", code) {
		code = nil
	}
	name := s.podName(t, d)
	if d.HasArg("unreported") {
		stillRunning(s.World, name)
	}
	SetPhase(s.World.World, name, corev1.PodPhase(phase), code)
	return s.World.Trace()
}

// createPod creates a pod that looks like one of the Job's pods, as a user might.
func createPod(s *Runner, t *testing.T, d *datadriven.TestData) string {
	job := s.World.Store.Jobs()[jobName(t, d)]
	if job == nil {
		return "no Job\n"
	}
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	d.ScanArgs(t, "name", &pod.Name)
	pod.Namespace = sim.Namespace
	if !d.HasArg("no-owner") {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
		if !d.HasArg("untracked") {
			pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
		}
	}
	var index int32
	if scanIf(t, d, "index", &index) {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, strconv.Itoa(int(index)))
	}
	_, err := s.World.Store.CreatePod(pod)
	return s.answer(err)
}

// orphanPod removes the owners of a pod.
func orphanPod(s *Runner, t *testing.T, d *datadriven.TestData) string {
	s.World.Store.EditPod("orphan", s.podName(t, d), func(p *corev1.Pod) { p.OwnerReferences = nil })
	return s.World.Trace()
}

// relabel sets labels of a pod, or removes the ones without a value.
func relabel(s *Runner, t *testing.T, d *datadriven.TestData) string {
	s.World.Store.EditPod("relabel", s.podName(t, d), func(p *corev1.Pod) { p.Labels = changed(p.Labels, d) })
	return s.World.Trace()
}

// annotatePod sets annotations of a pod, or removes the ones without a value.
func annotatePod(s *Runner, t *testing.T, d *datadriven.TestData) string {
	s.World.Store.EditPod("annotate", s.podName(t, d), func(p *corev1.Pod) { p.Annotations = changed(p.Annotations, d) })
	return s.World.Trace()
}

// unlabel removes all labels of a pod.
func unlabel(s *Runner, t *testing.T, d *datadriven.TestData) string {
	s.World.Store.EditPod("unlabel", s.podName(t, d), func(p *corev1.Pod) { p.Labels = nil })
	return s.World.Trace()
}

// strip removes one finalizer, or all finalizers, of a pod.
func strip(s *Runner, t *testing.T, d *datadriven.TestData) string {
	var only string
	scanIf(t, d, "finalizer", &only)
	s.World.Store.EditPod("strip", s.podName(t, d), func(p *corev1.Pod) {
		var kept []string
		for _, f := range p.Finalizers {
			if only != "" && f != only {
				kept = append(kept, f)
			}
		}
		p.Finalizers = kept
	})
	return s.World.Trace()
}
