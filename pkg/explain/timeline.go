package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMoments is how many moments a timeline has; the first and the last ones are kept.
const maxMoments = 40

// timeline is what happened: to the Job, to its pods (together where there are many), and
// what events tell.
func (a *analysis) timeline() []Moment {
	var out []Moment
	add := func(what, text string, at time.Time) *Moment {
		out = append(out, Moment{Time: metav1.NewTime(at), What: what, Text: text})
		return &out[len(out)-1]
	}
	if !a.focused() {
		if t := a.job.CreationTimestamp; !t.IsZero() {
			add("Job", "the Job was created", t.Time)
		}
		if t := a.job.Status.StartTime; t != nil && !t.Equal(&a.job.CreationTimestamp) {
			add("Job", "the Job started", t.Time)
		}
		for _, c := range a.job.Status.Conditions {
			m := add("Condition", conditionMoment(string(c.Type), string(c.Status), c.Reason), c.LastTransitionTime.Time)
			m.Warning = c.Status == corev1.ConditionTrue && (c.Type == "Failed" || c.Type == "FailureTarget")
		}
		if t := a.job.DeletionTimestamp; t != nil {
			add("Job", "its deletion was asked for", t.Time)
		}
	}
	out = append(out, a.podMoments()...)
	out = append(out, a.eventMoments()...)
	slices.SortStableFunc(out, func(x, y Moment) int {
		return cmp.Or(x.Time.Compare(y.Time.Time), cmp.Compare(rank(x.What), rank(y.What)), compareBool(x.isLast(), y.isLast()),
			compareBool(!x.isCreation(), !y.isCreation()), cmp.Compare(x.Text, y.Text))
	})
	if extra := len(out) - maxMoments; extra > 0 && a.o.MaxPods >= 0 {
		half := maxMoments / 2
		gap := Moment{Time: out[half].Time, Until: &out[half+extra].Time, What: "Event", Count: int32(extra + 1), Text: fmt.Sprintf("%d more", extra+1)}
		out = slices.Concat(out[:half], []Moment{gap}, out[half+extra+1:])
	}
	return out
}

func rank(what string) int { return slices.Index([]string{"Job", "Pod", "Event", "Condition"}, what) }

// isLast says that the moment is the end of the Job: what came in the same second came
// before.
func (m *Moment) isLast() bool {
	return strings.HasPrefix(m.Text, "condition Failed") || strings.HasPrefix(m.Text, "condition Complete")
}

// isCreation says that the moment is the beginning of pods: what happened to them in the same
// second came after.
func (m *Moment) isCreation() bool { return m.What == "Pod" && strings.HasSuffix(m.Text, " created") }

func conditionMoment(kind, status, reason string) string {
	text := "condition " + kind
	if status != string(corev1.ConditionTrue) {
		text += " is " + status
	}
	if reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// fewPods is how many pods are told one by one.
const fewPods = 5

// podMoments are the creations, successes and failures, those of one kind in one moment
// where there are many.
func (a *analysis) podMoments() []Moment {
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
	out := created.told("pod %s was created", "%d pods were created", false)
	out = append(out, succeeded.told("pod %s succeeded", "%d pods succeeded", false)...)
	for _, g := range a.groups() {
		var failed moments
		for _, f := range g.failures {
			failed.add(f.pod.FinishedAt, f.pod.Name)
		}
		text := lowerFirst(g.evidence)
		out = append(out, failed.told("pod %s failed: "+escape(text), "%d pods failed: "+escape(text), true)...)
	}
	return out
}

// escape keeps a text of the cluster from being read as a format.
func escape(text string) string {
	var b []byte
	for i := range len(text) {
		if text[i] == '%' {
			b = append(b, '%')
		}
		b = append(b, text[i])
	}
	return string(b)
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

func (m *moments) told(one, many string, warning bool) []Moment {
	if m.n > fewPods {
		return []Moment{{Time: metav1.NewTime(m.first), Until: timeOf(m.last), What: "Pod", Warning: warning, Text: fmt.Sprintf(many, m.n)}}
	}
	slices.SortFunc(m.few, func(x, y moment) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.name, y.name)) })
	var out []Moment
	for _, p := range m.few {
		out = append(out, Moment{Time: metav1.NewTime(p.at), What: "Pod", Warning: warning, Text: fmt.Sprintf(one, p.name)})
	}
	return out
}

// toldElsewhere are events that say what conditions and pods have said already.
var toldElsewhere = []string{"SuccessfulCreate", "Completed", "Scheduled", "Pulled", "Pulling", "Created", "Started", eventPodFailed}

// eventMoments are the events that say more than pods and conditions do: warnings, and
// those of the Job. The same reason of many pods is one moment.
func (a *analysis) eventMoments() []Moment {
	type key struct{ reason, message string }
	at := map[key]int{}
	var out []Moment
	for i := range a.Events {
		e := &a.Events[i]
		if !a.isMoment(e) {
			continue
		}
		m := Moment{Time: metav1.NewTime(firstTime(e.First, e.Last)), What: "Event", Warning: e.Warning(), Count: max(e.Count, 1), Text: e.Reason + ": " + e.Message}
		if e.Last.After(m.Time.Time) {
			m.Until = timeOf(e.Last)
		}
		k := key{e.Reason, e.Message}
		n, seen := at[k]
		if !seen {
			at[k] = len(out)
			out = append(out, m)
			continue
		}
		out[n].join(m)
	}
	return out
}

// isMoment says that the event tells what nothing else does. Pods that are gone were
// created all the same.
func (a *analysis) isMoment(e *Event) bool {
	gone := e.Reason == "SuccessfulCreate" && len(a.pods) == 0 && a.PodsRead
	switch {
	case slices.Contains(toldElsewhere, e.Reason) && !gone, a.fate.failing() && e.Reason == a.fate.reason:
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

func (m *Moment) join(n Moment) {
	m.Count += n.Count
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
