package scenario

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

// Tamper makes n random changes, as a client with all permissions could, at random times of the first minute: to the
// finalizers, annotations, labels, owners and phases of pods, and to the Jobs.
func Tamper(w *checker.World, seed uint64, n int) {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range n {
		w.After(time.Duration(rng.Int64N(int64(time.Minute))), func() { tamperOnce(w, rng) })
	}
}

func tamperOnce(w *checker.World, rng *rand.Rand) {
	names := slices.Sorted(maps.Keys(w.Store.Pods()))
	if rng.IntN(8) == 0 || len(names) == 0 {
		tamperWithJob(w, rng)
		return
	}
	name := names[rng.IntN(len(names))]
	acts := []func(){
		func() { w.Store.EditPod("strip", name, func(p *corev1.Pod) { p.Finalizers = nil }) },
		func() {
			setAnnotation(w, name, batchv1.JobCompletionIndexAnnotation, Pick(rng, "0", "1", "2", "7", "-1", "x", ""))
		},
		func() {
			setAnnotation(w, name, batchv1.JobIndexFailureCountAnnotation, Pick(rng, "0", "1", "5", "-1", "2147483647", "99999999999", ""))
		},
		func() {
			setAnnotation(w, name, batchv1.JobIndexIgnoredFailureCountAnnotation, Pick(rng, "1", "2147483647", ""))
		},
		func() { w.Store.EditPod("unlabel", name, func(p *corev1.Pod) { p.Labels = nil }) },
		func() { w.Store.EditPod("orphan", name, func(p *corev1.Pod) { p.OwnerReferences = nil }) },
		func() {
			phases := []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}
			if !history.HasEnded(w.Store.Pods()[name]) { // No client would end it a second time.
				phases = append(phases, corev1.PodUnknown)
			}
			SetPhase(w.World, name, Pick(rng, phases...), Pick(rng, nil, ptr.To[int32](0), ptr.To[int32](42)))
		},
		func() { _, _ = w.Store.DeletePod(name, "") },
		func() { w.Store.KillPod(name) },
		func() { Must(w.Store.EvictPod(name)) },
	}
	acts[rng.IntN(len(acts))]()
}

// Pick returns a random element of the given values.
func Pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// setAnnotation sets an annotation of a pod, or removes it if the value is "".
func setAnnotation(w *checker.World, name, key, value string) {
	w.Store.EditPod("annotate", name, func(p *corev1.Pod) {
		if metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value); value == "" {
			delete(p.Annotations, key)
		}
	})
}

// tamperWithJob changes the mutable fields of a Job; changes of a finished Job are rejected.
func tamperWithJob(w *checker.World, rng *rand.Rand) {
	for _, name := range slices.Sorted(maps.Keys(w.Store.Jobs())) {
		switch rng.IntN(4) {
		case 0:
			_, _ = w.Store.EditJob(name, func(j *batchv1.Job) {
				metav1.SetMetaDataAnnotation(&j.ObjectMeta, checker.RuleNamesAnnotation, Pick(rng, "", "0=A", "0=A;1=A", "x", "1=B"))
			})
		case 1:
			_, _ = w.Store.EditJob(name, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(!*j.Spec.Suspend) })
			w.After(5*time.Second, func() { _, _ = w.Store.EditJob(name, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(false) }) })
		case 2:
			_, _ = w.Store.EditJob(name, func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To(rng.Int32N(5) + 1) })
		case 3:
			job := w.Store.Job(name)
			job.Status.Active, job.Status.Ready = rng.Int32N(5)+2, ptr.To(rng.Int32N(2))
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
				Type: Pick(rng, batchv1.JobFailureTarget, batchv1.JobConditionType("Other")), Status: corev1.ConditionFalse, Reason: fmt.Sprint(rng.IntN(9)),
			})
			_, _ = w.Store.UpdateJobStatus(job)
		}
	}
}

// SetPhase sets the phase of a pod, as any client that may write its status can, and the exit code of all its containers
// if exit is set.
func SetPhase(w *sim.World, name string, phase corev1.PodPhase, exit *int32) {
	w.Store.EditPod("phase", name, func(p *corev1.Pod) {
		p.Status.Phase = phase
		if exit == nil {
			return
		}
		p.Status.ContainerStatuses = nil
		for i := range p.Spec.Containers {
			end := &corev1.ContainerStateTerminated{ExitCode: *exit, Reason: "Completed", FinishedAt: metav1.NewTime(w.Now().Truncate(time.Second))}
			if *exit != 0 {
				end.Reason = "Error"
			}
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: p.Spec.Containers[i].Name, State: corev1.ContainerState{Terminated: end},
			})
		}
	})
}

// stillRunning sets the containers of a pod to running, whatever its phase will be.
func stillRunning(w *checker.World, name string) {
	w.Store.EditPod("containers", name, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = nil
		for i := range p.Spec.Containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: p.Spec.Containers[i].Name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			})
		}
	})
}
