package main

import (
	"errors"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	controllerpkg "github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// stalls returns scenarios of Jobs that wait for a user or another controller, or whose controller is absent.
func stalls() []scenario {
	return []scenario{
		{
			name: "suspended", builtin: true,
			what: "A user sets spec.suspend while the pod runs: it is deleted, and the Job is Suspended; its events tell that it ran.",
			play: playSuspended,
		}, {
			name: "suspended-kueue", builtin: true,
			what: "A Job of Kueue's queue team-a was admitted, ran, and is preempted: spec.suspend is true again, by field manager kueue. The recorder wrote what Kueue writes.",
			play: playKueue,
		}, {
			name: "unknown-managed-by",
			what: "spec.managedBy is batchjob.dev/contoller, with a typo: no controller has touched the Job, while another Job of the cluster has completed since it was created.",
			play: playUnknownManager,
		}, {
			name: "controller-gone",
			what: "managedBy is example.com/gone, and that controller was killed: its Lease has expired, index 0 has succeeded since then and still has the tracking finalizer, index 1 runs; the Job's status is that of before.",
			play: playControllerGone,
		}, {
			name: "invalid-rule-names",
			what: "The annotation with the rule names is not legal (a name with a space, a rule that does not exist), so no name counts, and the controller warns; exit code 42 fails the Job by the FailJob rule 0 all the same: PodFailurePolicy_0, without a name.",
			play: runs(of(rules(onExit(failJob, 42)), named("0=Schema too old;7=NoSuchRule"), does("run-time", "2s", "exit-code", "42")),
				all(failed(batchv1.JobReasonPodFailurePolicy), invalidNames)),
		}, {
			name: "invalid-rule-names-running",
			what: "The annotation with the rule names is not legal (two rules of the same name), so no name counts, and the controller warns; the pod runs.",
			play: runs(of(rules(onExit(failJob, 42), onExit(count, 1)), named("0=Same;1=Same"), does("run-time", forever)),
				all(active(1), event("Job", "SuccessfulCreate"), invalidNames)),
		},
	}
}

func playSuspended(s *stage) error {
	if err := s.run(s.job(does("run-time", forever)), "a running pod", active(1)); err != nil {
		return err
	}
	err := s.patchJob("kubectl-patch", `{"spec":{"suspend":true}}`)
	return errors.Join(err, s.until("the suspension", suspended))
}

// invalidNames holds if the controller has reported invalid names of rules.
var invalidNames = event("Job", "InvalidPodFailurePolicyRuleNames")

var suspended = all(one, has(batchv1.JobSuspended, ""), havePods(0, every), event("Job", "Suspended"),
	status(func(s batchv1.JobStatus) bool { return s.Active == 0 && value(s.Terminating) == 0 }))

// playKueue makes the same writes as Kueue for a Job in one of its queues.
func playKueue(s *stage) error {
	job := s.job(does("run-time", forever), with(func(j *batchv1.JobSpec) { j.Suspend = ptr.To(true) }))
	job.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "team-a"}
	if err := s.run(job, "the suspension", has(batchv1.JobSuspended, "")); err != nil {
		return err
	}
	queued := s.tellJob("CreatedWorkload", "Created Workload: "+s.ns+"/job-"+s.name+"-3f2a1")
	admitted := s.tellJob("Started", "Admitted by clusterQueue gpu")
	if err := errors.Join(queued, s.patchJob("kueue", `{"spec":{"suspend":false}}`), admitted, s.until("a running pod", active(1))); err != nil {
		return err
	}
	preempted := s.tellJob("Stopped", "Preempted to accommodate a workload (UID: 8f1c7d52-7a4e-4b1c-9d0e-51d1b8a0c6f2, JobUID: 4d9f0c1a-0b57-4d3e-8f62-0f6f7b1c2d3e) due to prioritization in the ClusterQueue")
	return errors.Join(s.patchJob("kueue", `{"spec":{"suspend":true}}`), preempted, s.until("the suspension", all(suspended, event("Job", "Stopped"))))
}

// tellJob creates an event about the Job, as Kueue's Job controller does.
func (s *stage) tellJob(reason, message string) error {
	job, now := s.seen.jobs[0], metav1.Now()
	const component = "batch/job-kueue-controller"
	_, err := s.client.CoreV1().Events(s.ns).Create(s.ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: job.Name + "."},
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Namespace: s.ns, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion},
		Type:           corev1.EventTypeNormal, Reason: reason, Message: message,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, metav1.CreateOptions{})
	return err
}

// playUnknownManager waits until another Job is complete: by then, a controller would have started this one.
func playUnknownManager(s *stage) error {
	s.managedBy = "batchjob.dev/contoller"
	if err := s.create(s.job(does("run-time", "1s"))); err != nil {
		return err
	}
	elsewhere := *s
	elsewhere.ns, elsewhere.managedBy = s.ns+"-witness", controllerpkg.DefaultManagedBy
	if err := s.addNamespace(s.ctx, elsewhere.ns, false); err != nil {
		return err
	}
	if err := elsewhere.run(s.job(does("run-time", "1s")), "the witness", completed("")); err != nil {
		return err
	}
	return s.until("the Job as it is", one)
}

func playControllerGone(s *stage) error {
	s.managedBy = "example.com/gone"
	p, err := s.launch(s.ctx, "--managed-by", s.managedBy)
	if err != nil {
		return err
	}
	if err := s.run(s.job(indexed(2, 2), does("run-time.0", "15s", "run-time.1", forever)), "running pods", all(active(2), event("Job", "SuccessfulCreate"))); err != nil {
		return err
	}
	p.Kill()
	return s.until("the end of the Lease, and of a pod", all(expired, havePods(1, func(p corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded && slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer)
	})))
}

// expired holds if the controller's Lease has expired.
func expired(v *view) bool {
	if v.lease == nil || v.lease.Spec.RenewTime == nil {
		return false
	}
	return v.at.After(v.lease.Spec.RenewTime.Add(time.Duration(value(v.lease.Spec.LeaseDurationSeconds)) * time.Second))
}
