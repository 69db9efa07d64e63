package whatif

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// History is a Job as it ran.
type History struct {
	Job *batchv1.Job
	// Model is what its pods did.
	Model *Model
	// PodsKnown is how many pods the Model knows.
	PodsKnown int
	ruleNames []string
	// ours reports whether this project's controller ran the Job, which names rules in conditions.
	ours bool
	// observed is when the Job was observed, after its creation.
	observed time.Duration
	// suspended reports whether it was created suspended; toggles are when that changed.
	suspended bool
	toggles   []edit
}

// edit sets spec.suspend at a time after the creation of the Job.
type edit struct {
	at      time.Duration
	suspend bool
}

// observer makes a History.
type observer struct {
	in    *explain.Input
	trace trace
	begun time.Time
	// decided is when the outcome of the Job was decided, zero if it is not.
	decided   time.Time
	completed indexset.Set
}

// Observe returns what is known of a Job as it ran.
func Observe(in explain.Input) *History {
	o := &observer{in: &in, trace: readTrace(&in), begun: in.Job.CreationTimestamp.Time}
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := reconcile.TrueCondition(in.Job, t); c != nil {
			o.decided = c.LastTransitionTime.Time
		}
	}
	o.completed, _ = indexset.Parse(in.Job.Status.CompletedIndexes)
	h := &History{
		Job: in.Job, ruleNames: in.RuleNames, observed: max(0, in.Now.Sub(o.begun)) + time.Second,
		ours: !slices.Contains([]string{"", explain.BuiltInManagedBy}, ptr.Deref(in.Job.Spec.ManagedBy, "")),
	}
	h.suspended = jobspec.IsSuspended(&in.Job.Spec)
	for i, t := range o.trace.toggles {
		if i == 0 {
			// A Job that was created suspended gets the condition at once.
			h.suspended = !t.suspend || t.at.Sub(o.begun) <= time.Second
		}
		h.toggles = append(h.toggles, edit{max(0, t.at.Sub(o.begun)), t.suspend})
	}
	attempts := o.attempts()
	for _, list := range attempts {
		h.PodsKnown += len(list)
	}
	o.addUnknown(attempts)
	h.Model = newModel(attempts)
	return h
}

// attempts are those that pods and events report, by index, in order.
func (o *observer) attempts() map[int32][]attempt {
	all := o.gone()
	for i := range o.in.Pods {
		p := &o.in.Pods[i]
		all[p.Index] = append(all[p.Index], o.ofPod(p))
	}
	gone := map[string]bool{}
	for _, list := range o.gone() {
		for i := range list {
			gone[list[i].name] = true
		}
	}
	for index, list := range all {
		slices.SortFunc(list, func(a, b attempt) int {
			return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.number, b.number), cmp.Compare(a.name, b.name))
		})
		for i := range list {
			if gone[list[i].name] {
				o.endGone(&list[i], index, o.nextCreation(index, list[i+1:]))
			}
		}
		if index != reconcile.NoIndex {
			all[index] = withMissing(list)
		}
	}
	return all
}

// nextCreation is when the pod was created that replaced one; zero if none did.
func (o *observer) nextCreation(index int32, later []attempt) time.Time {
	if len(later) == 0 || index == reconcile.NoIndex && jobspec.Parallelism(&o.in.Job.Spec) != 1 {
		return time.Time{}
	}
	return o.begun.Add(later[0].created)
}

// withMissing inserts attempts that the numbers of later ones show, which failed like the first that is
// known to have failed.
func withMissing(list []attempt) []attempt {
	missing := list[0].number - 1
	if missing <= 0 {
		return list
	}
	guess := attempt{assumed: true, act: sim.Act{Run: time.Second, FailReason: failReason(""), TerminateExit: exitTerminated}}
	for i := range list {
		if list[i].ending == endedItself && !list[i].succeeded() {
			guess.act, guess.known = list[i].act, list[i].known
			break
		}
	}
	return append(slices.Repeat([]attempt{guess}, missing), list...)
}

// addUnknown adds an attempt for each index that has ended, and of which there is no trace.
func (o *observer) addUnknown(attempts map[int32][]attempt) {
	if !jobspec.IsIndexed(&o.in.Job.Spec) || o.decided.IsZero() {
		return
	}
	failed, _ := indexset.Parse(ptr.Deref(o.in.Job.Status.FailedIndexes, ""))
	end := o.decided.Sub(o.begun)
	for index := range ptr.Deref(o.in.Job.Spec.Completions, 0) {
		if len(attempts[index]) > 0 {
			continue
		}
		a := attempt{assumed: true, act: sim.Act{TerminateExit: exitTerminated, Run: max(time.Millisecond, end-2*time.Second)}}
		switch {
		case failed.Contains(index):
			a.act.FailReason, a.act.Run = failReason(""), time.Second
		case !o.completed.Contains(index):
			a.ending, a.known, a.act.Run = stopped, end, 0
		}
		attempts[index] = []attempt{a}
	}
}

// stoppedByController reports whether the controller deleted the pod: its event says so, or the Job was
// ending or suspended by then.
func (o *observer) stoppedByController(name string, at time.Time) bool {
	if _, ok := o.trace.stopped[name]; ok {
		return true
	}
	suspended := false
	for _, t := range o.trace.toggles {
		if !t.at.After(at) {
			suspended = t.suspend
		}
	}
	return suspended || !o.decided.IsZero() && !at.Before(o.decided)
}
