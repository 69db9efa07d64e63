package main

import (
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// foreignFinalizer is a finalizer that no controller of this cluster removes.
const foreignFinalizer = "example.com/collect-logs"

// stuckPods returns scenarios of Jobs with pods that are not removed.
func stuckPods() []scenario {
	return []scenario{
		{
			name: "terminating-holds-slot", builtin: true,
			what: "A user deleted the running pod, which takes up to 600 s to end; with podReplacementPolicy Failed its replacement waits for that: terminating 1, active 0.",
			play: func(s *stage) error {
				remove := func(pod string) error { return s.deletePod(pod, nil) }
				return s.disturb(s.job(replaceFailed, slowly, does("run-time", forever)), remove, held)
			},
		}, {
			name: "vanished-node", builtin: true,
			what: "A user deleted the running pod with a grace period of 2 s, which is over; its node, which would have to stop it, does not exist anymore: the pod stays, and with podReplacementPolicy Failed it holds the slot.",
			play: playVanishedNode,
		}, {
			name: "foreign-finalizer", builtin: true,
			what: "The first pod has failed, was counted and deleted, but the finalizer example.com/collect-logs, which is not of the Job's controller, keeps it; the Job's next attempt runs.",
			play: func(s *stage) error {
				if err := s.collectLogs(6); err != nil {
					return err
				}
				return s.until("the next attempt", all(lingers, countedFailures(1), active(1), havePods(1, running), events("Job", "SuccessfulCreate", 2)))
			},
		}, {
			name: "foreign-finalizer-deleting", builtin: true,
			what: "The Job has failed, and a user deletes it with --cascade=foreground: it stays, as its failed pod has the finalizer example.com/collect-logs, which is not of the Job's controller.",
			play: func(s *stage) error {
				if err := s.collectLogs(0); err != nil {
					return err
				}
				if err := s.until("the end", all(failed(batchv1.JobReasonBackoffLimitExceeded), lingers)); err != nil {
					return err
				}
				return errors.Join(s.deleteJob(), s.until("its deletion", all(leaving, lingers)))
			},
		},
	}
}

func replaceFailed(j *batchv1.Job) { j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed) }

// held holds if the only pod is terminating, and the Job's status shows that.
var held = all(terminating(1), status(func(s batchv1.JobStatus) bool { return s.Active == 0 && value(s.Ready) == 0 }), havePods(1, stopping), havePods(1, every), event("Job", "SuccessfulCreate"))

func playVanishedNode(s *stage) error {
	node := "spot-" + s.ns
	if err := s.addNode(s.ctx, node); err != nil {
		return err
	}
	job := s.job(replaceFailed, does("run-time", forever, "termination-time", forever), withPod(func(p *corev1.PodSpec) { p.NodeName = node }))
	if err := s.run(job, "a running pod", active(1)); err != nil {
		return err
	}
	err := errors.Join(s.deletePod(s.seen.pods[0].Name, ptr.To[int64](2)), s.client.CoreV1().Nodes().Delete(s.ctx, node, metav1.DeleteOptions{}))
	return errors.Join(err, s.until("the end of its grace period", all(held, func(v *view) bool {
		return v.at.After(v.pods[0].DeletionTimestamp.Time)
	})))
}

// collectLogs runs a Job whose first pod gets another controller's finalizer, fails, and is deleted.
func (s *stage) collectLogs(limit int32) error {
	job := s.job(backoffLimit(limit), does("run-time.x.1", "4s", "exit-code.x.1", "1", "run-time", forever))
	if s.isBuiltin {
		// Its pods do not distinguish attempts: the next pod runs until it fails, too.
		job = s.job(backoffLimit(limit), does("run-time", "20s", "exit-code", "1"))
	}
	if err := s.run(job, "a running pod", havePods(1, running)); err != nil {
		return err
	}
	pod := s.seen.pods[0].Name
	err := s.patchPod(pod, "log-collector", `{"metadata":{"finalizers":["`+batchv1.JobTrackingFinalizer+`","`+foreignFinalizer+`"]}}`)
	if err := errors.Join(err, s.until("its failure", havePods(1, func(p corev1.Pod) bool { return p.Name == pod && p.Status.Phase == corev1.PodFailed }))); err != nil {
		return err
	}
	return s.deletePod(pod, nil)
}

// lingers holds if a failed, deleted pod exists only because of the foreign finalizer.
var lingers = havePods(1, func(p corev1.Pod) bool {
	return p.DeletionTimestamp != nil && p.Status.Phase == corev1.PodFailed && slices.Equal(p.Finalizers, []string{foreignFinalizer})
})
