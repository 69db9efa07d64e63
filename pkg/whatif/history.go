package whatif

import (
	"cmp"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// History is a Job as it ran.
type History struct {
	// Job is the Job as it was observed. The names of its rules are in the annotation.
	Job *batchv1.Job
	// Model is the behavior of its pods.
	Model *Model
	// PodsKnown is the number of pods known to the Model.
	PodsKnown int
	// observed is when the Job was observed, and decided when its outcome was decided, both relative to its creation.
	observed, decided time.Duration
	// toggles suspend and resume the Job as its users did.
	toggles []edit
	// maxWrites and maxPods limit a replay that may not end.
	maxWrites, maxPods int
}

// A replay has at most as many pods as are known, but at least leastPods, and writesPerPod writes for each: the
// completions of a Job may be unlimited. Each pod of a replay takes some 10 kB of memory.
const (
	writesPerPod = 20
	leastPods    = 16_000
)

// edit sets spec.suspend at a time relative to the Job's creation.
type edit struct {
	at      time.Duration
	suspend bool
}

// observer builds a History.
type observer struct {
	in    *explain.Input
	begun time.Time
	// decided is the time when the outcome of the Job was decided, zero if it is undecided.
	decided           time.Time
	completed, failed indexset.Set
	// created and stopped are when the controller created and deleted pods, and failures are the events about failed
	// pods, by pod name.
	created, stopped map[string]time.Time
	failures         map[string]*explain.Event
	toggles          []edit
	podsKnown        int
	// uncounted is the number of failures in the status that are not explained by known pods.
	uncounted int32
}

// Observe returns the History of a Job from the data about it.
func Observe(in explain.Input) *History {
	o := &observer{
		in: &in, begun: in.Job.CreationTimestamp.Time, uncounted: in.Job.Status.Failed,
		created: map[string]time.Time{}, stopped: map[string]time.Time{}, failures: map[string]*explain.Event{},
	}
	for _, t := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := reconcile.TrueCondition(in.Job, t); c != nil && !c.LastTransitionTime.IsZero() {
			o.decided = c.LastTransitionTime.Time
		}
	}
	o.completed, o.failed = indexesOf(&in.Job.Status.CompletedIndexes), indexesOf(in.Job.Status.FailedIndexes)
	o.readEvents()
	names, _ := reconcile.RuleNames(in.Job, in.RuleNames)
	h := &History{
		// Times are in whole seconds: events of the last second have already happened.
		Job: in.Job.DeepCopy(), observed: between(o.begun, in.Now) + time.Second,
		decided: between(o.begun, o.decided), // 0 if the outcome is undecided.
		Model:   o.model(), toggles: o.toggles,
	}
	metav1.SetMetaDataAnnotation(&h.Job.ObjectMeta, rulename.Annotation, rulename.Format(names))
	h.PodsKnown = o.podsKnown
	h.maxPods = max(h.PodsKnown, leastPods)
	h.maxWrites = writesPerPod * h.maxPods
	return h
}

// century is longer than any Job runs; the sum of a few does not overflow.
const century = 100 * 365 * 24 * time.Hour

// between returns the time from from to to: 0 if to was earlier, or if one of the times is unknown, and at most a
// century.
func between(from, to time.Time) time.Duration {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return max(0, min(to.Sub(from), century))
}

func (o *observer) model() *Model {
	attempts := o.attempts()
	return newModel(attempts, o.vanished(attempts))
}

// attempts returns the attempts that pods and events report, by index, in order.
func (o *observer) attempts() map[int32][]attempt {
	all := map[int32][]attempt{}
	for _, p := range o.in.Pods {
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

// nextCreation returns when a pod was created that may have replaced this one; zero if there was none.
func (o *observer) nextCreation(a *attempt, later []attempt) time.Time {
	i := slices.IndexFunc(later, func(l attempt) bool { return l.created > a.created })
	if i < 0 {
		return time.Time{}
	}
	return o.begun.Add(later[i].created)
}

// stoppedByController reports whether the controller deleted the pod: there is an event about it, or the Job was ending
// by then.
func (o *observer) stoppedByController(name string, at time.Time) bool {
	_, created := o.created[name]
	_, stopped := o.stopped[name]
	// A pod with events that the controller deleted in the second in which the Job ended would have such an event.
	ended := at.After(o.decided) || at.Equal(o.decided) && (!created || !reconcile.IsFinished(o.in.Job))
	return stopped || ended && !o.decided.IsZero()
}
