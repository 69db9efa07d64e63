package analysis

import (
	"cmp"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// With restartPolicy OnFailure the restarts of containers count towards the backoffLimit
// (JOB-16). When they reach it, the controller deletes the pods: their deletions are no
// cause then, and count as failures all the same.

// restartsFailedIt reports whether restarts exceeded the backoffLimit: failed pods did not, or not
// before the end was decided, and the pods, or else the events, tell of restarts.
func (a *analysis) restartsFailedIt() bool {
	if !a.restartsCount() {
		return false
	}
	limit := jobspec.BackoffLimit(a.spec)
	if a.restarts() >= max(limit, 1) {
		return true
	}
	failed := max(a.job.Status.Failed+int32(a.uncountedFailed()), a.ownFailures())
	return failed <= limit || a.toldRestart() != nil && failed-a.stoppedAtTheEnd() <= limit
}

// restartsCount reports whether the Job failed by its backoffLimit, and restarts count towards that.
func (a *analysis) restartsCount() bool {
	return a.outcome.reason == batchv1.JobReasonBackoffLimitExceeded && a.spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
}

// restarts sums those of the pods that ran when the end was decided, as far as they exist.
func (a *analysis) restarts() int32 {
	n := int32(0)
	for _, p := range a.pods {
		if a.ranAtTheEnd(p) {
			n += p.Restarts
		}
	}
	return n
}

// ranAtTheEnd reports whether the pod still runs, or was stopped when the end of the Job was
// decided. The last end of one that waited to be restarted then is from before.
func (a *analysis) ranAtTheEnd(p *explain.Pod) bool {
	if !p.IsTerminal() {
		return true
	}
	waited := p.Phase == corev1.PodFailed && p.Disruption == "" && p.StatusReason == ""
	return p.Deleting && !p.DeletedAt.Before(a.outcome.since) && (waited || !p.FinishedAt.Before(a.outcome.since))
}

// toldRestart is how a container ended before its last restart, as the controller's events
// tell of pods that it stopped; nil if they do not.
func (a *analysis) toldRestart() *cause.Exit {
	for _, told := range a.stopsTold {
		if told.Restarted.Container != "" {
			return &told.Restarted
		}
	}
	return nil
}

// restartedMost is the pod that was restarted most often of those that ran at the end, and the
// last failure of its container; nil if no pod shows it.
func (a *analysis) restartedMost() (*explain.Pod, *explain.Container) {
	var most *explain.Pod
	var last *explain.Container
	for _, p := range a.pods {
		if !a.ranAtTheEnd(p) || p.Restarts == 0 || most != nil && p.Restarts <= most.Restarts {
			continue
		}
		if c := p.LastFailure(); c != nil {
			most, last = p, c
		}
	}
	return most, last
}

// restartedFailure stands for restarts that failed the Job, where no pod has failed by the
// accounting: it still ends, and is counted already. It is nil if no pod shows it.
func (a *analysis) restartedFailure() *failure {
	if !a.restartsFailedIt() {
		return nil
	}
	p, c := a.restartedMost()
	if c == nil || !a.inFocus(p) {
		return nil
	}
	return &failure{pod: p, cause: cause.Of(&p.Pod, nil, nil), consequence: true}
}

// whyRestarts are the clauses of the verdict if restarts failed the Job.
func (a *analysis) whyRestarts() []string {
	limit, n := jobspec.BackoffLimit(a.spec), a.restarts()
	often := "at least " + words.Times(max(limit, 1), "time", "times")
	if n >= max(limit, 1) {
		often = words.Times(n, "time", "times")
	}
	allows := fmt.Sprintf("which uses up backoffLimit %d", limit)
	if limit == 0 {
		allows = "and backoffLimit 0 allows no retries"
	}
	who, last := "containers of its pods were", ""
	pod, c := a.restartedMost()
	switch told := a.toldRestart(); {
	case c != nil:
		if pod.Restarts == n && c.Restarts == n && n >= max(limit, 1) {
			who = fmt.Sprintf("container %s of pod %s was", c.Name, pod.Name)
		}
		last = fmt.Sprintf("container %s last ended with %s%s", c.Name, cause.ExitText(c.ExitCode, c.Reason), saying(c.Message))
	case told != nil:
		last = fmt.Sprintf("container %s last ended with %s", told.Container, cause.ExitText(told.ExitCode, told.Reason))
	}
	return []string{fmt.Sprintf("%s restarted %s, %s", who, often, allows), last}
}

// restartsText is for the evidence: how many restarts are known of.
func (a *analysis) restartsText() string {
	if n := a.restarts(); n >= max(jobspec.BackoffLimit(a.spec), 1) {
		return fmt.Sprintf(" (%s)", words.Times(n, "restart", "restarts"))
	}
	return ""
}

// adviceOnRestarts is for pods that the controller deleted, and that are gone.
func (a *analysis) adviceOnRestarts() []explain.Advice {
	told := a.toldRestart()
	if told == nil {
		return nil
	}
	text := a.remedy(&explain.Container{Name: told.Container, Ended: true, ExitCode: told.ExitCode, Reason: told.Reason})
	return []explain.Advice{{Text: cmp.Or(text, fmt.Sprintf("find out why container %s ends with %s", told.Container, cause.ExitText(told.ExitCode, told.Reason)))}}
}

// keepFailedPods is the advice that lets the next run tell more.
var keepFailedPods = explain.Advice{Text: "to keep the logs, recreate the Job with restartPolicy Never: failed pods then stay, while with OnFailure the controller deletes the pod when backoffLimit is used up"}

// stopsTold goes through the controller's events of failures since the end was decided, but
// for evictions and the like, which are not the controller's.
func (a *analysis) stopsTold(yield func(*explain.Event, *cause.Record) bool) {
	for i := range a.Events {
		e := &a.Events[i]
		if e.Reason != eventPodFailed || e.Pod != "" || e.Failed == nil || e.First.Before(a.outcome.since) {
			continue
		}
		if e.Failed.Condition != corev1.DisruptionTarget && !yield(e, e.Failed) {
			return
		}
	}
}

// stoppedAtTheEnd is how many failures are pods that were stopped because the end of the Job
// was decided: by the controller's events, or by the pods that exist.
func (a *analysis) stoppedAtTheEnd() int32 {
	n := int32(0)
	for e, told := range a.stopsTold {
		if told.IsDeletion() {
			n += max(e.Count, 1)
		}
	}
	return max(n, int32(len(a.failures))-a.ownFailures())
}
