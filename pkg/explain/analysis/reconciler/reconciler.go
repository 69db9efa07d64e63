// Package reconciler finds out which controller runs a Job, and whether it is alive.
package reconciler

import (
	"math"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// Identify returns the controller of the Job, and whether it is alive: by the Lease of our controller, else by its work, done or overdue.
func Identify(in *facts.Facts) explain.Reconciler {
	r := explain.Reconciler{ManagedBy: ptr.Deref(in.Spec.ManagedBy, "")}
	r.Ours = in.OurName != "" && r.ManagedBy == in.OurName
	if explain.ReplacesBuiltIn(in.Job) {
		r.Program = explain.OurFieldManager
	}
	r.Manager, r.LastWrite = facts.LastStatusWrite(in.Job)
	if in.Lease != nil && !in.Lease.Renewed.IsZero() {
		r.LeaseHolder, r.LeaseRenewed, r.Lease = in.Lease.Holder, explain.TimeOf(in.Lease.Renewed), in.Lease.Namespace+"/"+in.Lease.Name
	}
	if in.Lease != nil && in.Lease.IsContradicted(in.Now) {
		other := in.Lease.Elsewhere
		r.OtherLease, r.OtherHolder, r.OtherRenewed = other.Namespace+"/"+other.Name, other.Holder, explain.TimeOf(other.Renewed)
	}
	late, since := overdue(in)
	r.Overdue, r.OverdueSince = late, explain.TimeOf(since)
	r.Alive, r.Sign = aliveness(in, late, r.LastWrite)
	return r
}

// aliveness returns whether the controller is alive, by the best available sign.
func aliveness(in *facts.Facts, overdue int32, lastWrite *metav1.Time) (explain.Aliveness, explain.Sign) {
	switch {
	case neglected(in):
		return explain.NotAlive, explain.SignNeverWorked
	case leaseExpired(in):
		return explain.NotAlive, explain.SignLeaseExpired
	case in.Lease != nil && in.Lease.IsHeld(in.Now) && !in.Lease.IsContradicted(in.Now) && (overdue == 0 || in.Lease.Namespace == input.SystemNamespace):
		return explain.Alive, explain.SignLeaseHeld
	case overdue > 0 && allSeen(in): // The controller cannot release them, or has stopped since.
		return explain.AlivenessUnknown, explain.SignLastWrite
	case overdue > 0: // A Lease that a user may have forged is a weaker sign.
		return explain.NotAlive, explain.SignOverdue
	case lastWrite != nil && in.Now.Sub(lastWrite.Time) < facts.Slack:
		return explain.Alive, explain.SignLastWrite
	case in.Lease != nil && in.Lease.IsContradicted(in.Now):
		return explain.AlivenessUnknown, explain.SignLeaseUnclear
	case lastWrite == nil:
		return explain.AlivenessUnknown, explain.SignNone
	}
	return explain.AlivenessUnknown, explain.SignLastWrite
}

// allSeen reports whether the status has each pod that is overdue, so that its controller was alive after the pod had ended.
func allSeen(in *facts.Facts) bool {
	u := in.Job.Status.UncountedTerminatedPods
	return u != nil && !slices.ContainsFunc(in.Terminal, func(p *input.Pod) bool {
		return in.IsOverdue(p) && !slices.Contains(u.Succeeded, p.UID) && !slices.Contains(u.Failed, p.UID)
	})
}

// handover is more than another replica needs to take a released Lease, whose duration is only a second. A shard that moves
// is released by a controller that is alive.
const handover = 15 * time.Second

// leaseExpired reports whether there is no leader: the leader renews many times per lease duration, and another replica takes over after one.
func leaseExpired(in *facts.Facts) bool {
	if in.Lease == nil || in.Lease.Renewed.IsZero() || in.Lease.IsContradicted(in.Now) {
		return false
	}
	patience := in.Lease.Duration
	if in.Lease.Holder == "" {
		patience = max(patience, handover)
	}
	if in.Now.Sub(in.Lease.Renewed) <= patience {
		return false
	}
	// A controller that now runs without leader election leaves an old Lease behind.
	_, written := facts.LastStatusWrite(in.Job)
	return written == nil || !written.After(in.Lease.Renewed.Add(in.Lease.Duration))
}

// overdue returns the number of pods that ended a while ago and that a controller should have recorded or released by now,
// and when the last of them ended. Pods that have to wait do not count (KEP-3850).
func overdue(in *facts.Facts) (n int32, since time.Time) {
	waiting := map[string]bool{}
	for _, w := range in.Plan.Findings.AwaitReplacement {
		waiting[w.Pod.Name] = true
	}
	for _, p := range in.Terminal {
		if !in.IsOverdue(p) || waiting[p.Name] {
			continue
		}
		n++
		if since.IsZero() || p.FinishedAt.After(since) {
			since = p.FinishedAt
		}
	}
	return n, since
}

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
