package analysis

import (
	"math"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

const (
	// neglect is how long a Job may be without any status: controllers write one once they
	// have created its first pods, of which each but the first takes up to perPod.
	neglect = 10 * time.Second
	perPod  = 20 * time.Millisecond
	// maxFirst is how many pods are created at once. Ours writes the status of a huge Job
	// only when the last of maxBegun or so is there.
	maxFirst = 500
	maxBegun = 10_000
	// slack is how long an end of a pod may wait for its controller: the built-in one
	// gathers them for a second, and works in seconds where it is busy.
	slack = 30 * time.Second
)

// managedBy is who should run the Job: "" for the built-in controller.
func (a *analysis) managedBy() string {
	if name := ptr.Deref(a.spec.ManagedBy, ""); name != explain.BuiltInManagedBy {
		return name
	}
	return ""
}

// whoReconciles says who runs the Job, and whether that is alive: by the Lease of our
// controller, else by what it has done, or left undone.
func (a *analysis) whoReconciles() explain.Reconciler {
	r := explain.Reconciler{ManagedBy: ptr.Deref(a.spec.ManagedBy, "")}
	r.Ours = a.OurName != "" && r.ManagedBy == a.OurName
	if explain.ReplacesBuiltIn(a.job) {
		r.Program = explain.OurFieldManager
	}
	r.Manager, r.LastWrite = lastStatusWrite(a.job.ManagedFields)
	if a.Lease != nil && !a.Lease.Renewed.IsZero() {
		r.LeaseHolder, r.LeaseRenewed, r.Lease = a.Lease.Holder, explain.TimeOf(a.Lease.Renewed), a.Lease.Namespace+"/"+a.Lease.Name
	}
	overdue, since := a.overdue()
	r.Overdue, r.OverdueSince = overdue, explain.TimeOf(since)
	r.Alive, r.Sign = a.aliveness(r.LastWrite)
	r.Text = words.ReconcilerText(&r, a.Now)
	return r
}

// aliveness is the best sign of life that there is, or of none.
func (a *analysis) aliveness(lastWrite *metav1.Time) (explain.Aliveness, explain.Sign) {
	overdue, _ := a.overdue()
	switch {
	case a.neglected():
		return explain.NotAlive, explain.SignNeverWorked
	case a.leaseExpired():
		return explain.NotAlive, explain.SignLeaseExpired
	case a.Lease != nil && a.Lease.IsHeld(a.Now) && (overdue == 0 || a.Lease.Namespace == explain.SystemNamespace):
		return explain.Alive, explain.SignLeaseHeld
	case overdue > 0: // A Lease that anyone may have made up says less.
		return explain.NotAlive, explain.SignOverdue
	case lastWrite == nil:
		return explain.AlivenessUnknown, explain.SignNone
	case a.Now.Sub(lastWrite.Time) < slack:
		return explain.Alive, explain.SignLastWrite
	}
	return explain.AlivenessUnknown, explain.SignLastWrite
}

func lastStatusWrite(fields []metav1.ManagedFieldsEntry) (string, *metav1.Time) {
	var last *metav1.ManagedFieldsEntry
	for i := range fields {
		f := &fields[i]
		if f.Subresource == "status" && !f.Time.IsZero() && (last == nil || last.Time.Before(f.Time)) {
			last = f
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Manager, last.Time
}

// suspendedBy is the field manager that last set spec.suspend, "" if it is not known.
func (a *analysis) suspendedBy() string {
	var manager string
	var last *metav1.Time
	for i := range a.job.ManagedFields {
		f := &a.job.ManagedFields[i]
		if f.FieldsV1 == nil || f.Subresource != "" || !strings.Contains(f.FieldsV1.GetRawString(), `"f:suspend"`) {
			continue
		}
		if last == nil || f.Time != nil && last.Before(f.Time) {
			manager, last = f.Manager, f.Time
		}
	}
	return manager
}

// neglected reports whether no controller has worked on the Job so far.
func (a *analysis) neglected() bool {
	if jobspec.IsSuspended(a.spec) && a.managedBy() != "" && a.managedBy() != a.OurName {
		return false // Others may wait without a word until the Job is resumed.
	}
	if !a.PodsRead {
		return IsNeglected(a.job, a.Now)
	}
	return len(a.pods) == 0 && untouched(a.job, a.Now, maxFirst)
}

// IsNeglected reports whether a Job is so old without any status that no controller seems to work on it,
// as with a mistyped managedBy (MGB-12). With its pods, that is known sooner.
func IsNeglected(job *batchv1.Job, now time.Time) bool { return untouched(job, now, maxBegun) }

func untouched(job *batchv1.Job, now time.Time, most int32) bool {
	first := min(jobspec.Parallelism(&job.Spec), ptr.Deref(job.Spec.Completions, math.MaxInt32), most)
	patience := neglect + time.Duration(max(first, 1)-1)*perPod
	old := !job.CreationTimestamp.IsZero() && now.Sub(job.CreationTimestamp.Time) >= patience
	// Almost every status has one of these; the comparison in full is slow.
	blank := job.Status.StartTime == nil && len(job.Status.Conditions) == 0
	return old && blank && job.DeletionTimestamp == nil && equality.Semantic.DeepEqual(&job.Status, &batchv1.JobStatus{})
}

// handover is more than another replica needs to take a Lease that was given back, which lasts for a second only. A shard
// that moves is given back by a controller that is alive.
const handover = 15 * time.Second

// leaseExpired reports whether there is no leader: the leader renews many times in a lease time, and
// another replica takes over after one.
func (a *analysis) leaseExpired() bool {
	if a.Lease == nil || a.Lease.Renewed.IsZero() || a.Lease.IsHeldElsewhere(a.Now) {
		return false
	}
	patience := a.Lease.Duration
	if a.Lease.Holder == "" {
		patience = max(patience, handover)
	}
	if a.Now.Sub(a.Lease.Renewed) <= patience {
		return false
	}
	// One that runs without leader election now leaves an old Lease behind.
	_, written := lastStatusWrite(a.job.ManagedFields)
	return written == nil || !written.After(a.Lease.Renewed.Add(a.Lease.Duration))
}

// latePods is the result of overdue.
type latePods struct {
	n     int32
	since time.Time
}

// overdue are pods that ended a while ago, and that a controller would have recorded or
// released by now. Pods that have to wait are not among them (KEP-3850).
func (a *analysis) overdue() (n int32, since time.Time) {
	if a.late == nil {
		a.late = a.countOverdue()
	}
	return a.late.n, a.late.since
}

func (a *analysis) countOverdue() *latePods {
	late := &latePods{}
	waiting := map[string]bool{}
	for _, w := range a.plan.Findings.AwaitReplacement {
		waiting[w.Pod.Name] = true
	}
	for _, p := range a.terminal {
		if !a.unrecorded(p) || waiting[p.Name] {
			continue
		}
		late.n++
		if late.since.IsZero() || p.FinishedAt.After(late.since) {
			late.since = p.FinishedAt
		}
	}
	return late
}

// unrecorded reports whether a finished pod ended a while ago, and holds the tracking finalizer.
func (a *analysis) unrecorded(p *explain.Pod) bool {
	return p.Finalizer && !p.FinishedAt.IsZero() && a.Now.Sub(p.FinishedAt) >= slack
}

// overduePods are examples of them.
func (a *analysis) overduePods() []string {
	var names []string
	for _, p := range a.terminal {
		if a.unrecorded(p) {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxExamples)]
}
