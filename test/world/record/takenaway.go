package main

import (
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// takenAway returns scenarios of Jobs whose pods are evicted, deleted or otherwise disrupted.
func takenAway() []scenario {
	exceeded := failed(batchv1.JobReasonBackoffLimitExceeded)
	return []scenario{
		{
			name: "evicted", builtin: true,
			what: "The only pod is evicted through the API, which kubectl drain does too; no rule ignores that, so it counts: Failed, BackoffLimitExceeded. The pod is gone.",
			play: func(s *stage) error {
				return s.disturb(s.job(backoffLimit(0), does("run-time", forever)), s.evict, all(exceeded, havePods(0, every)))
			},
		}, {
			name: "evicted-by-kubelet", builtin: true,
			what: "The kubelet ends the only pod, as its node runs out of memory (condition DisruptionTarget, TerminationByKubelet, exit code 137, not OOMKilled); no rule ignores that: Failed, BackoffLimitExceeded. The pod is still there.",
			play: runs(of(backoffLimit(0), does("run-time", "2s", "disruption", "TerminationByKubelet", "message", "The node was low on resource: memory.")), exceeded),
		}, {
			name: "ignored", builtin: true,
			what: "The pod of index 0 is evicted, an Ignore rule for DisruptionTarget keeps it from being counted, and its replacement succeeds: Complete, with failed 0.",
			play: func(s *stage) error {
				job := s.job(indexed(2, 2), backoffLimit(0), rules(onDisruption(ignore), onExit(failJob, 42)), does("run-time.0", "8s", "run-time.1", "3s"))
				return s.disturb(job, s.evict, all(completed(batchv1.JobReasonCompletionsReached), countedFailures(0), countedSuccesses(2)))
			},
		}, {
			name: "pod-deleted", builtin: true,
			what: "A user deletes the only pod while it runs; that counts as a failure: Failed, BackoffLimitExceeded. The pod is gone.",
			play: func(s *stage) error {
				remove := func(pod string) error { return s.deletePod(pod, nil) }
				return s.disturb(s.job(backoffLimit(0), does("run-time", forever)), remove, all(exceeded, havePods(0, every)))
			},
		}, {
			name: "pod-deleted-retried", builtin: true,
			what: "A user deletes the running pod; that counts as a failure, 1 of backoffLimit 6, and another one runs.",
			play: func(s *stage) error {
				remove := func(pod string) error { return s.deletePod(pod, nil) }
				return s.disturb(s.job(does("run-time", forever)), remove, all(countedFailures(1), active(1), havePods(1, running), events("Job", "SuccessfulCreate", 2)))
			},
		},
	}
}

// disturb creates the Job, calls do for its first pod once all pods run, and waits for the result.
func (s *stage) disturb(job *batchv1.Job, do func(pod string) error, after func(*view) bool) error {
	n := 1
	if job.Spec.Parallelism != nil {
		n = int(*job.Spec.Parallelism)
	}
	if err := s.run(job, "running pods", all(havePods(n, running), active(int32(n)))); err != nil {
		return err
	}
	err := do(s.seen.pods[0].Name)
	return errors.Join(err, s.until("what comes of it", after))
}

// evict evicts a pod as kubectl drain does.
func (s *stage) evict(pod string) error {
	return s.client.CoreV1().Pods(s.ns).EvictV1(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: s.ns}})
}

func isIndex(index string) func(corev1.Pod) bool {
	return func(p corev1.Pod) bool { return p.Labels[batchv1.JobCompletionIndexAnnotation] == index }
}
