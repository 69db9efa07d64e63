package timeline

import (
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
)

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
	switch {
	case slices.Contains(shownElsewhere, e.Reason) && !gone, in.Decision.Failing() && e.Reason == in.Decision.Reason:
		return false
	case e.Pod != "" && !e.Warning(), e.First.IsZero() && e.Last.IsZero():
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
