package main

import (
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// endings returns scenarios of Jobs that fail without a podFailurePolicy.
func endings() []scenario {
	exceeded := failed(batchv1.JobReasonBackoffLimitExceeded)
	return []scenario{
		{
			name: "backoff-limit", builtin: true,
			what: "Both attempts of a NonIndexed Job exit with 1, and backoffLimit is 1: Failed, BackoffLimitExceeded.",
			play: runs(of(backoffLimit(1), does("run-time", "1s", "exit-code", "1")), all(exceeded, countedFailures(2))),
		}, {
			name: "backoff-limit-oom", builtin: true,
			what: "The only attempt exits with 137 and the container's reason is OOMKilled: it ran out of memory; Failed, BackoffLimitExceeded.",
			play: runs(of(backoffLimit(0), does("run-time", "2s", "exit-code", "137", "reason", "OOMKilled")), exceeded),
		}, {
			name: "backoff-limit-sigkill", builtin: true,
			what: "The only attempt exits with 137 and the container's reason is Error, not OOMKilled: somebody sent SIGKILL; Failed, BackoffLimitExceeded.",
			play: runs(of(backoffLimit(0), does("run-time", "2s", "exit-code", "137")), exceeded),
		}, {
			name: "backoff-limit-sigterm", builtin: true,
			what: "The only attempt exits with 143, which is SIGTERM, and nobody deleted the pod: Failed, BackoffLimitExceeded.",
			play: runs(of(backoffLimit(0), does("run-time", "2s", "exit-code", "143")), exceeded),
		}, {
			name: "command-not-found", builtin: true,
			what: "The only attempt exits with 127, and the termination message is the shell's: no such command; Failed, BackoffLimitExceeded.",
			play: runs(of(backoffLimit(0), does("run-time", "1s", "exit-code", "127", "message", "/bin/sh: line 1: trian: command not found\n")), exceeded),
		}, {
			name: "not-executable", builtin: true,
			what: "The only attempt exits with 126, and the termination message is the shell's: the file may not be executed; Failed, BackoffLimitExceeded.",
			play: runs(of(backoffLimit(0), does("run-time", "1s", "exit-code", "126", "message", "/bin/sh: line 1: ./train.sh: Permission denied\n")), exceeded),
		}, {
			name: "deadline", builtin: true,
			what: "Two pods run for longer than activeDeadlineSeconds, 3, and are deleted: Failed, DeadlineExceeded.",
			play: runs(of(nonIndexed(2, 2), does("run-time", forever), with(func(j *batchv1.JobSpec) { j.ActiveDeadlineSeconds = ptr.To[int64](3) })),
				failed(batchv1.JobReasonDeadlineExceeded)),
		}, {
			name: "pods-gone", builtin: true,
			what: "All pods failed, then somebody deleted them: Failed, BackoffLimitExceeded, and nothing but the Job's events tells of pods.",
			play: playPodsGone,
		},
	}
}

func playPodsGone(s *stage) error {
	job := s.job(indexed(3, 3), backoffLimit(2), does("run-time", "1s", "exit-code", "1"))
	if err := s.run(job, "the end", failed(batchv1.JobReasonBackoffLimitExceeded)); err != nil {
		return err
	}
	err := s.client.CoreV1().Pods(s.ns).DeleteCollection(s.ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	return errors.Join(err, s.until("no pods", all(one, havePods(0, every))))
}
