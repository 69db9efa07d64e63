package prove

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sim"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/oracle/model"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/rules"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// crashes are faults of the controller, refusals are caused by a webhook, a quota or a proxy, and unanswered are faults
// of the network; the write may arrive late.
var (
	crashes    = []sim.FaultKind{sim.CrashBefore, sim.CrashAfter, sim.Late}
	unanswered = []sim.FaultKind{sim.LoseResponse, sim.Timeout, sim.Fail}
	refusals   = []sim.FaultKind{sim.Conflict, sim.Reject, sim.Malformed, sim.Misrouted}
	allFaults  = slices.Concat(crashes, unanswered, refusals)
)

// smallWorlds returns the worlds in the order of their size, without the vast ones. Every test run explores the short
// ones.
func smallWorlds() []*smallWorld {
	return slices.DeleteFunc(allWorlds(), func(s *smallWorld) bool { return s.size == vast })
}

func allWorlds() []*smallWorld {
	base := slices.Concat(plainWorlds(), policyWorlds(), evictedWorlds(), editedWorlds(), deletedWorlds(), otherPodWorlds(), sharedWorlds())
	worlds := slices.Clone(base)
	for _, s := range base {
		if s.size != large && s.size != vast {
			worlds = append(worlds, s.withFaults("one fault", 1))
		}
	}
	for _, s := range base {
		if s.size == tiny {
			worlds = append(worlds, s.withUnseenCreation())
		}
	}
	return append(worlds, plainWorlds()[0].withFaults("two faults", 2))
}

// withFaults returns a world in which the network, the API server and the controller may also fail, but in which the
// controller knows of each of its pods.
func (s *smallWorld) withFaults(title string, n int) *smallWorld {
	out := *s
	out.name += ", " + title
	out.short = false
	out.symmetric = 0 // A fault may lead to a surplus pod, and among equal pods the name decides which one is removed.
	out.faults, out.gaps, out.stale, out.maxFaults = allFaults, true, true, n
	return &out
}

// withUnseenCreation returns a world with the other faults: a creation arrives late, or a new process does not see the
// pod. The surplus pod makes this world some ten times as large.
func (s *smallWorld) withUnseenCreation() *smallWorld {
	out := s.withFaults("an unseen creation", 1)
	out.faults, out.gaps, out.unseen = []sim.FaultKind{sim.CrashAfter, sim.Late, sim.Timeout}, false, true
	if s.wrongUnseen != nil {
		out.wrong = s.wrongUnseen
	}
	return out
}

func plainWorlds() []*smallWorld {
	runsOn := func(job *batchv1.Job) string {
		s := job.Status
		return rules.When(s.Active != 1 || ptr.Deref(s.Ready, 0) != 1 || s.StartTime == nil, fmt.Sprintf("a pod is ready, and active is %d, ready %d", s.Active, ptr.Deref(s.Ready, 0)))
	}
	pastLimit := func(limit int32) func(job *batchv1.Job) string {
		return func(job *batchv1.Job) string {
			return cmp.Or(unfinished(job), rules.When(history.Is(job, batchv1.JobComplete) && job.Status.Failed > limit, "the Job is complete, with more failures than its limit"))
		}
	}
	return []*smallWorld{
		{name: "one pod", size: tiny, short: true, spec: scenario.NonIndexedSpec(1, 1, 1), exits: []int32{0}},
		{name: "one pod runs, time passes", short: true, spec: scenario.NonIndexedSpec(1, 1, 1), exits: []int32{0}, runs: true, slow: 1},
		{name: "one pod runs on", size: tiny, short: true, spec: scenario.NonIndexedSpec(1, 1, 1), runs: true, forever: true, wrong: runsOn},
		{name: "one pod fails", size: tiny, short: true, spec: scenario.NonIndexedSpec(1, 1, 1), exits: []int32{0, 1}, failures: 2, wrong: pastLimit(1), wrongUnseen: pastLimit(2)},
		{name: "one pod fails three times", spec: scenario.NonIndexedSpec(1, 1, 6), exits: []int32{0, 1}, failures: 3},
		{name: "two pods, and one fails", size: large, spec: scenario.NonIndexedSpec(2, 2, 6), exits: []int32{0, 1}, failures: 1},
		{name: "two pods", symmetric: 2, spec: scenario.NonIndexedSpec(2, 2, 6), exits: []int32{0}},
		{name: "three pods, two at once", symmetric: 3, spec: scenario.NonIndexedSpec(3, 2, 6), exits: []int32{0}},
		{name: "two pods fail", symmetric: 2, spec: scenario.NonIndexedSpec(2, 2, 0), exits: []int32{0, 1}, failures: 2, terminated: []int32{143, 0}},
	}
}

func policyWorlds() []*smallWorld {
	perIndex := changedSpec(scenario.IndexedSpec(2, 2), func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](0) })
	success := changedSpec(scenario.IndexedSpec(2, 2), func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	})
	retriedTwice := changedSpec(perIndex, func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
	twice := changedSpec(retriedIndex(), func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](2) })
	queue := changedSpec(scenario.NonIndexedSpec(0, 2, 6), func(s *batchv1.JobSpec) { s.Completions = nil })
	ignored := func(n int32) batchv1.JobSpec {
		return changedSpec(namedRule(), func(s *batchv1.JobSpec) {
			s.Completions, s.Parallelism = ptr.To(n), ptr.To(n)
			s.PodFailurePolicy.Rules = append(s.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			})
		})
	}
	decided := changedSpec(onlyFailed(success), func(s *batchv1.JobSpec) { s.PodFailurePolicy = namedRule().PodFailurePolicy })
	failIndex := changedSpec(namedRule(), func(s *batchv1.JobSpec) {
		s.PodFailurePolicy.Rules[0].Action = batchv1.PodFailurePolicyActionFailIndex
		s.Completions, s.Parallelism = ptr.To[int32](2), ptr.To[int32](2)
		s.CompletionMode, s.BackoffLimitPerIndex = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](1)
	})
	cleaned := scenario.NonIndexedSpec(2, 1, 6)
	timed := changedSpec(scenario.NonIndexedSpec(1, 1, 6), func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](2) })
	tooMany := changedSpec(perIndex, func(s *batchv1.JobSpec) { s.MaxFailedIndexes = ptr.To[int32](0) })
	// The controller knows of the success once it has released the pod.
	stop := edit("scale down to none", func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](0) })
	stop.when = func(w *checker.World) bool { return succeededAndReleased(w) && len(w.Store.Pods()) == 2 }
	stopped := func(job *batchv1.Job) string {
		return cmp.Or(unfinished(job), rules.When(*job.Spec.Parallelism == 0 && job.Status.Succeeded != 2, "of two workers, one was stopped"))
	}
	clean := userStep{
		name: "remove the pod that succeeded", when: succeededAndReleased,
		do: func(w *checker.World) { w.Store.KillPod(firstEnded(w).Name) },
	}
	evict := evictFirst()
	return []*smallWorld{
		{name: "a named rule fails the Job", size: tiny, short: true, spec: namedRule(), exits: []int32{0, 42}, failures: 1, annotations: map[string]string{rulename.Annotation: "0=Bad"}},
		{name: "limit per index, retried", size: tiny, spec: retriedIndex(), exits: []int32{0, 1}, failures: 1},
		{name: "limit per index, retried twice", spec: twice, exits: []int32{0, 1}, failures: 2},
		{name: "success policy, one record at a time", spec: success, exits: []int32{0}, terminated: []int32{143, 0}, records: 1},
		{name: "two indexes, retried", size: large, spec: retriedTwice, exits: []int32{0, 1}, failures: 2},
		{name: "limit per index", spec: perIndex, exits: []int32{0, 1}, failures: 2},
		{name: "success policy", spec: success, exits: []int32{0}, terminated: []int32{143, 0}},
		{name: "one index", size: tiny, spec: scenario.IndexedSpec(1, 1), exits: []int32{0}},
		{name: "work queue", symmetric: 2, spec: queue, exits: []int32{0}},
		{name: "deadline", spec: timed, terminated: []int32{143}, runs: true, forever: true, wrong: unfinished},
		{name: "deadline, or a success before", spec: timed, exits: []int32{0}, terminated: []int32{143}, runs: true, wrong: unfinished},
		{name: "too many failed indexes", size: large, spec: tooMany, exits: []int32{0, 1}, failures: 2, runs: true, terminated: []int32{143}},
		{name: "success policy, and pods fail", size: large, spec: success, exits: []int32{0, 1}, failures: 1, terminated: []int32{143, 0}},
		{name: "success policy, and a rule that fails the Job", spec: decided, exits: []int32{0, 42}, failures: 1, terminated: []int32{143, 0}},
		{name: "work queue, scaled down after a success", spec: queue, exits: []int32{0}, terminated: []int32{143}, user: []userStep{stop}, wrong: stopped},
		{name: "two indexes fail, one record at a time", spec: perIndex, exits: []int32{0, 1}, failures: 2, records: 1},
		{name: "an ignored failure", spec: ignored(1), exits: []int32{0}, terminated: []int32{143}, user: []userStep{evict}},
		{name: "an ignored failure while the Job fails", size: large, spec: ignored(2), exits: []int32{0, 42}, failures: 1, terminated: []int32{143}, user: []userStep{evict}},
		{name: "a failed index and a rule that fails it", spec: failIndex, exits: []int32{0, 42}, failures: 2},
		{name: "a success is cleaned up between failures", size: large, spec: cleaned, exits: []int32{1, 0, 1, 0}, inTurn: true, runs: true, user: []userStep{clean}},
	}
}

func retriedIndex() batchv1.JobSpec {
	return changedSpec(scenario.IndexedSpec(1, 1), func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
}

// evictedWorlds returns worlds in which a pod is evicted.
func evictedWorlds() []*smallWorld {
	evicted := scenario.NonIndexedSpec(1, 1, 6)
	replaced := onlyFailed(evicted)
	evict := evictFirst()
	forced := userStep{name: "delete by force", when: isBeingDeleted, do: func(w *checker.World) { w.Store.KillPod(firstPod(w).Name) }}
	evictRunning := evict
	evictRunning.when = func(w *checker.World) bool {
		return firstPod(w) != nil && firstPod(w).Spec.NodeName != ""
	}
	replacedIndex := onlyFailed(scenario.IndexedSpec(1, 1))
	replacedIndexes := onlyFailed(scenario.IndexedSpec(3, 2))
	return []*smallWorld{
		{name: "evicted", size: large, spec: evicted, exits: []int32{0}, runs: true, terminated: []int32{143, 0}, user: []userStep{evict}},
		{name: "evicted from a node that is lost", size: tiny, spec: evicted, runs: true, forever: true, lost: true, user: []userStep{evictRunning}, wrong: notOneActive},
		{name: "evicted from a node that is lost, deleted by force", spec: evicted, runs: true, forever: true, lost: true, user: []userStep{evictRunning, forced}, wrong: notOneActive},
		{name: "an index is evicted, and runs on", spec: retriedIndex(), runs: true, forever: true, terminated: []int32{143}, user: []userStep{evictRunning}, wrong: notOneActive},
		{name: "an index is replaced once its pod has failed", size: large, spec: replacedIndex, exits: []int32{0}, runs: true, terminated: []int32{143, 0}, user: []userStep{evict}},
		{name: "three indexes, an index is replaced once its pod has failed", size: large, spec: replacedIndexes, exits: []int32{0}, terminated: []int32{143}, user: []userStep{evict}},
		{name: "only failed pods are replaced", size: large, spec: replaced, exits: []int32{0}, runs: true, terminated: []int32{143, 0}, user: []userStep{evict}},
	}
}

// changedSpec returns a copy of the spec with a change.
func changedSpec(spec batchv1.JobSpec, change func(*batchv1.JobSpec)) batchv1.JobSpec {
	s := spec.DeepCopy()
	change(s)
	return *s
}

// onlyFailed returns a spec under which a terminating pod is replaced only once it has failed.
func onlyFailed(spec batchv1.JobSpec) batchv1.JobSpec {
	return changedSpec(spec, func(s *batchv1.JobSpec) { s.PodReplacementPolicy = ptr.To(batchv1.Failed) })
}

func evictFirst() userStep {
	return userStep{name: "evict", when: hasPod, do: func(w *checker.World) {
		scenario.Must(w.Store.EvictPod(slices.Min(slices.Collect(maps.Keys(w.Store.Pods())))))
	}}
}

func namedRule() batchv1.JobSpec {
	s := scenario.NonIndexedSpec(1, 1, 6)
	s.PodReplacementPolicy = ptr.To(batchv1.Failed)
	s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}},
	}}}
	return s
}

func unfinished(job *batchv1.Job) string {
	return rules.When(job == nil || !reconcile.IsFinished(job), "the Job is not finished, or gone")
}

func hasPod(w *checker.World) bool { return len(w.Store.Pods()) > 0 }

// notOneActive reports a Job that does not have one active pod at the end. The Checker compares the status with the
// pods.
func notOneActive(job *batchv1.Job) string {
	return rules.When(job.Status.Active != 1, fmt.Sprintf("%d pods are active, and one should be", job.Status.Active))
}

func isBeingDeleted(w *checker.World) bool {
	return firstPod(w) != nil && firstPod(w).DeletionTimestamp != nil
}

// firstEnded returns the first pod that succeeded, or nil.
func firstEnded(w *checker.World) *corev1.Pod {
	for _, name := range slices.Sorted(maps.Keys(w.Store.Pods())) {
		if pod := w.Store.Pods()[name]; pod.Status.Phase == corev1.PodSucceeded {
			return pod
		}
	}
	return nil
}

func succeededAndReleased(w *checker.World) bool {
	pod := firstEnded(w)
	return pod != nil && len(pod.Finalizers) == 0
}

// firstPod returns the first pod of the Job, or nil once it is gone.
func firstPod(w *checker.World) *corev1.Pod {
	return cmp.Or(w.Store.Pods()["a-p1"], w.Store.Pods()["a-0-p1"])
}

// whenPod makes a step possible only while the first pod satisfies wanted.
func whenPod(u userStep, wanted func(*corev1.Pod) bool) userStep {
	u.when = func(w *checker.World) bool { return wanted(firstPod(w)) }
	return u
}

func exists(pod *corev1.Pod) bool { return pod != nil }

func edit(name string, change func(*batchv1.JobSpec)) userStep {
	return userStep{name: name, do: func(w *checker.World) { w.Edit(change) }}
}

// size sets the number of indexes of a Job, all of which may run at once.
func size(n int32) func(*batchv1.JobSpec) {
	return func(s *batchv1.JobSpec) { s.Parallelism, s.Completions = ptr.To(n), ptr.To(n) }
}

func editedWorlds() []*smallWorld {
	suspend := edit("suspend", func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })
	resume := edit("resume", func(s *batchv1.JobSpec) { s.Suspend = ptr.To(false) })
	fewer := edit("scale down", func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](1) })
	more := edit("scale up", func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](2) })
	resumed := func(job *batchv1.Job) string {
		return rules.When(!history.Is(job, batchv1.JobComplete) || history.Is(job, batchv1.JobSuspended), "the Job was resumed, and is suspended or not complete")
	}
	suspended := func(job *batchv1.Job) string {
		return rules.When(!history.Is(job, batchv1.JobSuspended) || job.Status.Active > 0 || job.Status.StartTime != nil, "the Job is suspended, and not called so, or active, or has a startTime")
	}
	begun := func(job *batchv1.Job) string {
		return cmp.Or(unfinished(job), rules.When(job.Status.StartTime == nil, "the Job is finished, and has no startTime"))
	}
	scaled := func(job *batchv1.Job) string {
		return cmp.Or(notOneActive(job), rules.When(job.Status.Failed > 0, "a pod that there is no room for counts as failed"))
	}
	one := scenario.NonIndexedSpec(1, 1, 6)
	two := scenario.NonIndexedSpec(2, 2, 6)
	elastic := scenario.IndexedSpec(2, 2)
	nothing := changedSpec(scenario.NonIndexedSpec(0, 1, 6), func(s *batchv1.JobSpec) { s.Suspend = ptr.To(true) })
	return []*smallWorld{
		{name: "suspended and resumed", size: large, spec: one, exits: []int32{0}, user: []userStep{suspend, resume}, wrong: resumed},
		{name: "suspended", spec: one, runs: true, forever: true, terminated: []int32{143}, user: []userStep{suspend}, wrong: suspended},
		{name: "scaled down", size: large, spec: two, runs: true, forever: true, terminated: []int32{143}, user: []userStep{fewer}, wrong: scaled},
		{name: "suspended, and nothing to do", spec: nothing, wrong: resumed, user: []userStep{resume}},
		{name: "suspended forever, and nothing to do", spec: nothing, wrong: begun},
		{name: "scaled down and up", size: large, spec: two, exits: []int32{0}, user: []userStep{fewer, more}},
		{name: "elastic", size: large, spec: elastic, exits: []int32{0}, user: []userStep{edit("one index", size(1)), edit("two indexes", size(2))}},
	}
}

func deletedWorlds() (worlds []*smallWorld) {
	spec := scenario.NonIndexedSpec(1, 1, 6)
	limited := scenario.NonIndexedSpec(1, 1, 0)
	gone := func(job *batchv1.Job) string { return rules.When(job != nil, "the Job is not gone") }
	for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		remove := userStep{name: "delete, " + string(how), do: func(w *checker.World) { scenario.Must(w.Store.DeleteJob("a", how)) }}
		deleted := &smallWorld{name: "deleted, " + string(how), size: large, spec: spec, exits: []int32{0}, user: []userStep{remove}, wrong: gone}
		worlds = append(worlds, deleted)
		if how == metav1.DeletePropagationBackground {
			deleted.size = medium
			hold := userStep{name: "add a finalizer", do: func(w *checker.World) {
				_, err := w.Store.EditJob("a", func(job *batchv1.Job) { job.Finalizers = append(job.Finalizers, model.Holder) })
				scenario.Must(err)
			}}
			release := userStep{name: "remove the finalizer", do: func(w *checker.World) { w.Store.FinalizeJob("a", model.Holder) }}
			held := func(job *batchv1.Job) string {
				return rules.When(job.Status.Succeeded+job.Status.Failed > 0 && !history.IsFinished(job), "the Job is held, its pod has ended, and the Job is not finished")
			}
			worlds = append(worlds,
				&smallWorld{name: "deleted, held until it ends", size: large, spec: limited, exits: []int32{0, 1}, failures: 1, user: []userStep{hold, remove}, wrong: held},
				&smallWorld{name: "deleted with a foreign finalizer", size: large, spec: spec, exits: []int32{0}, user: []userStep{hold, remove, release}, wrong: gone})
		}
	}
	return worlds
}

// sharedWorlds returns worlds that have two controller processes for a while.
func sharedWorlds() []*smallWorld {
	spec := scenario.NonIndexedSpec(1, 1, 6)
	second := userStep{name: "second leader", do: func(w *checker.World) { w.SecondLeader(sim.ProcessOptions{}) }}
	afterwards := second
	afterwards.when = func(w *checker.World) bool {
		job := w.Store.Jobs()["a"]
		return job != nil && len(history.UncountedSucceeded(&job.Status))+len(history.UncountedFailed(&job.Status))+int(job.Status.Succeeded+job.Status.Failed) > 0
	}
	limited := scenario.NonIndexedSpec(1, 1, 0)
	nothing := scenario.NonIndexedSpec(0, 1, 6)
	one := userStep{name: "one leader", do: (*checker.World).OneLeader}
	twice := userStep{name: "hold the shard twice", do: func(w *checker.World) { w.SecondLeader(sim.ProcessOptions{Shard: shard.Of(0, 1)}) }}
	return []*smallWorld{
		{name: "two leaders, and nothing to do", shared: true, spec: nothing, user: []userStep{second, one}},
		{name: "two leaders, once a success is recorded", shared: true, spec: spec, exits: []int32{0}, user: []userStep{afterwards, one}},
		{name: "two leaders, once the last failure is recorded", shared: true, spec: limited, exits: []int32{1}, failures: 1, user: []userStep{afterwards, one}},
		{name: "two leaders", size: vast, shared: true, spec: spec, exits: []int32{0}, terminated: []int32{143}, user: []userStep{second, one}},
		{name: "two leaders, once the pod exists", size: large, shared: true, spec: spec, exits: []int32{0}, terminated: []int32{143}, user: []userStep{whenPod(second, exists), one}},
		{name: "a shard held twice, once the pod exists", size: large, shared: true, spec: spec, exits: []int32{0}, terminated: []int32{143}, user: []userStep{whenPod(twice, exists), one}},
	}
}

// otherPodWorlds returns worlds with a pod created by another leader, which writes nothing else.
func otherPodWorlds() []*smallWorld {
	spec := scenario.NonIndexedSpec(1, 1, 6)
	more := whenPod(edit("two indexes", size(2)), func(pod *corev1.Pod) bool { return exists(pod) && history.HasEnded(pod) })
	return []*smallWorld{
		{name: "a pod of another leader", size: large, spec: spec, exits: []int32{0}, terminated: []int32{143}, user: []userStep{otherPod(reconcile.NoIndex)}},
		{name: "two indexes, a pod of another leader", size: large, spec: scenario.IndexedSpec(2, 1), exits: []int32{0}, terminated: []int32{143}, user: []userStep{otherPod(0)}},
		{name: "scaled up, a pod of another leader", size: large, spec: scenario.IndexedSpec(1, 1), exits: []int32{0}, terminated: []int32{143}, user: []userStep{more, otherPod(1)}},
	}
}

// otherPod creates a pod of an index, or without one for NoIndex, with the other labels and annotations, and the owner,
// of the first pod.
func otherPod(index int32) userStep {
	create := func(w *checker.World) {
		meta := firstPod(w).ObjectMeta.DeepCopy()
		pod := &corev1.Pod{Spec: w.Store.Jobs()["a"].Spec.Template.Spec, ObjectMeta: metav1.ObjectMeta{
			GenerateName: meta.GenerateName, Labels: meta.Labels, Annotations: meta.Annotations, OwnerReferences: meta.OwnerReferences,
			Finalizers: []string{batchv1.JobTrackingFinalizer},
		}}
		if index != reconcile.NoIndex {
			pod.GenerateName = fmt.Sprintf("a-%d-", index)
			metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, fmt.Sprint(index))
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, fmt.Sprint(index))
		}
		_, err := w.Store.CreatePod(pod)
		scenario.Must(err)
	}
	return whenPod(userStep{name: "create another pod", do: create}, exists)
}
