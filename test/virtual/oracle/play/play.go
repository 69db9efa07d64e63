// Package play plays random cases in the virtual cluster.
package play

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

const (
	// JobName is the name of the Job of every case.
	JobName = "a"
	// ruleNames is the annotation of KEP-4443, holder another client's finalizer.
	ruleNames = "batchjob.dev/pod-failure-policy-rule-names"
	holder    = "example.com/held"
)

// Start creates the Job of a case, whose pods follow the case's scripts.
func Start(w *sim.World, c *model.Case) error {
	job := &batchv1.Job{Spec: *c.Spec.DeepCopy()}
	job.Name = JobName
	if c.RuleNames != "" {
		job.Annotations = map[string]string{ruleNames: c.RuleNames}
	}
	if c.Held {
		job.Finalizers = []string{holder}
	}
	return w.Play(job, script(c))
}

func script(c *model.Case) sim.Script {
	var out sim.Script
	out = append(out, sim.Scene{Index: -1, Act: sim.Act{Run: 2 * time.Second, Terminate: 2 * time.Second, TerminateExit: 143}})
	for _, f := range c.Scripts {
		act := sim.Act{
			Run: f.Run, Container: "main", Exit: f.Exit, OtherExit: f.SideExit, InitExit: f.SetupExit,
			Restarts: f.Restarts, RestartsAfter: f.RestartsAfter,
			Terminate: f.Terminate, TerminateExit: f.TerminateExit, Unscheduled: f.Unscheduled, NodeGone: f.Lost,
		}
		if f.Condition != "" {
			act.Conditions = []corev1.PodCondition{{Type: f.Condition, Status: corev1.ConditionTrue}}
		}
		out = append(out, sim.Scene{Index: int32(f.Index), Nth: f.Nth, Act: act})
	}
	return out
}

// IndexOf returns the completion index of a pod, or -1.
func IndexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return index
}

// Apply carries out a user's action.
func Apply(w *sim.World, e model.Edit) error {
	store := w.Store
	job := store.Job(JobName)
	if job == nil {
		return nil
	}
	switch e.Action {
	case model.DeleteJob:
		return store.DeleteJob(JobName, metav1.DeletePropagationBackground)
	case model.DeletePod, model.EvictPod, model.CleanFailed, model.CleanSucceeded:
		return editPods(w, e, store.PodsOf(job.UID))
	}
	_, err := store.EditJob(JobName, func(job *batchv1.Job) { e.Change(&job.Spec) })
	return err
}

func editPods(w *sim.World, e model.Edit, pods []*corev1.Pod) error {
	for _, pod := range pods {
		over := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		active := !over && pod.DeletionTimestamp == nil && IndexOf(pod) == int(e.Value)
		switch {
		case e.Action == model.CleanFailed && pod.Status.Phase == corev1.PodFailed,
			e.Action == model.CleanSucceeded && pod.Status.Phase == corev1.PodSucceeded:
			if _, err := w.Store.DeletePod(pod.Name, ""); err != nil {
				return err
			}
		case e.Action == model.DeletePod && active:
			_, err := w.Store.DeletePod(pod.Name, "")
			return err
		case e.Action == model.EvictPod && active:
			return w.Store.EvictPod(pod.Name)
		}
	}
	return nil
}
