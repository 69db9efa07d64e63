package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/checker"
	"github.com/batchjob-dev/kubectl-batchjob/test/virtual/scenario"
)

// The limits of the KEPs, in bytes as stored in etcd.
const (
	maxUncountedBytes = 20_000
	maxIndexBytes     = 600_000 // 0.572 Mi
	maxObjectBytes    = 3 << 19 // 1.5 Mi
	maxRuleBytes      = 64 << 10
	worstIndexes      = 100_000
)

// endsOf returns failed pods of every other index from first on, which no status has recorded.
func endsOf(first int32, n int, at time.Time) (pods []*reconcile.Pod) {
	for i := range n {
		uid := uuid.NewUUID()
		pods = append(pods, &reconcile.Pod{
			UID: uid, Name: "p-" + string(uid), Phase: corev1.PodFailed, Finalizer: true, Index: first + int32(2*i), FinishedAt: at, CreatedAt: at,
		})
	}
	return pods
}

// everyOther returns every other index from first up to limit.
func everyOther(first, limit int32) indexset.Set {
	var list []int32
	for i := first; i < limit; i += 2 {
		list = append(list, i)
	}
	return indexset.Of(list...)
}

// largest returns a Job with the longest possible lists: every other index has succeeded, nearly all of the others have
// failed, and the rest fail now, each for the last time: many more pods than a status may record.
func largest(rules int) reconcile.Observation {
	const ending = 4000
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	job := &batchv1.Job{Spec: scenario.IndexedSpec(worstIndexes, worstIndexes)}
	job.Name, job.Namespace, job.UID = strings.Repeat("j", 63), strings.Repeat("n", 63), uuid.NewUUID()
	job.Spec.BackoffLimitPerIndex, job.Spec.BackoffLimit = ptr.To[int32](0), ptr.To[int32](1<<30)
	job.Spec.MaxFailedIndexes = ptr.To[int32](worstIndexes)
	job.Spec.SuccessPolicy = successRules(rules)
	start := metav1.NewTime(now.Add(-time.Hour))
	job.Status = batchv1.JobStatus{
		StartTime: &start, Succeeded: worstIndexes / 2, CompletedIndexes: everyOther(0, worstIndexes).String(),
		FailedIndexes: ptr.To(everyOther(1, worstIndexes-2*ending).String()),
	}
	return reconcile.Observation{Job: job, Now: now, Pods: endsOf(worstIndexes-2*ending+1, ending, now)}
}

// successRules returns rules of the maximum size that the API server accepts, which are never met: each requires an
// index that has failed.
func successRules(n int) *batchv1.SuccessPolicy {
	if n == 0 {
		return nil
	}
	var list []string
	for i, length := int32(10_001), 0; length+6 <= maxRuleBytes; i, length = i+2, length+6 {
		list = append(list, fmt.Sprint(i))
	}
	policy := &batchv1.SuccessPolicy{}
	for range n {
		policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To(strings.Join(list, ","))})
	}
	return policy
}

// SCL-10, BLI-31: however many pods end at once, the lists of uncounted pods stay below 20 kB, the lists of indexes
// below the size in the KEP, and the Job well below etcd's limit, even with a success rule of 64 KiB.
func TestLargestJobFitsIntoEtcd(t *testing.T) {
	for _, rules := range []int{0, 1} {
		o := largest(rules)
		config := reconcile.DefaultConfig()
		for statuses := 0; statuses < 8; {
			plan := reconcile.Compute(o, config)
			if plan.IsEmpty() {
				t.Fatalf("nothing is planned after %d statuses", statuses)
			}
			if o = checker.Applied(o, plan); plan.Status == nil {
				continue
			}
			statuses++
			u := plan.Status.UncountedTerminatedPods
			if n := len(u.Failed); n != config.MaxUncounted || u.Size() >= maxUncountedBytes {
				t.Errorf("%d pods are uncounted, in %d bytes", n, u.Size())
			}
			if n := len(o.Job.Status.CompletedIndexes) + len(*o.Job.Status.FailedIndexes); n > maxIndexBytes {
				t.Errorf("the indexes take %d bytes", n)
			}
			if n := o.Job.Size(); n > maxObjectBytes/2 || n < maxIndexBytes*9/10 {
				t.Errorf("with %d rules the Job has %d bytes", rules, n)
			}
		}
		if lost, _ := indexset.ParseTolerant(*o.Job.Status.FailedIndexes, worstIndexes); lost.Len() < worstIndexes/2-4000+7*config.MaxUncounted {
			t.Errorf("%d indexes have failed", lost.Len())
		}
	}
}

// SCL-10: the maximum number of rules leaves space for a status of 10^4 indexes.
func TestLargestSuccessPolicyLeavesRoomForTheStatus(t *testing.T) {
	const rules = 20
	job := &batchv1.Job{Spec: scenario.IndexedSpec(worstIndexes, 10)}
	job.Spec.SuccessPolicy = successRules(rules)
	spec := job.Size()
	job.Status.CompletedIndexes = everyOther(0, 20_000).String()
	job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
	for range reconcile.DefaultConfig().MaxUncounted {
		job.Status.UncountedTerminatedPods.Failed = append(job.Status.UncountedTerminatedPods.Failed, uuid.NewUUID())
	}
	if n := job.Size(); n > maxObjectBytes || spec < rules*maxRuleBytes*99/100 {
		t.Errorf("the Job has %d bytes, %d without its status", n, spec)
	}
}
