// Package timeline shows past moments and next steps of a Job.
package timeline

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// maxMoments is the maximum length of a timeline; the first and the last moments are kept.
const maxMoments = 40

// Moments returns the changes of the Job and of its pods, grouped if there are many, and the events.
func Moments(in *facts.Facts, failed *failures.Failures, o explain.Options) []explain.Moment {
	var out []explain.Moment
	if !o.IsNarrow() {
		out = jobMoments(in)
	}
	out = append(out, podMoments(in, failed, o)...)
	out = append(out, eventMoments(in, o)...)
	for i := range out {
		out[i].What, out[i].Text = words.MomentAbout(&out[i]), words.MomentText(&out[i])
	}
	slices.SortStableFunc(out, func(x, y explain.Moment) int {
		return cmp.Or(x.Time.Compare(y.Time.Time), cmp.Compare(rankOf(&x), rankOf(&y)), cmp.Compare(x.Text, y.Text))
	})
	if extra := len(out) - maxMoments; extra > 0 && o.MaxPods >= 0 {
		half := maxMoments / 2
		gap := explain.Moment{Kind: explain.MomentOmitted, Time: out[half].Time, Until: &out[half+extra].Time, Count: int32(extra + 1)}
		gap.What, gap.Text = words.MomentAbout(&gap), words.MomentText(&gap)
		out = slices.Concat(out[:half], []explain.Moment{gap}, out[half+extra+1:])
	}
	return out
}

func jobMoments(in *facts.Facts) []explain.Moment {
	var out []explain.Moment
	if t := in.Job.CreationTimestamp; !t.IsZero() {
		out = append(out, explain.Moment{Kind: explain.MomentCreated, Time: t})
	}
	if t := in.Job.Status.StartTime; !t.IsZero() && !t.Equal(&in.Job.CreationTimestamp) {
		out = append(out, explain.Moment{Kind: explain.MomentStarted, Time: *t})
	}
	for _, c := range in.Job.Status.Conditions {
		if c.LastTransitionTime.IsZero() {
			continue // It is optional.
		}
		m := explain.Moment{Kind: explain.MomentCondition, Time: c.LastTransitionTime, Condition: string(c.Type), Status: string(c.Status), Reason: c.Reason}
		m.Warning = c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget)
		out = append(out, m)
	}
	if t := in.Job.DeletionTimestamp; !t.IsZero() {
		out = append(out, explain.Moment{Kind: explain.MomentDeletionRequested, Time: *t})
	}
	return out
}

// rankOf orders moments in the same second: causes come before effects.
func rankOf(m *explain.Moment) int {
	terminal := m.Condition == string(batchv1.JobFailed) || m.Condition == string(batchv1.JobComplete)
	switch {
	case m.Kind == explain.MomentPodsCreated:
		return 1
	case m.Kind == explain.MomentPodsSucceeded, m.Kind == explain.MomentPodsFailed:
		return 2
	case m.Kind == explain.MomentEvent:
		return 3
	case m.Kind == explain.MomentCondition && !terminal:
		return 4
	case m.Kind == explain.MomentCondition:
		return 5
	}
	return 0
}
