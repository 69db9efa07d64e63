package reconcile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Messages of the built-in controller, for which the API has no constants.
const (
	messageBackoffLimit     = "Job has reached the specified backoff limit"
	messageDeadline         = "Job was active longer than specified deadline"
	messageCompletions      = "Reached expected number of succeeded pods"
	messageFailedIndexes    = "Job has failed indexes"
	messageMaxFailedIndexes = "Job has exceeded the specified maximal number of failed indexes"
)

// outcome is the result of a Job, decided before its terminal condition is written.
type outcome struct {
	// condition is JobFailureTarget or JobSuccessCriteriaMet; empty while undecided.
	condition batchv1.JobConditionType
	reason    string
	message   string
	// stored reports whether the interim condition is in the observed status.
	stored bool
	// direct reports whether the terminal condition is written without an interim condition.
	direct bool
	// successMet reports whether a rule of the successPolicy is met. No pods are then started, even if the status must
	// record failures before it can have the condition.
	successMet bool
}

func (f outcome) decided() bool    { return f.condition != "" }
func (f outcome) failing() bool    { return f.condition == batchv1.JobFailureTarget }
func (f outcome) succeeding() bool { return f.condition == batchv1.JobSuccessCriteriaMet }

// finding returns the outcome for Findings; nil while undecided.
func (f outcome) finding() *InterimCondition {
	if !f.decided() {
		return nil
	}
	return &InterimCondition{f.condition, f.reason, f.message}
}

// storedOutcome reads the stored outcome, which never changes (KEP-3998, SUC-11, SUC-12).
func storedOutcome(job *batchv1.Job) outcome {
	for _, t := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := TrueCondition(job, t); c != nil {
			return outcome{condition: t, reason: c.Reason, message: c.Message, stored: true}
		}
	}
	return outcome{}
}

// decideOutcome looks for a reason to end the Job, in the order of JOB-01: every reason to fail comes before the
// successPolicy (SUC-09). The first reason wins, and later ones are not evaluated.
func decideOutcome(job *jobView, pods *podLists, v verdicts, ended endedSets, claiming bool, plan *planner) outcome {
	if job.stored.decided() {
		return job.stored
	}
	for _, decide := range []func() outcome{
		func() outcome { return failJob(job, pods.failed, v, plan.Findings.RuleNames) },
		func() outcome { return pastBackoffLimit(job, pods, plan) },
		func() outcome { return pastDeadline(job, plan) },
		func() outcome { return tooManyFailedIndexes(job, ended, plan) },
		func() outcome { return endedWithFailedIndexes(job, pods, ended) },
		func() outcome { return meetsSuccessPolicy(job, pods, ended, claiming, plan) },
	} {
		if end := decide(); end != (outcome{}) {
			return end
		}
	}
	return outcome{}
}

// failures returns the number of failed pods, counted or about to be counted (TRK-04).
func failures(job *jobView, pods *podLists) int32 {
	return job.status.Failed + count32(pods.failed) + job.count(resultFailed)
}

// pastBackoffLimit fails the Job by spec.backoffLimit (JOB-15; JOB-16 for restartPolicy OnFailure).
func pastBackoffLimit(job *jobView, pods *podLists, plan *planner) outcome {
	f := &BackoffLimit{Failures: failures(job, pods), Limit: jobspec.BackoffLimit(job.spec)}
	plan.Findings.BackoffLimit = f
	past := f.FailuresLeft() <= 0
	if job.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		f.OnFailure = true
		for _, p := range pods.all {
			if p.Phase == corev1.PodRunning || p.Phase == corev1.PodPending {
				f.Restarts += p.Restarts
			}
		}
		past = past || f.RestartsLeft() <= 0
	}
	if !past {
		return outcome{}
	}
	return outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonBackoffLimitExceeded, message: messageBackoffLimit + lastFailure(pods, f.OnFailure)}
}

// lastFailure says which pod failed last, and how: Argo CD and kubectl describe show no more of a Job than the message of
// its condition (JOB-15). If no pod has failed and restarts count, it is a pod with a container that was restarted. It
// returns "" if no pod shows how it failed.
func lastFailure(pods *podLists, restartsCount bool) string {
	candidates := pods.failed
	if restartsCount {
		candidates = slices.Concat(slices.SortedFunc(slices.Values(pods.active), compareFailures), candidates)
	}
	for _, p := range slices.Backward(candidates) {
		if how := failureText(p); how != "" {
			return "; " + how
		}
	}
	return ""
}

// failureText says how a pod failed: the reason of the pod as a whole, such as its eviction, which its containers do not
// show; otherwise its first container that failed, or, if the pod has not ended, a container before its last restart. "" if
// there is none of them.
func failureText(p *Pod) string {
	if p.Reasons != nil {
		return fmt.Sprintf("pod %s failed: %s", p.Name, cmp.Or(p.Reasons.Failed, p.Reasons.Disrupted))
	}
	ended := p.Terminated
	if p.Restarted != nil && !p.IsTerminal() {
		ended = append(slices.Clip(ended), *p.Restarted)
	}
	failed := slices.IndexFunc(ended, func(c failurepolicy.Container) bool { return c.ExitCode != 0 })
	if failed < 0 {
		return ""
	}
	c := ended[failed]
	text := fmt.Sprintf("container %s of pod %s failed with exit code %d", c.Name, p.Name, c.ExitCode)
	if c.Reason != "" && c.Reason != "Error" {
		text += " (" + c.Reason + ")"
	}
	return text
}

// pastDeadline fails the Job by spec.activeDeadlineSeconds, which is counted from startTime, but not while the Job is
// suspended (JOB-23).
func pastDeadline(job *jobView, plan *planner) outcome {
	seconds, start := job.spec.ActiveDeadlineSeconds, job.status.StartTime
	if seconds == nil || job.suspended {
		return outcome{}
	}
	begin := job.now
	// A Job that is being deleted keeps the condition Suspended when it is resumed.
	if start != nil && (job.deleting || TrueCondition(job.object, batchv1.JobSuspended) == nil) {
		begin = start.Time
	}
	// The API sets no upper bound; beyond 292 years a Duration would overflow.
	until := begin.Add(time.Duration(min(*seconds, int64(math.MaxInt64/time.Second))) * time.Second)
	plan.Findings.Deadline = until
	if !job.now.Before(until) {
		return outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonDeadlineExceeded, message: messageDeadline}
	}
	plan.requeue(until.Sub(job.now))
	return outcome{}
}

// tooManyFailedIndexes fails the Job by spec.maxFailedIndexes (BLI-18).
func tooManyFailedIndexes(job *jobView, ended endedSets, plan *planner) outcome {
	limit := job.spec.MaxFailedIndexes
	if !job.perIndex || limit == nil {
		return outcome{}
	}
	f := &MaxFailedIndexes{int32(ended.failed.Len()), *limit}
	plan.Findings.MaxFailedIndexes = f
	if f.Failed <= f.Limit {
		return outcome{}
	}
	return outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonMaxFailedIndexesExceeded, message: messageMaxFailedIndexes}
}

// endedWithFailedIndexes fails a Job if all of its indexes have ended and some have failed (BLI-17). It counts only
// successes that this plan's status records, so that the condition and its evidence are stored together.
func endedWithFailedIndexes(job *jobView, pods *podLists, ended endedSets) outcome {
	failed := ended.failed.Len()
	if !job.perIndex || failed == 0 || job.completedIndexes.Union(indexesOf(recordable(job, pods))).Len()+failed < int(job.completions) {
		return outcome{}
	}
	return outcome{condition: batchv1.JobFailureTarget, reason: batchv1.JobReasonFailedIndexes, message: messageFailedIndexes}
}

// succeededCount returns the number of successes: counted in the status, recorded, and to be recorded now (TRK-04,
// JOB-06).
func succeededCount(job *jobView, pods *podLists, ended endedSets) int32 {
	if job.indexed {
		return int32(ended.completed.Len())
	}
	return job.status.Succeeded + count32(pods.succeeded) + job.count(resultSucceeded)
}

// completeJob completes the Job by spec.completions (JOB-02, JOB-03, JOB-05):
// enough pods succeeded, and none is active.
func completeJob(job *jobView, pods *podLists, ended endedSets) outcome {
	if len(pods.active)+len(pods.untracked)+len(pods.unreported) > 0 {
		return outcome{}
	}
	if pods.room(job.cfg) < len(pods.failed)+len(pods.succeeded) {
		return outcome{} // Not all ended pods fit into this status (TRK-06).
	}
	succeeded := succeededCount(job, pods, ended)
	enough := succeeded >= job.completions
	if job.noCompletions {
		enough = succeeded > 0
	}
	if !enough {
		return outcome{}
	}
	end := outcome{condition: batchv1.JobSuccessCriteriaMet, direct: !job.cfg.Features.delaysTerminal()}
	if job.cfg.Features.SuccessPolicy {
		// The condition had no reason before KEP-3998.
		end.reason, end.message = batchv1.JobReasonCompletionsReached, messageCompletions
	}
	return end
}
