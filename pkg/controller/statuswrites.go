package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// postponeStatus leaves a status that can wait to a later sync, if a status was written less than a batch period ago
// (JOB-53, REG-18).
func (s *jobSync) postponeStatus(plan *reconcile.Plan, result *Result) {
	if plan.Status == nil || plan.Urgent {
		return
	}
	m := s.memory.get(s.uid)
	wait := s.config.BatchPeriod - s.config.Clock.Since(m.written)
	// The next stage reports creations, unless they have continued since the last stage, or are so many that startTime
	// must not wait for them.
	begins := s.job.Status.StartTime == nil && s.isRamp(plan)
	if merge := plan.Merge && m.ramp == 0 && !begins; !merge && (m.written.IsZero() || wait <= 0) {
		return
	}
	plan.Status = nil
	if wait > 0 && (result.After == 0 || wait < result.After) {
		result.After = wait
	}
}

func (s *stage) writeStatus(ctx context.Context, plan *reconcile.Plan) {
	job := s.job.DeepCopy()
	job.Status = *plan.Status
	stored, err := s.cluster.Jobs.UpdateStatus(ctx, job)
	if errors.Is(err, kube.ErrUnsent) {
		return
	}
	if apierrors.IsConflict(err) {
		s.config.Metrics.StatusConflict()
	}
	switch {
	case err == nil:
		s.cache.WroteJob(stored)
		s.stored, s.written = &stored.Status, s.config.Clock.Now()
		s.logConditions(ctx, plan)
		s.storedStatus(s.job, stored, &plan.Findings)
	case cluster.IsMissing(err, "jobs", job.Name):
		s.statusErr = errJobGone
	case apierrors.IsConflict(err) && s.conflicts < maxConflicts:
		s.conflicts++
		if _, err := s.readLive(ctx); err != nil { // Another client wrote first.
			s.statusErr = fmt.Errorf("after a conflict: %w", err)
		}
	case cluster.IsRejection(err):
		s.config.Metrics.StatusRejected()
		s.events().rejected(err)
		s.statusErr = fmt.Errorf("writing the status: %w", err)
	default:
		s.statusErr = fmt.Errorf("writing the status: %w", err)
		s.mayBeStored(plan, err)
	}
}

func (s *stage) logConditions(ctx context.Context, plan *reconcile.Plan) {
	if !plan.Urgent {
		return
	}
	for _, c := range plan.Status.Conditions {
		if !slices.Contains(s.job.Status.Conditions, c) {
			klog.FromContext(ctx).Info("Job condition", "job", klog.KObj(s.job), "condition", c.Type, "status", c.Status,
				"reason", c.Reason, "succeeded", plan.Status.Succeeded, "failed", plan.Status.Failed)
		}
	}
}

// unanswered holds the status writes to one version of a Job that got no response: one of them may have been stored.
// Each try has its own timestamps, so each is kept.
type unanswered struct {
	before *batchv1.Job
	plans  []*reconcile.Plan
	// decided is the time of the last failed write that decides the outcome of the Job; zero if no write does.
	decided time.Time
}

// decides reports whether the status of a plan decides the outcome of the Job.
func decides(p *reconcile.Plan) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobSuccessCriteriaMet || c.Type == batchv1.JobFailureTarget)
	})
}

// mayBeDecided returns how long a write that got no response may still decide the outcome of the Job: the Job may then
// need no more pods, even if the pods that decided it are gone, and a read now may be too early. Another status write
// settles the question, since only one of the two can be stored. Without another write, the API server gives up on the
// call after its request timeout.
func (m *jobMemory) mayBeDecided(job *batchv1.Job, now time.Time) time.Duration {
	const requestTimeout = time.Minute // The default of kube-apiserver --request-timeout.
	u := m.unanswered
	if u == nil || u.decided.IsZero() || u.before.ResourceVersion != job.ResourceVersion {
		return 0
	}
	return max(0, requestTimeout-now.Sub(u.decided))
}

// maxUnanswered is more than the number of tries before a Job's watch recovers.
const maxUnanswered = 16

// mayBeStored remembers a write without a response, unless it cannot have reached the API server.
func (s *stage) mayBeStored(plan *reconcile.Plan, err error) {
	if !cluster.IsAmbiguous(err) || utilnet.IsConnectionRefused(err) {
		return
	}
	s.memory.update(s.uid, func(m *jobMemory) {
		u := unanswered{before: s.job}
		if m.unanswered != nil && m.unanswered.before.ResourceVersion == s.job.ResourceVersion {
			u = *m.unanswered
		}
		if len(u.plans) < maxUnanswered {
			u.plans = append(slices.Clone(u.plans), plan)
		}
		if decides(plan) {
			u.decided = s.config.Clock.Now()
		}
		m.unanswered = &u
	})
}

// storedStatus updates metrics and emits events once one of our status writes is known to be stored.
func (s *jobSync) storedStatus(before, stored *batchv1.Job, found *reconcile.Findings) {
	s.config.Metrics.StatusStored(before, stored, found.RecordedFailed)
	// The delay between the end of the last pod and the terminal condition is unknown if that pod ended before this
	// process started, or if there was no pod.
	if last := s.memory.get(s.uid).lastEnd; !last.IsZero() && reconcile.IsFinished(stored) {
		s.config.Metrics.JobFinished(stored, s.config.Clock.Since(last))
	}
	s.events().causes(found.RecordedFailed, found.RuleNames)
	s.events().stored(before, stored, found)
}

// settleUnanswered finds out what happened to a write without a response, from the Job that the watch or a read has
// shown since. Either the write was stored, and is reported like any other (JOB-50), or another client wrote first, and
// it was not stored. Until the Job has changed, the write may still arrive, and a new write competes with it.
func (s *jobSync) settleUnanswered() {
	u := s.memory.get(s.uid).unanswered
	if u == nil || s.job.ResourceVersion == u.before.ResourceVersion {
		return
	}
	at := slices.IndexFunc(u.plans, func(p *reconcile.Plan) bool { return sameAsStored(*p.Status, s.job.Status) })
	s.memory.update(s.uid, func(m *jobMemory) {
		m.unanswered = nil
		if at >= 0 {
			m.status, m.backoff, m.written = &s.job.Status, m.backoff.Merge(u.plans[at].Backoff), s.config.Clock.Now()
		}
	})
	if at >= 0 {
		s.storedStatus(u.before, s.job, &u.plans[at].Findings)
	}
}

// sameAsStored reports whether a status equals a stored status, whose times are in whole seconds.
func sameAsStored(sent, stored batchv1.JobStatus) bool {
	a, errA := json.Marshal(sent)
	b, errB := json.Marshal(stored)
	return errA == nil && errB == nil && string(a) == string(b)
}

// eventForeignStatus is the reason of the event about a foreign status write.
const eventForeignStatus = "StatusWrittenByOthers"

// noteForeignStatus reports that another client wrote the status of one of our Jobs since we did: a user who edited it,
// or a second controller, as on a cluster without spec.managedBy (MGB-16). Conditional writes keep the counts correct,
// but two controllers would keep undoing each other's work.
func (s *jobSync) noteForeignStatus(ctx context.Context) {
	s.config.Metrics.ForeignStatus()
	others := otherManagers(s.job)
	by := strings.Join(others, ", ")
	klog.FromContext(ctx).Info("Job status was written by another client", "job", klog.KObj(s.job), "managers", by)
	if len(others) == 0 {
		return // An earlier leader, whose last write arrived late.
	}
	s.events().emitOnce(eventForeignStatus, event{corev1.EventTypeWarning, eventForeignStatus, fmt.Sprintf(
		"Another client wrote the status of this Job (%s); if it is a second controller, the two undo each other's work", by)})
}

// otherManagers returns the field managers of the status except this program.
func otherManagers(job *batchv1.Job) (names []string) {
	for _, f := range job.ManagedFields {
		if f.Subresource == "status" && f.Manager != FieldManager && !slices.Contains(names, f.Manager) {
			names = append(names, f.Manager)
		}
	}
	return names
}
