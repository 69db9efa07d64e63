package whatif

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
)

// History is a Job as it ran.
type History struct {
	// Job is as it was observed. The names of its rules are in the annotation.
	Job *batchv1.Job
	// Model is what its pods did.
	Model *Model
	// PodsKnown is how many pods the Model knows.
	PodsKnown int
	// ours reports whether this project's controller ran the Job, which names rules in conditions.
	ours bool
	// observed is when the Job was observed, and decided when its outcome was, after its creation.
	observed, decided time.Duration
	// suspended reports whether it was created suspended; toggles are when that changed.
	suspended bool
	toggles   []edit
	// maxWrites ends a replay that does not come to an end.
	maxWrites int
}

// defaultWrites are enough for 100,000 pods.
const defaultWrites = 2_000_000

// edit sets spec.suspend at a time after the creation of the Job.
type edit struct {
	at      time.Duration
	suspend bool
}

// observer makes a History.
type observer struct {
	in    *explain.Input
	begun time.Time
	// decided is when the outcome of the Job was decided, zero if it is not.
	decided   time.Time
	completed indexset.Set
	// created and stopped are when a controller created and deleted pods, and failures the events about failed ones,
	// by the names of the pods.
	created, stopped map[string]time.Time
	failures         map[string]*explain.Event
	toggles          []edit
	// uncounted is how many failures the status has besides those of known pods.
	uncounted int32
}

// Observe returns what is known of a Job as it ran.
func Observe(in explain.Input) *History {
	o := &observer{
		in: &in, begun: in.Job.CreationTimestamp.Time, uncounted: in.Job.Status.Failed,
		created: map[string]time.Time{}, stopped: map[string]time.Time{}, failures: map[string]*explain.Event{},
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := reconcile.TrueCondition(in.Job, t); c != nil {
			o.decided = c.LastTransitionTime.Time
		}
	}
	o.completed, _ = indexset.Parse(in.Job.Status.CompletedIndexes)
	o.readEvents()
	attempts := o.attempts()
	h := &History{
		// Times are in whole seconds: what happened in the last one has happened.
		Job: named(in.Job, in.RuleNames), observed: max(0, in.Now.Sub(o.begun)) + time.Second,
		ours:      !slices.Contains([]string{"", explain.BuiltInManagedBy}, ptr.Deref(in.Job.Spec.ManagedBy, "")),
		suspended: jobspec.IsSuspended(&in.Job.Spec), toggles: o.toggles, maxWrites: defaultWrites,
	}
	if !o.decided.IsZero() {
		h.decided = o.decided.Sub(o.begun)
	}
	if len(o.toggles) > 0 {
		h.suspended = !o.toggles[0].suspend
	}
	for _, list := range attempts {
		h.PodsKnown += len(list)
	}
	o.addUnknown(attempts)
	h.Model = newModel(attempts)
	return h
}

// named returns the Job with the names that its API server serves in the annotation.
func named(job *batchv1.Job, native []string) *batchv1.Job {
	names, _ := reconcile.RuleNames(job, native)
	value := rulename.Format(names)
	if value == "" || value == job.Annotations[rulename.Annotation] {
		return job
	}
	job = job.DeepCopy()
	metav1.SetMetaDataAnnotation(&job.ObjectMeta, rulename.Annotation, value)
	return job
}

// attempts are those that pods and events report, by index, in order.
func (o *observer) attempts() map[int32][]attempt {
	all := map[int32][]attempt{}
	for i := range o.in.Pods {
		p := &o.in.Pods[i]
		all[p.Index] = append(all[p.Index], o.ofPod(p))
		if p.Phase == corev1.PodFailed && o.actionOf(p) != batchv1.PodFailurePolicyActionIgnore {
			o.uncounted--
		}
	}
	o.addGone(all)
	for _, index := range slices.Sorted(maps.Keys(all)) {
		list := all[index]
		slices.SortFunc(list, func(a, b attempt) int {
			return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
		})
		for i := range list {
			if list[i].ending == unseen {
				o.endGone(&list[i], index, o.nextCreation(&list[i], list[i+1:]))
			}
		}
	}
	return all
}

// nextCreation is when a pod was created that may have replaced one; zero if there was none.
func (o *observer) nextCreation(a *attempt, later []attempt) time.Time {
	for i := range later {
		if later[i].created > a.created {
			return o.begun.Add(later[i].created)
		}
	}
	return time.Time{}
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
			a.act.FailReason, a.act.Run = unknownReason, time.Second
		case !o.completed.Contains(index):
			a.ending, a.known, a.act.Run = stopped, end, 0
		}
		attempts[index] = []attempt{a}
	}
}

// stoppedByController reports whether the controller deleted the pod: its event says so, or the Job was
// ending by then.
func (o *observer) stoppedByController(name string, at time.Time) bool {
	if _, ok := o.stopped[name]; ok {
		return true
	}
	if o.decided.IsZero() || !at.Equal(o.decided) {
		return !o.decided.IsZero() && at.After(o.decided)
	}
	// It was deleted in the second in which the Job's end was decided.
	_, reported := o.created[name]
	return !reported || !reconcile.IsFinished(o.in.Job)
}
