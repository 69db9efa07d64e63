// Package play plays random cases in the virtual cluster.
package play

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
)

// JobName is the name of the Job of every case.
const JobName = "a"

// Start creates the Job of a case, whose pods follow the case's scripts.
func Start(w *sim.World, c *model.Case) error {
	job := c.Job()
	job.Name = JobName
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
		active := !history.HasEnded(pod) && pod.DeletionTimestamp == nil && history.IndexOf(pod) == e.Value
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
