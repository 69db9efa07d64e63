package reconciler

import (
	"math"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

const (
	// neglect is how long a Job may lack a status: controllers write one after creating the first pods, and each pod but
	// the first takes up to perPod.
	neglect = 10 * time.Second
	perPod  = 20 * time.Millisecond
	// maxFirst is the number of pods created at once. Our controller writes the status of a huge Job only when about the
	// last of maxBegun pods exists.
	maxFirst = 500
	maxBegun = 10_000
)

// neglected reports whether no controller has worked on the Job yet.
func neglected(in *facts.Facts) bool {
	if jobspec.IsSuspended(in.Spec) && in.ManagedBy() != "" && in.ManagedBy() != in.OurName {
		return false // Other controllers may wait silently until the Job is resumed.
	}
	if in.LastJobEvent("FailedCreate") != nil {
		return false // A controller is trying. It writes no status before the first pod exists.
	}
	if !in.PodsRead {
		return IsNeglected(in.Job, in.Now)
	}
	return len(in.Pods) == 0 && untouched(in.Job, in.Now, maxFirst)
}

// IsNeglected reports whether a Job is so old without any status that no controller seems to work on it, as with a mistyped
// managedBy (MGB-12). If its pods are known, the report detects this sooner.
func IsNeglected(job *batchv1.Job, now time.Time) bool { return untouched(job, now, maxBegun) }

func untouched(job *batchv1.Job, now time.Time, most int32) bool {
	first := min(jobspec.Parallelism(&job.Spec), ptr.Deref(job.Spec.Completions, math.MaxInt32), most)
	patience := neglect + time.Duration(max(first, 1)-1)*perPod
	old := !job.CreationTimestamp.IsZero() && now.Sub(job.CreationTimestamp.Time) >= patience
	// Almost every status has a startTime or a condition; the full comparison is slow.
	blank := job.Status.StartTime == nil && len(job.Status.Conditions) == 0
	return old && blank && job.DeletionTimestamp == nil && equality.Semantic.DeepEqual(&job.Status, &batchv1.JobStatus{})
}
