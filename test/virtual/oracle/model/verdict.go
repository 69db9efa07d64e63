package model

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// verdict returns why the Job ends, or nil: the first reason in the order of JOB-01.
func (w *world) verdict(next *status, seen *observation) *Condition {
	if c := w.failJob(); c != nil {
		return c
	}
	limit := *w.spec.BackoffLimit
	switch {
	case next.failed+seen.failures() > limit, w.tooManyRestarts(limit):
		return failing(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
	case w.pastDeadline(next):
		return failing(batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
	}
	if !w.spec.indexed() {
		return nil
	}
	lost := len(next.lost)
	switch {
	case w.spec.MaxFailedIndexes != nil && lost > int(*w.spec.MaxFailedIndexes):
		return failing(batchv1.JobReasonMaxFailedIndexesExceeded, "Job has exceeded the specified maximal number of failed indexes")
	case lost > 0 && lost+len(next.done) >= int(*w.spec.Completions):
		return failing(batchv1.JobReasonFailedIndexes, "Job has failed indexes")
	}
	return w.spec.successPolicy(next.done)
}

func failing(reason, message string) *Condition {
	return &Condition{batchv1.JobFailureTarget, corev1.ConditionTrue, reason, message}
}

func succeeding(reason, message string) *Condition {
	return &Condition{batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, reason, message}
}

// failJob returns the condition for a failed pod that matches a FailJob rule, or nil. If there are several, the choice
// is open.
func (w *world) failJob() *Condition {
	var matches []ruleMatch
	for _, p := range w.pods {
		if w.SettledIsSettled && p.settled {
			continue
		}
		if j := w.spec.matchPolicy(p); w.spec.hasFailed(p) && j.action == batchv1.PodFailurePolicyActionFailJob {
			matches = append(matches, j)
		}
	}
	if len(matches) == 0 {
		return nil
	}
	j := matches[w.pace.rng.IntN(len(matches))]
	reason := batchv1.JobReasonPodFailurePolicy
	if w.NamedRules {
		reason += "_" + ruleName(w.RuleNames, j.rule, len(w.spec.PodFailurePolicy.Rules))
	}
	return failing(reason, j.message)
}

// tooManyRestarts checks JOB-16.
func (w *world) tooManyRestarts(limit int32) bool {
	if w.spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return false
	}
	sum := int32(0)
	for _, p := range w.pods {
		sum += p.restarts()
	}
	return sum > 0 && sum >= limit
}

// pastDeadline checks JOB-23; before the deadline, it schedules a sync for it.
func (w *world) pastDeadline(next *status) bool {
	if w.spec.ActiveDeadlineSeconds == nil || w.spec.suspend() {
		return false
	}
	over := next.start + time.Duration(*w.spec.ActiveDeadlineSeconds)*time.Second
	if w.now < over {
		w.wakeBy(over)
		return false
	}
	return true
}

// successPolicy returns the condition for the first rule that the indexes meet, or nil (SUC-03..07).
func (s spec) successPolicy(done indexes) *Condition {
	if s.SuccessPolicy == nil || len(done) == 0 {
		return nil
	}
	for i, rule := range s.SuccessPolicy.Rules {
		have, need := len(done), 0
		if rule.SucceededIndexes != nil {
			listed := parseIndexes(*rule.SucceededIndexes, int(*s.Completions))
			have, need = 0, len(listed)
			for index := range listed {
				if done[index] {
					have++
				}
			}
			if need == 0 {
				continue
			}
		}
		if rule.SucceededCount != nil {
			need = int(*rule.SucceededCount)
		}
		if have >= need {
			return succeeding(batchv1.JobReasonSuccessPolicy, fmt.Sprintf("Matched rules at index %d", i))
		}
	}
	return nil
}

// enough returns the condition for a Job that has its completions, or nil (JOB-02, JOB-03, JOB-05).
func (w *world) enough(next *status, seen *observation) *Condition {
	for _, p := range w.pods {
		if p.active() {
			return nil
		}
	}
	succeeded := w.spec.successes(next, seen)
	if w.spec.Completions == nil && succeeded == 0 || w.spec.Completions != nil && succeeded < int(*w.spec.Completions) {
		return nil
	}
	return succeeding(batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
}
