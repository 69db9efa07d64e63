package sim_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
)

var observedAt = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// TestComputeTakesAnyObservation draws Jobs and pods that need not be possible, including nil fields and
// nonsense: Compute is deterministic, does not change its input, converges, plans only valid statuses, names each pod
// once, and creates no forbidden pods (S10, S4, S5, S6, S9).
// Requirements: REG-19, STV-02, STV-16, STV-17, STV-18, STV-19, STV-20, STV-21, TRK-28
func TestComputeTakesAnyObservation(t *testing.T) {
	assert.NoError(t, flag.Set("rapid.checks", "3000")) // Each takes 0.1 ms.
	rapid.Check(t, func(t *rapid.T) {
		o, config := drawObservation(t), drawConfig(t)
		order := rapid.Permutation(indexes(len(o.Pods))).Draw(t, "order")
		for _, broken := range checker.CheckCore(o, config, order) {
			t.Errorf("S10: %s", broken)
		}
		plan := reconcile.Compute(o, config)
		checkStatus(t, o, config, plan)
		checkOperations(t, o, plan)
		checkCreations(t, o, plan)
		checkIndexes(t, o, config, plan)
		checkReleases(t, o, config, plan)
		checkRemaining(t, o, plan)
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func drawObservation(t *rapid.T) reconcile.Observation {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "job"}}
	if rapid.IntRange(0, 9).Draw(t, "deleting") == 0 {
		job.DeletionTimestamp = ptr.To(metav1.NewTime(observedAt))
	}
	drawSpec(t, &job.Spec)
	drawPolicies(t, &job.Spec)
	pods := drawPods(t)
	drawStatus(t, job, pods)
	drawFailedIndexes(t, job)
	skip := map[types.UID]bool{}
	for _, p := range pods {
		skip[p.UID] = rapid.IntRange(0, 9).Draw(t, "skip") == 0
	}
	hold := rapid.IntRange(0, 9).Draw(t, "hold") == 0
	return reconcile.Observation{Job: job, Pods: pods, Strays: drawStrays(t), Now: observedAt, HoldCreation: hold, Skip: skip}
}

func maybe(t *rapid.T, label string, most int32) *int32 {
	if rapid.IntRange(0, 4).Draw(t, label+" nil") == 0 {
		return nil
	}
	return ptr.To(rapid.Int32Range(0, most).Draw(t, label))
}

func drawSpec(t *rapid.T, spec *batchv1.JobSpec) {
	spec.CompletionMode = rapid.SampledFrom([]*batchv1.CompletionMode{nil, ptr.To(batchv1.NonIndexedCompletion), ptr.To(batchv1.IndexedCompletion)}).Draw(t, "mode")
	spec.Completions = maybe(t, "completions", 5)
	if ptr.Deref(spec.CompletionMode, "") == batchv1.IndexedCompletion && spec.Completions == nil {
		spec.Completions = ptr.To[int32](3)
	}
	spec.Parallelism = maybe(t, "parallelism", 5)
	spec.BackoffLimit = maybe(t, "backoffLimit", 3)
	spec.Suspend = rapid.SampledFrom([]*bool{nil, nil, ptr.To(false), ptr.To(true)}).Draw(t, "suspend")
	spec.PodReplacementPolicy = rapid.SampledFrom([]*batchv1.PodReplacementPolicy{nil, ptr.To(batchv1.Failed), ptr.To(batchv1.TerminatingOrFailed)}).Draw(t, "replacement")
	if d := maybe(t, "deadline", 100); d != nil && *d > 50 {
		spec.ActiveDeadlineSeconds = ptr.To(int64(*d))
	}
	spec.Template.Spec.RestartPolicy = rapid.SampledFrom([]corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}).Draw(t, "restart")
}

func drawPods(t *rapid.T) []*reconcile.Pod {
	phases := []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed, corev1.PodUnknown}
	pods := make([]*reconcile.Pod, rapid.IntRange(0, 8).Draw(t, "pods"))
	for i := range pods {
		pods[i] = &reconcile.Pod{}
		p := pods[i]
		p.Name, p.UID, p.ResourceVersion = fmt.Sprintf("p%d", i), types.UID(fmt.Sprintf("uid%d", i)), "1"
		p.Phase = rapid.SampledFrom(phases).Draw(t, "phase")
		p.Index = rapid.Int32Range(-1, 6).Draw(t, "index")
		p.Deleting = rapid.IntRange(0, 3).Draw(t, "deleting") == 0
		p.Finalizer = rapid.IntRange(0, 4).Draw(t, "finalizer") > 0
		p.Ready = p.Phase == corev1.PodRunning && rapid.Bool().Draw(t, "ready")
		p.Scheduled = rapid.Bool().Draw(t, "scheduled")
		p.Restarts = rapid.Int32Range(0, 2).Draw(t, "restarts")
		if p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed || p.Deleting {
			p.FinishedAt = observedAt.Add(-time.Duration(rapid.IntRange(0, 60).Draw(t, "finished")) * time.Second)
		}
		drawEvidence(t, p)
	}
	return pods
}

// drawStatus draws a status that the API server could store.
func drawStatus(t *rapid.T, job *batchv1.Job, pods []*reconcile.Pod) {
	s := &job.Status
	indexed := ptr.Deref(job.Spec.CompletionMode, "") == batchv1.IndexedCompletion
	if indexed {
		var done []int32
		for i := range ptr.Deref(job.Spec.Completions, 0) {
			if rapid.IntRange(0, 3).Draw(t, "done") == 0 {
				done = append(done, i)
			}
		}
		s.CompletedIndexes, s.Succeeded = indexset.Of(done...).String(), int32(len(done))
	} else {
		s.Succeeded = rapid.Int32Range(0, 3).Draw(t, "succeeded")
	}
	s.Failed = rapid.Int32Range(0, 3).Draw(t, "failed")
	if rapid.Bool().Draw(t, "uncounted") {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		for i := range pods {
			switch p := pods[i]; rapid.IntRange(0, 5).Draw(t, "recorded") {
			case 0:
				s.UncountedTerminatedPods.Failed = append(s.UncountedTerminatedPods.Failed, p.UID)
			case 1:
				if !indexed {
					s.UncountedTerminatedPods.Succeeded = append(s.UncountedTerminatedPods.Succeeded, p.UID)
				}
			}
		}
	}
	if rapid.Bool().Draw(t, "started") && !ptr.Deref(job.Spec.Suspend, false) {
		s.StartTime = ptr.To(metav1.NewTime(observedAt.Add(-time.Minute)))
	}
	for _, c := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet, batchv1.JobSuspended} {
		if rapid.IntRange(0, 6).Draw(t, string(c)) == 0 && (c == batchv1.JobSuspended || len(s.Conditions) == 0) {
			s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, Reason: "Before"})
		}
	}
}

// checkStatus: the API server accepts every planned status (S4), which records no more pods than it may (TRK-06).
func checkStatus(t *rapid.T, o reconcile.Observation, config reconcile.Config, plan reconcile.Plan) {
	if plan.Status == nil {
		return
	}
	next := o.Job.DeepCopy()
	next.Status = *plan.Status
	if list := apirules.Status(o.Job, next); len(list) > 0 {
		t.Errorf("S4: %v\nbefore %+v\nafter %+v", list.Errors().ToAggregate(), o.Job.Status, next.Status)
	}
	uncounted := func(s *batchv1.JobStatus) int {
		return len(history.UncountedFailed(s)) + len(history.UncountedSucceeded(s))
	}
	if n := uncounted(plan.Status); n > max(config.MaxUncounted, uncounted(&o.Job.Status)) {
		t.Errorf("TRK-06: %d pods are uncounted", n)
	}
	met := history.Condition(next, batchv1.JobSuccessCriteriaMet)
	if met != nil && met.Reason == batchv1.JobReasonCompletionsReached && !history.Is(o.Job, batchv1.JobSuccessCriteriaMet) && (next.Status.Active > 0 || len(plan.Create) > 0) {
		t.Errorf("JOB-02: the Job is taken as complete with %d active pods", next.Status.Active)
	}
}

// checkOperations: a pod gets one operation at most, and none if it is to be skipped.
func checkOperations(t *rapid.T, o reconcile.Observation, plan reconcile.Plan) {
	named := map[types.UID]bool{}
	for _, r := range slices.Concat(plan.Delete, plan.Release, plan.Adopt, plan.Disown) {
		if named[r.UID] || o.Skip[r.UID] {
			t.Errorf("%s is named twice, or to be skipped", r.Name)
		}
		named[r.UID] = true
	}
}

// checkRemaining: each index is run by at most one pod, and only if it has not ended; all other pods are removed
// (JOB-08, S6).
func checkRemaining(t *rapid.T, o reconcile.Observation, plan reconcile.Plan) {
	if ptr.Deref(o.Job.Spec.CompletionMode, "") != batchv1.IndexedCompletion || o.Job.DeletionTimestamp != nil {
		return
	}
	if decided := plan.Urgent && endsJob(plan.Status.Conditions); decided && !history.IsDecided(o.Job) {
		return // The pods are removed when this is stored.
	}
	if plan.Findings.Unrecorded > 0 {
		return // Decisions wait for space in the status, and pods wait for the decisions.
	}
	going := map[types.UID]bool{}
	for _, r := range append(slices.Clone(plan.Release), plan.Delete...) {
		going[r.UID] = true
	}
	completed, _ := indexset.Parse(o.Job.Status.CompletedIndexes)
	taken := map[int32]bool{}
	for i := range o.Pods {
		p := o.Pods[i]
		if !p.IsActive() || going[p.UID] || o.Skip[p.UID] || p.Unselected || history.Is(o.Job, batchv1.JobSuccessCriteriaMet) {
			continue
		}
		if p.Index < 0 || p.Index >= *o.Job.Spec.Completions || completed.Contains(p.Index) || taken[p.Index] {
			t.Errorf("JOB-08: %s runs on with index %d", p.Name, p.Index)
		}
		taken[p.Index] = true
	}
}

func endsJob(conditions []batchv1.JobCondition) bool {
	if len(conditions) == 0 {
		return false // A status without conditions may be urgent: all pods have ended.
	}
	last := conditions[len(conditions)-1]
	return last.Status == corev1.ConditionTrue && (last.Type == batchv1.JobFailureTarget || last.Type == batchv1.JobSuccessCriteriaMet)
}

// checkCreations: no pods while creation is forbidden, never more than wanted, and one pod per index (S5, S6, S9).
func checkCreations(t *rapid.T, o reconcile.Observation, plan reconcile.Plan) {
	if len(plan.Create) == 0 {
		return
	}
	if ptr.Deref(o.Job.Spec.Suspend, false) || o.Job.DeletionTimestamp != nil || o.HoldCreation || history.IsDecided(o.Job) {
		t.Errorf("S9: %d pods are created", len(plan.Create))
	}
	taken, active := map[int32]bool{}, 0
	for i := range o.Pods {
		if p := o.Pods[i]; p.IsActive() && !p.Unselected {
			active++
			taken[p.Index] = true
		}
	}
	if total := active + len(plan.Create); total > int(ptr.Deref(o.Job.Spec.Parallelism, 1)) {
		t.Errorf("S5: %d pods would run", total)
	}
	for _, n := range plan.Create {
		if n.Index != reconcile.NoIndex && taken[n.Index] {
			t.Errorf("S6: index %d would run twice", n.Index)
		}
		taken[n.Index] = true
	}
}

// checkReleases: the finalizer of a finished pod in range is removed only after its record is stored, and the finalizer
// of a pod that may still finish only if the pod has not changed (S2, S7).
func checkReleases(t *rapid.T, o reconcile.Observation, config reconcile.Config, plan reconcile.Plan) {
	stored := map[types.UID]bool{}
	for _, uid := range append(history.UncountedFailed(&o.Job.Status), history.UncountedSucceeded(&o.Job.Status)...) {
		stored[uid] = true
	}
	completed, _ := indexset.Parse(o.Job.Status.CompletedIndexes)
	var failed indexset.Set
	if config.Features.BackoffLimitPerIndex {
		failed, _ = indexset.Parse(ptr.Deref(o.Job.Status.FailedIndexes, ""))
	}
	indexed := ptr.Deref(o.Job.Spec.CompletionMode, "") == batchv1.IndexedCompletion
	byUID := map[types.UID]*reconcile.Pod{}
	for i := range o.Pods {
		byUID[o.Pods[i].UID] = o.Pods[i]
	}
	for _, r := range plan.Release {
		p := byUID[r.UID]
		terminal := p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed
		outside := indexed && (p.Index < 0 || p.Index >= ptr.Deref(o.Job.Spec.Completions, 0))
		recorded := stored[r.UID] || indexed && p.Phase == corev1.PodSucceeded && completed.Union(failed).Contains(p.Index)
		// A pod that was deleted because the Job succeeded does not count (SUC-14).
		endedBySuccess := history.Is(o.Job, batchv1.JobSuccessCriteriaMet) && p.Deleting && p.Phase == corev1.PodFailed
		switch {
		case recorded || endedBySuccess || outside && !p.IsActive() || isIgnored(config, o.Job, p):
		case terminal:
			t.Errorf("S2: %s is released without a record", p.Name)
		case r.ResourceVersion == "":
			t.Errorf("S7: %s may finish, and is released without a precondition", p.Name)
		}
	}
}
