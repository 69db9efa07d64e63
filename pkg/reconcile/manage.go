package reconcile

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/backoff"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
)

// removePods removes pods that should not run, and returns the number of missing pods. A plan that removes pods creates
// none (JOB-08).
func removePods(job *jobView, pods *podLists, ended endedSets, plan *planner) (missing int) {
	// Pods without the finalizer cannot be counted: they are deleted. Misfits lose the finalizer first, and are
	// deleted by the next stage: they must not count as failed.
	fit, misfits := fitPods(job, pods.active, ended)
	slices.SortFunc(misfits, compareFailures)
	plan.Findings.Untracked, plan.Findings.Misfits = pods.untracked, misfits
	for _, p := range pods.untracked {
		plan.delete(p)
	}
	for _, p := range misfits {
		if job.inRange(p) {
			plan.release(ref(p, ifUnchanged))
		} else {
			plan.release(outOfRangeRef(p, ifUnchanged))
		}
	}

	// Excess pods are released in the same way, the least advanced first (JOB-12).
	wanted := wantActive(job, pods, ended, len(fit))
	if excess := len(fit) - wanted; excess > 0 {
		victims := slices.Clone(fit)
		slices.SortFunc(victims, compareForRemoval)
		plan.Findings.Excess = victims[:min(excess, job.cfg.MaxPodChanges)]
		for _, p := range plan.Findings.Excess {
			plan.release(ref(p, ifUnchanged))
		}
		return 0
	}

	// Pods that cannot be removed in this sync only take up space.
	missing = wanted - len(fit)
	for _, p := range slices.Concat(pods.untracked, misfits) {
		if !plan.skip[p.UID] {
			return 0
		}
		missing--
	}
	if job.replaceFailedOnly && len(pods.terminating) > 0 && missing > 0 {
		plan.Findings.WaitTerminating = count32(pods.terminating)
		// Failed indexes leave room for terminating pods (PRP-07).
		spare := min(ended.failed.Len(), int(job.parallelism)-wanted)
		missing -= max(0, len(pods.terminating)-spare)
	}
	return missing - len(pods.unreported)
}

// wantActive returns how many pods should be active (JOB-02, JOB-03); fit is the number of active pods that may run.
func wantActive(job *jobView, pods *podLists, ended endedSets, fit int) int {
	if job.suspended {
		return 0
	}
	succeeded := succeededCount(job, pods, ended)
	if job.noCompletions {
		if succeeded > 0 {
			return fit // Running pods may finish, whatever the parallelism is now.
		}
		return int(job.parallelism)
	}
	return int(max(0, min(job.parallelism, job.completions-succeeded-int32(ended.failed.Len()))))
}

// fitPods separates the active pods that should run from the misfits: pods whose index is invalid or has ended, and all
// but the most advanced pod of each index (JOB-08).
func fitPods(job *jobView, active []*Pod, ended endedSets) (fit, misfits []*Pod) {
	if !job.indexed {
		return active, nil
	}
	done := ended.all()
	fit = make([]*Pod, 0, len(active))
	for _, p := range active {
		if !job.inRange(p) || done.Contains(p.Index) {
			misfits = append(misfits, p)
		} else {
			fit = append(fit, p)
		}
	}
	if strictlyIncreasing(fit) {
		return fit, misfits
	}
	return mostAdvanced(fit, misfits)
}

// mostAdvanced keeps the most advanced pod of each index, and adds the others to the misfits.
func mostAdvanced(pods, misfits []*Pod) (fit, _ []*Pod) {
	best := make(map[int32]*Pod, len(pods))
	for _, p := range pods {
		switch other := best[p.Index]; {
		case other == nil:
			best[p.Index] = p
		case compareForRemoval(p, other) > 0:
			best[p.Index] = p
			misfits = append(misfits, other)
		default:
			misfits = append(misfits, p)
		}
	}
	for _, p := range pods {
		if best[p.Index] == p {
			fit = append(fit, p)
		}
	}
	return fit, misfits
}

// strictlyIncreasing reports whether the pods are sorted by index, and each index occurs once.
func strictlyIncreasing(pods []*Pod) bool {
	for i := 1; i < len(pods); i++ {
		if pods[i-1].Index >= pods[i].Index {
			return false
		}
	}
	return true
}

// compareForRemoval orders pods by the work lost with their removal: unscheduled before scheduled, Pending before
// Unknown before Running, not ready before ready, ready for a shorter time first, more restarts first, newer first
// (JOB-12). The name breaks ties, so that the order is total.
func compareForRemoval(a, b *Pod) int {
	return cmp.Or(
		compareBool(a.Scheduled, b.Scheduled),
		cmp.Compare(phaseRank(a.Phase), phaseRank(b.Phase)),
		compareBool(a.Ready, b.Ready),
		b.ReadySince.Compare(a.ReadySince),
		cmp.Compare(b.Restarts, a.Restarts),
		b.CreatedAt.Compare(a.CreatedAt),
		cmp.Compare(b.Name, a.Name),
		cmp.Compare(b.UID, a.UID),
	)
}

func phaseRank(p corev1.PodPhase) int {
	switch p {
	case corev1.PodPending:
		return 0
	case corev1.PodUnknown:
		return 1
	}
	return 2
}

// createPods plans the missing pods, unless they have to wait, or hold forbids it.
func createPods(job *jobView, o *Observation, pods *podLists, ended endedSets, waits replacements, missing int, hold bool, plan *planner) {
	// A gang whose pods start one by one may occupy resources that its other pods wait for.
	if !job.cfg.SchedulingDone {
		plan.Findings.UnsupportedScheduling = UnsupportedScheduling(job.object)
	}
	needsPodGroup := plan.Findings.UnsupportedScheduling != ""
	if missing <= 0 || !job.perIndex && backingOff(job, pods, plan) || hold || needsPodGroup {
		return
	}

	held := holdPlaces(job, o, pods, waits, plan)
	failed := failures(job, pods)
	if job.indexed {
		createIndexes(job, pods, ended, waits, missing, held, plan)
	} else {
		for range min(missing-held, job.cfg.MaxPodChanges) {
			plan.Create = append(plan.Create, NewPod{Index: NoIndex, Attempt: failed + 1})
		}
	}
	if len(plan.Create) > 0 {
		plan.CreateReason = createReason(job, failed, len(pods.terminating))
	}
}

func createReason(job *jobView, failed int32, terminating int) CreateReason {
	switch {
	case !job.cfg.Features.PodReplacementPolicy:
	case job.replaceFailedOnly && failed > 0:
		return RecreateFailed
	case !job.replaceFailedOnly && (failed > 0 || terminating > 0):
		return RecreateTerminatingOrFailed
	}
	return CreateNew
}

// holdPlaces returns how many places stay empty because their pods failed less than Config.FailureHold ago. A pod whose
// end is not reported, and an index whose back-off is short, keep their place anyway.
func holdPlaces(job *jobView, o *Observation, pods *podLists, waits replacements, plan *planner) (held int) {
	kept := map[types.UID]bool{}
	for _, p := range pods.unreported {
		kept[p.UID] = true
	}
	for i := range waits {
		if waits[i].keepsPlace(job) {
			kept[waits[i].Pod.UID] = true
		}
	}
	for pod, since := range o.FailedSince {
		if until := since.Add(job.cfg.FailureHold); job.now.Before(until) && !kept[pod] {
			held++
			plan.requeue(job.wait(until))
		}
	}
	return held
}

// createIndexes plans pods for the missing places: one for each of the lowest indexes that may start now. An index in
// back-off keeps its place after its first failures, and otherwise does not delay others (BLI-24, D-14). held places stay
// empty.
func createIndexes(job *jobView, pods *podLists, ended endedSets, waits replacements, missing, held int, plan *planner) {
	taken := ended.all()
	for _, list := range [][]*Pod{pods.active, pods.untracked, pods.unreported} {
		taken = taken.Union(indexesOf(list))
	}
	if job.replaceFailedOnly {
		taken = taken.Union(indexesOf(pods.terminating))
	}

	// The indexes that may not start yet and keep no place, and the time when the first of all that wait may start
	// (BLI-22).
	var placeless []int32
	var first time.Time
	for i := range waits {
		f := &waits[i]
		if !f.waits(job) {
			continue
		}
		if !f.keepsPlace(job) {
			placeless = append(placeless, f.Pod.Index)
		}
		if first.IsZero() || f.Until.Before(first) {
			first = f.Until
		}
	}
	plan.Findings.RetryHeld = !first.IsZero()

	most := job.cfg.MaxPodChanges
	places := min(missing, most+len(waits)+held) // More of them change nothing in this plan.
	for _, index := range taken.Union(indexset.Of(placeless...)).FirstMissing(places, job.completions) {
		before := waits.of(index)
		switch {
		case !job.perIndex:
			plan.Create = append(plan.Create, NewPod{Index: index, Attempt: pods.attempts[index] + 1})
		case before == nil || !before.waits(job):
			plan.Create = append(plan.Create, successorOf(index, before))
		}
	}
	plan.Create = plan.Create[:min(max(0, len(plan.Create)-held), most)]
	if len(plan.Create) < min(missing, most) && !first.IsZero() {
		plan.requeue(job.wait(first))
	}
}

// backingOff reports whether failures delay all creation (JOB-19).
func backingOff(job *jobView, pods *podLists, plan *planner) bool {
	h := pods.history.Clone()
	for _, p := range slices.Concat(pods.failed, pods.ignored, pods.unreported) {
		h.Failure(p.UID, p.FinishedAt)
	}
	r := job.backoff.After(h)
	until := r.Until(job.cfg.Backoff)
	if !job.now.Before(until) {
		return false
	}
	plan.Findings.Backoff = &Backoff{r.Failures, until}
	plan.requeue(job.wait(until))
	return true
}

// backoffRecord returns the record to remember once the failures in recorded are stored. The other failures are added
// with the status that records them, and ignored failures (PFP-06) when their pods are released
// (PodRef.IgnoredFailure).
func backoffRecord(job *jobView, pods *podLists, recorded []*Pod) backoff.Record {
	h := pods.history.Clone()
	for _, p := range recorded {
		h.Failure(p.UID, p.FinishedAt)
	}
	return job.backoff.After(h)
}
