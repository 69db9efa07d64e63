package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
)

// owned returns scenarios of Jobs that were created by a controller, not by a user.
func owned() []scenario {
	return []scenario{
		{
			name: "cronjob", builtin: true,
			what: "The only run of a CronJob fails with exit code 2 and a message: the Job, which the CronJob controls, is Failed, BackoffLimitExceeded.",
			play: playCronJob,
		}, {
			name: "jobset", builtin: true,
			what: "Two Jobs with the labels, annotations and owner that a JobSet gives them: driver-0 is Complete, workers-0 Failed by the FailJob rule 0 (named ExitCode2), which fails the JobSet. The recorder made the Jobs and wrote the JobSet's status, as JobSet's controller does.",
			play: playJobSet,
		},
	}
}

// playCronJob makes a CronJob start the run that was due five minutes ago; the next run is due in an hour.
func playCronJob(s *stage) error {
	template := s.job(backoffLimit(0), does("run-time", "2s", "exit-code", "2", "message", "no rows to report\n"))
	s.own(&template.Spec)
	crons := s.client.BatchV1().CronJobs(s.ns)
	due := time.Now().UTC().Add(-5 * time.Minute)
	cron, err := crons.Create(s.ctx, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly-report"},
		Spec: batchv1.CronJobSpec{
			Schedule: fmt.Sprint(due.Minute(), " * * * *"), TimeZone: ptr.To("UTC"), ConcurrencyPolicy: batchv1.ForbidConcurrent,
			JobTemplate: batchv1.JobTemplateSpec{Spec: template.Spec},
		},
	}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		return err
	}
	cron.Status.LastScheduleTime = ptr.To(metav1.NewTime(due.Add(-time.Minute)))
	_, err = crons.UpdateStatus(s.ctx, cron, metav1.UpdateOptions{FieldManager: "kube-controller-manager"})
	return errors.Join(err, s.until("the end of the run", all(failed(batchv1.JobReasonBackoffLimitExceeded), event("CronJob", "SawCompletedJob"))))
}

func playJobSet(s *stage) error {
	const name = "training"
	replicated := func(name string) map[string]any { return map[string]any{"name": name, "replicas": int64(1)} }
	sets := s.objects.Resource(jobSets).Namespace(s.ns)
	set, err := sets.Create(s.ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": jobSets.GroupVersion().String(), "kind": "JobSet", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicatedJobs": []any{replicated("driver"), replicated("workers")},
			"failurePolicy": map[string]any{"maxRestarts": int64(3), "rules": []any{map[string]any{
				"name": "LabelsAreMissing", "action": "FailJobSet", "targetReplicatedJobs": []any{"workers"},
			}}},
		},
	}}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		return err
	}
	driver := s.job(indexed(1, 1), backoffLimit(0), does("run-time", "1s"))
	workers := s.job(indexed(2, 2), backoffLimit(0), rules(onExit(failJob, 2)), named("0=ExitCode2"),
		does("run-time.0", "2s", "run-time.1", "4s", "exit-code.1", "2", "message.1", "the data set has no labels\n"))
	err = errors.Join(s.create(ofSet(driver, set, "driver")), s.create(ofSet(workers, set, "workers")))
	if err != nil {
		return err
	}
	over := all(has(batchv1.JobComplete, ""), has(batchv1.JobFailed, ""), counted, event("Job", "Completed"), event("Job", batchv1.JobReasonPodFailurePolicy))
	if err := s.until("the end of both Jobs", over); err != nil {
		return err
	}
	if err := unstructured.SetNestedSlice(set.Object, []any{map[string]any{
		"type": "Failed", "status": "True", "reason": "FailJobSetFailurePolicyAction", "lastTransitionTime": s.now().Format(time.RFC3339),
		"message": fmt.Sprintf("applying FailJobSet failure policy action (first failed job: %s-workers-0)", name),
	}}, "status", "conditions"); err != nil {
		return err
	}
	_, err = sets.UpdateStatus(s.ctx, set, metav1.UpdateOptions{FieldManager: "jobset-controller"})
	return errors.Join(err, s.until("the JobSet's status", all(over, func(v *view) bool {
		return slices.ContainsFunc(v.raw, func(item unstructured.Unstructured) bool {
			conditions, _, _ := unstructured.NestedSlice(item.Object, "status", "conditions")
			return item.GetKind() == "JobSet" && len(conditions) > 0
		})
	})))
}

// ofSet makes the Job the first Job of a replicated Job of the JobSet.
func ofSet(job *batchv1.Job, set *unstructured.Unstructured, replicated string) *batchv1.Job {
	job.Name = set.GetName() + "-" + replicated + "-0"
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, set.GroupVersionKind())}
	labels := map[string]string{
		"jobset.sigs.k8s.io/jobset-name":            set.GetName(),
		"jobset.sigs.k8s.io/jobset-uid":             string(set.GetUID()),
		"jobset.sigs.k8s.io/replicatedjob-name":     replicated,
		"jobset.sigs.k8s.io/replicatedjob-replicas": "1",
		"jobset.sigs.k8s.io/job-index":              "0",
		"jobset.sigs.k8s.io/restart-attempt":        "0",
	}
	job.Labels, job.Spec.Template.Labels = labels, labels
	return job
}
