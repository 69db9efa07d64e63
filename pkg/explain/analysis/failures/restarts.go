package failures

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Restarts are those of containers. With restartPolicy OnFailure they count towards the backoffLimit (JOB-16). When they
// reach it, the controller deletes the pods: their deletions are no cause then, and count as failures all the same.
type Restarts struct {
	// MayHaveFailedJob reports whether the Job failed by its backoffLimit, and restarts count towards that. FailedJob
	// reports whether they exceeded it: failed pods did not, or not before the end was decided, and the pods, or else
	// the events, show restarts.
	MayHaveFailedJob, FailedJob bool
	// Count is the sum of those of the pods that ran when the end was decided, as far as they exist.
	Count int32
	// Pod is the one of these that was restarted most often, and Container the last failure of its container; nil if no
	// pod shows it.
	Pod       *explain.Pod
	Container *explain.Container
	// Exit is how a container ended before its last restart, by the controller's events about pods that it stopped; nil
	// if they do not show it.
	Exit *cause.Exit
	// Ending is the probe for which the kubelet killed a container before it was restarted, if events show one, and
	// ProbeMessage what that said last.
	Ending       *explain.Ending
	ProbeMessage string
}

// restartsOf is the zero value unless restarts count.
func restartsOf(in *facts.Facts, fs *Failures) Restarts {
	if !in.RestartsCount() {
		return Restarts{}
	}
	r := Restarts{MayHaveFailedJob: mayHaveFailedJob(in), FailedJob: restartsExceeded(in, fs), Count: countRestarts(in), Exit: exitInEvents(in)}
	r.Pod, r.Container = mostRestarted(in)
	if r.FailedJob {
		r.Ending, r.ProbeMessage = restartedByProbe(in, &r)
	}
	return r
}

// restartedByProbe is about the container that was restarted most often, or, if its pod is gone, about any container.
func restartedByProbe(in *facts.Facts, r *Restarts) (*explain.Ending, string) {
	if r.Container != nil {
		if !facts.IsStopped(r.Container) {
			return nil, ""
		}
		return eventtext.RestartedByProbe(in.Events, r.Pod.Name, r.Container.Name)
	}
	for i := range in.Events {
		for j := range in.Spec.Template.Spec.Containers {
			e, name := &in.Events[i], in.Spec.Template.Spec.Containers[j].Name
			if e.Reason != "Killing" || e.Pod == "" {
				break
			}
			if end, message := eventtext.RestartedByProbe(in.Events, e.Pod, name); end != nil {
				return end, message
			}
		}
	}
	return nil, ""
}

func backoffLimit(in *facts.Facts) int32 { return jobspec.BackoffLimit(in.Spec) }

func mayHaveFailedJob(in *facts.Facts) bool {
	return in.Outcome.Reason == batchv1.JobReasonBackoffLimitExceeded && in.RestartsCount()
}

// restartsExceeded is Restarts.FailedJob.
func restartsExceeded(in *facts.Facts, fs *Failures) bool {
	limit := backoffLimit(in)
	switch {
	case !mayHaveFailedJob(in):
		return false
	case countRestarts(in) >= max(limit, 1):
		return true
	}
	failed := max(in.CountedFailures(), fs.Own)
	return failed <= limit || exitInEvents(in) != nil && failed-stoppedAtTheEnd(in, fs) <= limit
}

func countRestarts(in *facts.Facts) int32 {
	n := int32(0)
	for _, p := range in.Pods {
		if ranAtTheEnd(in, p) {
			n += p.Restarts
		}
	}
	return n
}

// ranAtTheEnd reports whether the pod still runs, or was stopped when the end of the Job was decided. The last end of
// one that waited to be restarted then is from before.
func ranAtTheEnd(in *facts.Facts, p *explain.Pod) bool {
	if !p.IsTerminal() {
		return true
	}
	waited := p.Phase == corev1.PodFailed && p.Disruption == "" && p.StatusReason == ""
	return p.Deleting && !p.DeletedAt.Before(in.Outcome.Since) && (waited || !p.FinishedAt.Before(in.Outcome.Since))
}

func mostRestarted(in *facts.Facts) (most *explain.Pod, last *explain.Container) {
	for _, p := range in.Pods {
		if !ranAtTheEnd(in, p) || p.Restarts == 0 || most != nil && p.Restarts <= most.Restarts {
			continue
		}
		if c := p.LastFailure(); c != nil {
			most, last = p, c
		}
	}
	return most, last
}

// restartedFailure stands for restarts that failed the Job, where no pod has failed by the accounting: it still ends,
// and is counted already. It is nil if no pod shows it.
func restartedFailure(r *Restarts, o explain.Options) *Failure {
	if !r.FailedJob || r.Container == nil || !o.HasPod(r.Pod) {
		return nil
	}
	c := cause.Of(&r.Pod.Pod, nil, nil)
	return &Failure{Pod: r.Pod, Kind: &Kind{Cause: c, Text: c.Failure.Text()}, Consequence: true}
}

func exitInEvents(in *facts.Facts) *cause.Exit {
	for _, e := range stopsInEvents(in) {
		if e.Failed.Restarted.Container != "" {
			return &e.Failed.Restarted
		}
	}
	return nil
}

// stoppedAtTheEnd is how many failures are pods that were stopped because the end of the Job was decided: by the
// controller's events, or by the pods that exist.
func stoppedAtTheEnd(in *facts.Facts, fs *Failures) int32 {
	n := int32(0)
	for _, e := range stopsInEvents(in) {
		if e.Failed.IsDeletion() {
			n += max(e.Count, 1)
		}
	}
	return max(n, int32(len(fs.All))-fs.Own)
}

// stopsInEvents are the controller's events of failures since the end was decided, but for evictions and the like, which
// are not the controller's.
func stopsInEvents(in *facts.Facts) []*explain.Event {
	var out []*explain.Event
	for i := range in.Events {
		e := &in.Events[i]
		if IsAboutFailures(e) && e.Failed != nil && !e.First.Before(in.Outcome.Since) && e.Failed.Condition != corev1.DisruptionTarget {
			out = append(out, e)
		}
	}
	return out
}
