package analysis

import (
	"slices"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
)

// LastFailure is the last failure of an index in a Job and its retries; of a NonIndexed Job, its last failure.
type LastFailure struct {
	Index int32 // -1 for a NonIndexed Job
	At    time.Time
	// Cause is shared by the failures with this cause, as in a report.
	Cause *explain.Cause
	// OutOfMemory are the containers of the pod that were OOMKilled, whatever their exit code, or whose process the kernel killed
	// according to an event about the pod or with its UID. If there are none, Probably is the container whose message or log says
	// that it ran out of memory, or that ran when its node reported such a kill; or nil.
	OutOfMemory []MemoryUse
	Probably    *MemoryUse
}

// MemoryUse is a container and the memory limit that it had.
type MemoryUse struct {
	Container string
	Limit     input.MemoryLimit
}

// LastFailures returns the last failures of the Job and its relatives that have a cause of their own, by index.
func LastFailures(given input.Input) []LastFailure {
	last := map[int32]LastFailure{}
	for _, in := range append([]input.Input{given}, given.Relatives...) {
		in.Now, in.NodeEvents = given.Now, given.NodeEvents
		for _, f := range failuresIn(in) {
			if known, found := last[f.Index]; !found || known.At.Before(f.At) {
				last[f.Index] = f
			}
		}
	}
	all := make([]LastFailure, 0, len(last))
	for _, f := range last {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b LastFailure) int { return int(a.Index) - int(b.Index) })
	return all
}

// failuresIn returns the failures of one Job that have a cause of their own.
func failuresIn(given input.Input) []LastFailure {
	var all []LastFailure
	in := facts.Of(given)
	for _, g := range failures.Find(in, explain.Options{}).Groups {
		c := g.Cause(in)
		for _, f := range g.Failures {
			killed := outOfMemory(in, f)
			if (f.Consequence || f.Stopped != "") && len(killed) == 0 {
				continue
			}
			l := LastFailure{Index: f.Pod.Index, At: f.Pod.FinishedAt, Cause: &c, OutOfMemory: killed}
			if failed := f.Container(); len(killed) == 0 && failed != nil {
				switch use := (MemoryUse{failed.Name, in.MemoryLimit(failed)}); {
				case hasKill(in.Events, func(e *input.Event) bool { return e.Pod == f.Pod.Name }), hasKill(in.NodeEvents, namesPod(f.Pod)):
					l.OutOfMemory = []MemoryUse{use}
				case c.Error != nil && (c.Error.Kind == meaning.ErrorOutOfMemory || c.Error.Kind == meaning.ErrorProcessKilled), hasKill(in.NodeEvents, whileRan(f.Pod)):
					l.Probably = &use
				}
			}
			all = append(all, l)
		}
	}
	return all
}

// outOfMemory returns the containers of the pod that were OOMKilled. A pod that was stopped shows only restarted ones.
func outOfMemory(in *facts.Facts, f *failures.Failure) (killed []MemoryUse) {
	for i := range f.Pod.Containers {
		c := &f.Pod.Containers[i]
		known := slices.ContainsFunc(killed, func(m MemoryUse) bool { return m.Container == c.Name })
		if c.Ended && c.Reason == cause.OOMKilled && !known {
			killed = append(killed, MemoryUse{c.Name, in.MemoryLimit(c)})
		}
	}
	return killed
}

// hasKill reports whether one of the events says that the kernel killed a process for lack of memory.
func hasKill(events []input.Event, about func(*input.Event) bool) bool {
	return slices.ContainsFunc(events, func(e input.Event) bool { return meaning.IsMemoryKill(e.Reason) && about(&e) })
}

// namesPod returns whether an event of a node has the UID of the pod, as in the path of a cgroup.
func namesPod(p *input.Pod) func(*input.Event) bool {
	return func(e *input.Event) bool {
		uid := string(p.UID)
		return uid != "" && (strings.Contains(e.Message, uid) || strings.Contains(e.Message, strings.ReplaceAll(uid, "-", "_")))
	}
}

// reportTime is the time that a node may need to report a kill.
const reportTime = 10 * time.Second

// whileRan returns whether an event of the pod's node is from the time of the pod.
func whileRan(p *input.Pod) func(*input.Event) bool {
	return func(e *input.Event) bool {
		return e.Node == p.Node && p.Node != "" && !p.StartedAt.IsZero() && !e.Last.Before(p.StartedAt) && !e.Last.After(p.FinishedAt.Add(reportTime))
	}
}
