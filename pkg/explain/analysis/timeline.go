package analysis

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/eventtext"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
)

// maxMoments is how many moments a timeline has; the first and the last ones are kept.
const maxMoments = 40

// timeline is what happened: to the Job, to its pods (together where there are many), and
// what events report.
func (a *analysis) timeline() []explain.Moment {
	var out []explain.Moment
	if !a.focused() {
		out = a.jobMoments()
	}
	out = append(out, a.podMoments()...)
	out = append(out, a.eventMoments()...)
	for i := range out {
		out[i].What, out[i].Text = words.MomentAbout(&out[i]), words.MomentText(&out[i])
	}
	slices.SortStableFunc(out, func(x, y explain.Moment) int {
		return cmp.Or(x.Time.Compare(y.Time.Time), cmp.Compare(rankOf(&x), rankOf(&y)), cmp.Compare(x.Text, y.Text))
	})
	if extra := len(out) - maxMoments; extra > 0 && a.o.MaxPods >= 0 {
		half := maxMoments / 2
		gap := explain.Moment{Kind: explain.MomentOmitted, Time: out[half].Time, Until: &out[half+extra].Time, Count: int32(extra + 1)}
		gap.What, gap.Text = words.MomentAbout(&gap), words.MomentText(&gap)
		out = slices.Concat(out[:half], []explain.Moment{gap}, out[half+extra+1:])
	}
	return out
}

func (a *analysis) jobMoments() []explain.Moment {
	var out []explain.Moment
	if t := a.job.CreationTimestamp; !t.IsZero() {
		out = append(out, explain.Moment{Kind: explain.MomentCreated, Time: t})
	}
	if t := a.job.Status.StartTime; !t.IsZero() && !t.Equal(&a.job.CreationTimestamp) {
		out = append(out, explain.Moment{Kind: explain.MomentStarted, Time: *t})
	}
	for _, c := range a.job.Status.Conditions {
		if c.LastTransitionTime.IsZero() {
			continue // It is optional.
		}
		m := explain.Moment{Kind: explain.MomentCondition, Time: c.LastTransitionTime, Condition: string(c.Type), Status: string(c.Status), Reason: c.Reason}
		m.Warning = c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobFailureTarget)
		out = append(out, m)
	}
	if t := a.job.DeletionTimestamp; !t.IsZero() {
		out = append(out, explain.Moment{Kind: explain.MomentDeletionRequested, Time: *t})
	}
	return out
}

// rankOf orders what happened in the same second: what causes something comes before it.
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

// fewPods is how many pods are listed one by one.
const fewPods = 5

// podMoments are the creations, successes and failures, those of one kind in one moment
// where there are many.
func (a *analysis) podMoments() []explain.Moment {
	var created, succeeded moments
	for _, p := range a.pods {
		if !a.inFocus(p) {
			continue
		}
		created.add(p.CreatedAt, p.Name)
		if p.Phase == corev1.PodSucceeded {
			succeeded.add(p.FinishedAt, p.Name)
		}
	}
	out := created.told(explain.Moment{Kind: explain.MomentPodsCreated})
	out = append(out, succeeded.told(explain.Moment{Kind: explain.MomentPodsSucceeded})...)
	for _, g := range a.groups() {
		var failed moments
		for _, f := range g.failures {
			failed.add(f.pod.FinishedAt, f.pod.Name)
		}
		out = append(out, failed.told(explain.Moment{Kind: explain.MomentPodsFailed, Failure: &g.kind.failure, Warning: true})...)
	}
	return out
}

// moments are when something happened to pods: the first fewPods one by one, and all of
// them together.
type moments struct {
	n           int
	few         []moment
	first, last time.Time
}

type moment struct {
	at   time.Time
	name string
}

// add leaves out what nobody knows the time of.
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

// told is one moment for each of a few pods, or one for all; of says what happened to them.
func (m *moments) told(of explain.Moment) []explain.Moment {
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

// toldElsewhere are events that say what conditions and pods have said already.
var toldElsewhere = []string{"SuccessfulCreate", "Completed", "Scheduled", "Pulled", "Pulling", "Created", "Started", eventPodFailed}

// eventMoments are the events that say more than pods and conditions do: warnings, and
// those of the Job. The same reason of many pods is one moment, even if its messages name them.
func (a *analysis) eventMoments() []explain.Moment {
	type key struct{ reason, message string }
	at, pattern := map[key]int{}, eventtext.Patterns(a.job.Name)
	var out []explain.Moment
	for i := range a.Events {
		e := &a.Events[i]
		if !a.isMoment(e) {
			continue
		}
		m := explain.Moment{
			Kind: explain.MomentEvent, Time: metav1.NewTime(firstTime(e.First, e.Last)), Warning: e.Warning(), Count: max(e.Count, 1),
			Pod: e.Pod, Reason: e.Reason, Message: e.Message,
		}
		if e.Last.After(m.Time.Time) {
			m.Until = explain.TimeOf(e.Last)
		}
		raw := key{e.Reason, e.Message} // most of thousands of events have the same message
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

// isMoment reports whether the event shows what nothing else does. Pods that are gone were
// created all the same.
func (a *analysis) isMoment(e *explain.Event) bool {
	gone := e.Reason == "SuccessfulCreate" && len(a.pods) == 0 && a.PodsRead
	switch {
	case slices.Contains(toldElsewhere, e.Reason) && !gone, a.outcome.failing() && e.Reason == a.outcome.reason:
		return false
	case e.Pod != "" && !e.Warning(), e.First.IsZero() && e.Last.IsZero():
		return false
	}
	return a.eventInFocus(e)
}

func firstTime(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	return a
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
