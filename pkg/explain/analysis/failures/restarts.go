package failures

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Restarts are restarts of containers. With restartPolicy OnFailure they count towards the backoffLimit (JOB-16). When they
// reach it, the controller deletes the pods: these deletions are not causes, but count as failures.
type Restarts struct {
	// MayHaveFailedJob reports whether the Job failed by its backoffLimit, and restarts count towards it. FailedJob reports whether restarts
	// exceeded it: failed pods did not, or not before the outcome was decided, and the pods, or else the events, show restarts.
	MayHaveFailedJob, FailedJob bool
	// Count is the number of restarts in the existing pods that ran when the outcome was decided.
	Count int32
	// Pod is the pod among these with the most restarts, and Container the last failure of its container; nil if no pod shows it.
	Pod       *input.Pod
	Container *input.Container
	// Exit is how a container ended before its last restart, by the controller's events about pods that it stopped; nil if
	// they do not show it.
	Exit *cause.Exit
	// Ending is the failed probe for which the kubelet killed a container before the restart, if events show it, and
	// ProbeMessage the probe's last message.
	Ending       *meaning.Ending
	ProbeMessage string
}

// restartsOf returns the zero value unless restarts count.
func restartsOf(in *facts.Facts, fs *Failures) Restarts {
	if !in.RestartsCount() {
		return Restarts{}
	}
	r := Restarts{MayHaveFailedJob: mayHaveFailedJob(in), FailedJob: restartsExceeded(in, fs)}
	r.Count, r.Pod, r.Container = restartsInPods(in)
	_, r.Exit = stopsInEvents(in)
	if r.FailedJob {
		r.Ending, r.ProbeMessage = restartedByProbe(in, &r)
	}
	return r
}

// restartedByProbe returns the probe failure of the container with the most restarts, or, if its pod no longer exists, of any container.
func restartedByProbe(in *facts.Facts, r *Restarts) (*meaning.Ending, string) {
	if r.Container != nil {
		if !facts.IsStopped(r.Container) {
			return nil, ""
		}
		return endings.RestartedByProbe(in.Events, r.Pod.Name, r.Container.Name)
	}
	for i := range in.Events {
		e := &in.Events[i]
		if e.Reason != "Killing" || e.Pod == "" {
			continue
		}
		for _, c := range in.Spec.Template.Spec.Containers {
			if end, message := endings.RestartedByProbe(in.Events, e.Pod, c.Name); end != nil {
				return end, message
			}
		}
	}
	return nil, ""
}

func mayHaveFailedJob(in *facts.Facts) bool {
	return in.Decision.EndedBy == explain.EndedByBackoffLimit && in.RestartsCount()
}

// restartsExceeded returns the value of Restarts.FailedJob.
func restartsExceeded(in *facts.Facts, fs *Failures) bool {
	if !mayHaveFailedJob(in) {
		return false
	}
	limit, failed := jobspec.BackoffLimit(in.Spec), max(in.CountedFailures(), fs.Own)
	if restarts, _, _ := restartsInPods(in); restarts >= max(limit, 1) || failed <= limit {
		return true
	}
	// Pods that were stopped because the outcome was decided are failures too: by the controller's events, or by the pods.
	stopped, exit := stopsInEvents(in)
	if exit == nil && fs.Own == 0 {
		return failed-deletedAtEnd(in) <= limit
	}
	return exit != nil && failed-max(stopped, int32(len(fs.All))-fs.Own) <= limit
}

// deletedAtEnd returns how many pods the Job's controller has deleted since the outcome was decided, as its events show.
func deletedAtEnd(in *facts.Facts) (n int32) {
	for i := range in.Deletions {
		if d := &in.Deletions[i]; !d.At.Before(in.Decision.Since) {
			n += d.Count
		}
	}
	return n
}

// restartsInPods returns the number of restarts in the pods that ran when the outcome was decided, the pod among these with
// the most restarts, and the last failure of its container; nil if no pod shows one.
func restartsInPods(in *facts.Facts) (n int32, most *input.Pod, last *input.Container) {
	for _, p := range in.Pods {
		if p.Restarts == 0 || !ranAtTheEnd(in, p) {
			continue
		}
		n += p.Restarts
		if most != nil && p.Restarts <= most.Restarts {
			continue
		}
		if c := p.LastFailure(); c != nil {
			most, last = p, c
		}
	}
	return n, most, last
}

// ranAtTheEnd reports whether the pod still runs, or was stopped when the outcome of the Job was decided. A container that
// waited for a restart then ended before that.
func ranAtTheEnd(in *facts.Facts, p *input.Pod) bool {
	if !p.IsTerminal() {
		return true
	}
	waited := p.Phase == corev1.PodFailed && p.Disruption == "" && p.StatusReason == ""
	return p.Deleting && !p.DeletedAt.Before(in.Decision.Since) && (waited || !p.FinishedAt.Before(in.Decision.Since))
}

// restartedFailure represents restarts that failed the Job although the accounting has no failed pod: the pod is still
// ending, and is counted already. It returns nil if no pod shows it.
func restartedFailure(r *Restarts, o explain.Options) *Failure {
	if !r.FailedJob || r.Container == nil || !o.HasPod(r.Pod) {
		return nil
	}
	c := cause.Of(&r.Pod.Pod, nil, nil)
	return &Failure{Pod: r.Pod, Kind: &Kind{Cause: c, Text: c.Failure.Text()}, Consequence: true}
}

// stopsInEvents returns the number of pods that were stopped since the outcome was decided, by the controller's events, and how
// a container had ended before its last restart; nil if no event shows it. The controller does not cause disruptions.
func stopsInEvents(in *facts.Facts) (stopped int32, exit *cause.Exit) {
	for i := range in.Events {
		e := &in.Events[i]
		if !IsAboutFailures(e) || e.Failed == nil || e.First.Before(in.Decision.Since) || e.Failed.Condition == corev1.DisruptionTarget {
			continue
		}
		if e.Failed.IsDeletion() {
			stopped += max(e.Count, 1)
		}
		if exit == nil && e.Failed.Restarted.Container != "" {
			exit = &e.Failed.Restarted
		}
	}
	return stopped, exit
}
