// Package timeline shows past moments and next steps of a Job.
package timeline

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/endings"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
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

// fewPods is the maximum number of pods that are listed one by one.
const fewPods = 5

// podMoments returns the creations, successes and failures of pods; many of one kind are one moment.
func podMoments(in *facts.Facts, failed *failures.Failures, o explain.Options) []explain.Moment {
	var created, succeeded moments
	for _, p := range in.Pods {
		if !o.HasPod(p) {
			continue
		}
		created.add(p.CreatedAt, p.Name)
		if p.Phase == corev1.PodSucceeded {
			succeeded.add(p.FinishedAt, p.Name)
		}
	}
	out := created.grouped(explain.Moment{Kind: explain.MomentPodsCreated})
	out = append(out, succeeded.grouped(explain.Moment{Kind: explain.MomentPodsSucceeded})...)
	for _, g := range failed.Groups {
		var failed moments
		for _, f := range g.Failures {
			failed.add(f.Pod.FinishedAt, f.Pod.Name)
		}
		out = append(out, failed.grouped(explain.Moment{Kind: explain.MomentPodsFailed, Failure: &g.Kind.Cause.Failure, Cause: g.Kind.Text, Warning: true})...)
	}
	return out
}

// moments are times of the same change of pods: the first fewPods one by one, and the range of all.
type moments struct {
	n           int
	few         []moment
	first, last time.Time
}

type moment struct {
	at   time.Time
	name string
}

// add ignores a pod if the time is unknown.
func (m *moments) add(at time.Time, name string) {
	if at.IsZero() {
		return
	}
	if m.n == 0 || at.Before(m.first) {
		m.first = at
	}
	if m.n == 0 || at.After(m.last) {
		m.last = at
	}
	if m.n++; m.n <= fewPods {
		m.few = append(m.few, moment{at, name})
	}
}

// grouped returns one moment for each of a few pods, or one for all; of is the template of the moments.
func (m *moments) grouped(of explain.Moment) []explain.Moment {
	if m.n > fewPods {
		of.Time, of.Until, of.PodCount = metav1.NewTime(m.first), explain.TimeOf(m.last), int32(m.n)
		return []explain.Moment{of}
	}
	slices.SortFunc(m.few, func(x, y moment) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.name, y.name)) })
	var out []explain.Moment
	for _, p := range m.few {
		of.Time, of.PodCount, of.Pod = metav1.NewTime(p.at), 1, p.name
		out = append(out, of)
	}
	return out
}

// shownElsewhere are reasons of events that repeat what conditions and pods show.
var shownElsewhere = []string{"SuccessfulCreate", "Completed", "Scheduled", "Pulled", "Pulling", "Created", "Started", failures.EventPodFailed}

// eventMoments returns events that are not visible in pods and conditions: warnings, and events of the Job. The same reason
// for many pods is one moment, even if its messages name the pods.
func eventMoments(in *facts.Facts, o explain.Options) []explain.Moment {
	type key struct{ reason, message string }
	at, pattern := map[key]int{}, meaning.Patterns(in.Job.Name)
	var out []explain.Moment
	for i := range in.Events {
		e := &in.Events[i]
		if !isMoment(in, o, e) {
			continue
		}
		m := explain.Moment{
			Kind: explain.MomentEvent, Time: metav1.NewTime(e.Began()), Warning: e.Warning(), Count: max(e.Count, 1),
			Pod: e.Pod, Reason: e.Reason, Message: e.Message,
		}
		if e.Last.After(m.Time.Time) {
			m.Until = explain.TimeOf(e.Last)
		}
		raw := key{e.Reason, e.Message} // most of thousands of events share a message
		n, seen := at[raw]
		if !seen {
			folded := key{e.Reason, pattern(e.Message)}
			n, seen = at[folded]
			if !seen {
				n = len(out)
				at[folded] = n
				out = append(out, m)
			}
			at[raw] = n
		}
		if seen {
			joinMoments(&out[n], m)
		}
	}
	return out
}

// isMoment reports whether the event adds to the other moments. The creation of pods does if they no longer exist.
func isMoment(in *facts.Facts, o explain.Options, e *input.Event) bool {
	gone := e.Reason == "SuccessfulCreate" && len(in.Pods) == 0 && in.PodsRead
	end, _ := endings.OfEvent(e)
	endsGonePod := end != nil && in.PodsRead && input.PodNamed(in.Pods, e.Pod) == nil
	switch {
	case slices.Contains(shownElsewhere, e.Reason) && !gone, in.Decision.Failing() && e.Reason == in.Decision.Reason:
		return false
	case e.Pod != "" && !e.Warning() && !endsGonePod, e.First.IsZero() && e.Last.IsZero():
		return false
	}
	return o.HasEvent(e)
}

func joinMoments(m *explain.Moment, n explain.Moment) {
	m.Count += n.Count
	m.Similar = m.Similar || m.Message != n.Message
	if m.Pod != n.Pod {
		m.Pod = ""
	}
	end := n.Time
	if n.Until != nil {
		end = *n.Until
	}
	if m.Time.After(n.Time.Time) {
		end, m.Time = m.Time, n.Time
	}
	if m.Until == nil || m.Until.Before(&end) {
		m.Until = &end
	}
}
