package main

import (
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// successes returns scenarios of Jobs that complete.
func successes() []scenario {
	reached := completed(batchv1.JobReasonCompletionsReached)
	return []scenario{
		{
			name: "completions", builtin: true,
			what: "All 3 pods of a NonIndexed Job succeed, two at a time: Complete, CompletionsReached.",
			play: runs(of(nonIndexed(3, 2), does("run-time", "1s")), all(reached, countedSuccesses(3))),
		}, {
			name: "success-policy", builtin: true,
			what: "The leader, index 0 of 4, succeeds, which is enough for rule 0 of the successPolicy; the other three are stopped: Complete, SuccessPolicy.",
			play: runs(of(indexed(4, 4), succeedsWith(batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("0")}), does("run-time", forever, "run-time.0", "2s")),
				all(completed(batchv1.JobReasonSuccessPolicy), countedSuccesses(1))),
		}, {
			name: "work-queue", builtin: true,
			what: "A Job without completions and with parallelism 3: one pod succeeds, so no more are started, and the others succeed too: Complete, CompletionsReached.",
			play: runs(of(with(func(j *batchv1.JobSpec) { j.Parallelism = ptr.To[int32](3) }), does("run-time", "2s")), all(reached, countedSuccesses(3))),
		},
	}
}

// slowly makes deleted pods take long to terminate.
func slowly(j *batchv1.Job) {
	does("termination-time", forever)(j)
	j.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](600)
}

// interims returns scenarios of Jobs whose outcome is decided but that are not finished yet.
func interims() []scenario {
	return []scenario{
		{
			name: "failure-target", builtin: true,
			what: "Index 0 exits with 42, and the FailJob rule 0 fails the Job: FailureTarget; Failed waits for two pods that take up to 600 s to end.",
			play: runs(of(indexed(3, 3), rules(onExit(failJob, 42)), slowly, does("run-time", forever, "run-time.0", "2s", "exit-code.0", "42")),
				all(has(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy), counted, terminating(2), havePods(2, stopping), event("Job", "SuccessfulDelete"))),
		}, {
			name: "success-criteria-met", builtin: true,
			what: "Index 0 of 3 succeeds, which is enough for rule 0 of the successPolicy: SuccessCriteriaMet; Complete waits for two pods that take up to 600 s to end.",
			play: runs(of(indexed(3, 3), succeedsWith(batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("0")}), slowly, does("run-time", forever, "run-time.0", "2s")),
				all(has(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy), counted, terminating(2), havePods(2, stopping), event("Job", "SuccessfulDelete"))),
		}, {
			name: "deleting", builtin: true,
			what: "A user deletes the running Job with --cascade=foreground; it stays until its two pods have ended, which takes them up to 600 s.",
			play: playDeleting,
		},
	}
}

func playDeleting(s *stage) error {
	if err := s.run(s.job(nonIndexed(2, 2), slowly, does("run-time", forever)), "running pods", active(2)); err != nil {
		return err
	}
	err := s.deleteJob()
	return errors.Join(err, s.until("the end of its pods to begin", all(leaving, havePods(2, stopping), terminating(2), event("Job", "SuccessfulCreate"))))
}

// deleteJob deletes the Job in the foreground: its dependents are deleted first.
func (s *stage) deleteJob() error {
	return s.client.BatchV1().Jobs(s.ns).Delete(s.ctx, s.name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)})
}

func leaving(v *view) bool { return one(v) && v.jobs[0].DeletionTimestamp != nil }

// ongoing returns scenarios of Jobs that run, or will run without intervention.
func ongoing() []scenario {
	return []scenario{
		{
			name: "running", builtin: true,
			what: "Two of six indexes have succeeded, three run, one has its turn later (parallelism 3).",
			play: runs(of(indexed(6, 3), does("run-time", forever, "run-time.0", "1s", "run-time.1", "1s")), all(active(3), countedSuccesses(2), counted, events("Job", "SuccessfulCreate", 1))),
		}, {
			name: "running-success-policy", builtin: true,
			what: "Indexes 1, 2 and 3 of 10 have succeeded: 3 of the 5 of indexes 1-9 that rule 0 of the successPolicy wants; seven pods run.",
			play: runs(of(indexed(10, 10), succeedsWith(batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("1-9"), SucceededCount: ptr.To[int32](5)}, batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To("0")}),
				does("run-time", forever, "run-time.1", "1s", "run-time.2", "1s", "run-time.3", "1s")), all(active(7), countedSuccesses(3), counted, events("Job", "SuccessfulCreate", 1))),
		}, {
			name: "deadline-running", builtin: true,
			what: "The only pod runs, and activeDeadlineSeconds is 3600: the Job has an hour from its startTime.",
			play: runs(of(does("run-time", forever), with(func(j *batchv1.JobSpec) { j.ActiveDeadlineSeconds = ptr.To[int64](3600) })), all(active(1), events("Job", "SuccessfulCreate", 1))),
		}, {
			name: "backoff", builtin: true,
			what: "Two attempts have failed (backoffLimit 6), and the third waits for the back-off of 20 s after the second failure: no pod runs.",
			play: runs(of(does("run-time", "1s", "exit-code", "1")), all(countedFailures(2), counted, havePods(2, ended), havePods(2, every), status(func(s batchv1.JobStatus) bool { return s.Active == 0 }), events("Job", "SuccessfulCreate", 2))),
		}, {
			name: "index-backoff", builtin: true,
			what: "Of 5 indexes with backoffLimitPerIndex 3: 0 succeeded, 1 runs its attempt 1 of 4, 2 failed once and waits 10 s for attempt 2, 3 runs attempt 2, 4 failed twice and waits 20 s for attempt 3. The last failed pod of 2 and of 4 keeps its finalizer, uncounted, until the next attempt is there.",
			play: runs(of(indexed(5, 5), perIndex(3), does("run-time", forever, "run-time.0", "1s",
				"run-time.2.1", "11s", "exit-code.2.1", "1",
				"run-time.3.1", "1s", "exit-code.3.1", "1",
				"run-time.4", "1s", "exit-code.4", "1")), all(countedFailures(2), countedSuccesses(1), active(2),
				indexHas("2", 1, 0), indexHas("3", 1, 1), indexHas("4", 2, 0))),
		},
	}
}

// indexHas holds if the index has this many failed pods and this many running ones.
func indexHas(index string, failures, runs int) func(*view) bool {
	is := isIndex(index)
	return all(
		havePods(failures, func(p corev1.Pod) bool { return is(p) && p.Status.Phase == corev1.PodFailed }),
		havePods(runs, func(p corev1.Pod) bool { return is(p) && !ended(p) }),
	)
}
