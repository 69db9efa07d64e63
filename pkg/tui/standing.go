package tui

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// standing is how many pods do what. It goes by the pods where they could be read, as all
// else on the screen does: the status lags behind them.
type standing struct {
	// succeeded is that of pods; of an Indexed Job, Report.Indexes tells.
	succeeded int32
	active    int32
	// ready is negative if nobody knows.
	ready, terminating int32
}

func standingOf(r *explain.Report) standing {
	c := &r.Counts
	s := standing{succeeded: c.Succeeded + c.UncountedSucceeded, active: c.Active, ready: -1}
	if c.Ready != nil {
		s.ready = *c.Ready
	}
	if c.Terminating != nil {
		s.terminating = *c.Terminating
	}
	finished := r.Verdict.Fate == explain.FateFailed || r.Verdict.Fate == explain.FateComplete
	switch x := r.Indexes; {
	case c.Pods == nil || finished:
	case x != nil && x.UnknownCount == 0:
		s.active, s.ready, s.terminating = x.ActiveCount, x.ReadyCount, x.TerminatingCount
	case x == nil && r.PodsOmitted == 0:
		s.count(r.Pods)
	}
	return s
}

// count goes by the pods of a NonIndexed Job. Those that succeeded, and that the status
// does not tell of, are added to the ones that it does.
func (s *standing) count(pods []explain.PodInfo) {
	s.active, s.ready, s.terminating = 0, 0, 0
	for i := range pods {
		switch p := &pods[i]; {
		case p.Counted != "":
			if p.Phase == string(corev1.PodSucceeded) && p.Counted == explain.NotCounted {
				s.succeeded++
			}
		case p.State == "Terminating":
			s.terminating++
		default:
			s.active++
			if p.Ready {
				s.ready++
			}
		}
	}
}

// failureTotals are the failures of a Job: all that are told by cause or whose pods are
// gone, and of those how many its status counts, how many are counted with the next pod of
// their index (KEP-3850), and how many its podFailurePolicy ignores. The parts need not add
// up to all: what just failed is in none yet.
func failureTotals(j *jobData) (all, counted, awaiting, ignored int32) {
	c := &j.Counts
	counted, awaiting = c.Failed+c.UncountedFailed, c.AwaitReplacement
	all = j.FailuresWithoutPod
	for i := range j.Causes {
		all += j.Causes[i].Count
		if j.Causes[i].Action == string(batchv1.PodFailurePolicyActionIgnore) {
			ignored += j.Causes[i].Count
		}
	}
	all, ignored = max(all, counted), max(ignored, c.IgnoredFailures)
	// Ignored ones may await their successor too; each is told once.
	awaiting = max(0, min(awaiting, all-counted-ignored))
	return all, counted, awaiting, ignored
}
