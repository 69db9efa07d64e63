package controller

import (
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// unanswered are status writes to one version of a Job that got no answer: one of them may
// have been stored. Each try has its own timestamps, so each is kept.
type unanswered struct {
	before *batchv1.Job
	plans  []*reconcile.Plan
}

// maxUnanswered is more than the number of tries before a Job's watch recovers.
const maxUnanswered = 16

// mayBeStored remembers a write without an answer, unless it cannot have reached the API server.
func (s *stage) mayBeStored(plan *reconcile.Plan, err error) {
	if !cluster.IsAmbiguous(err) || utilnet.IsConnectionRefused(err) {
		return
	}
	s.memory.update(s.uid, func(m *jobMemory) {
		u := m.unanswered
		switch {
		case u == nil || u.before.ResourceVersion != s.job.ResourceVersion:
			m.unanswered = &unanswered{s.job, []*reconcile.Plan{plan}}
		case len(u.plans) < maxUnanswered:
			m.unanswered = &unanswered{u.before, append(slices.Clone(u.plans), plan)}
		}
	})
}

// storedStatus updates metrics and emits events once a status of ours is known to be
// stored.
func (s *jobSync) storedStatus(before, stored *batchv1.Job, found *reconcile.Findings) {
	s.config.Metrics.StatusStored(before, stored, found.RecordedFailed)
	s.reportFinish(stored)
	s.emitCauses(found.RecordedFailed, found.RuleNames)
	s.emitStored(before, stored, found)
}

// settleUnanswered finds out what happened to a write without an answer, from what the
// watch or a read has shown since: it was stored, and is then reported like any other
// (JOB-50); or someone else wrote first, and it was not. Until the Job has changed, the
// write may still arrive, and a new one competes with it.
func (s *jobSync) settleUnanswered() {
	u := s.memory.get(s.uid).unanswered
	if u == nil || s.job.ResourceVersion == u.before.ResourceVersion {
		return
	}
	at := slices.IndexFunc(u.plans, func(p *reconcile.Plan) bool { return sameAsStored(*p.Status, s.job.Status) })
	s.memory.update(s.uid, func(m *jobMemory) {
		m.unanswered = nil
		if at >= 0 {
			m.status, m.backoff, m.written = &s.job.Status, u.plans[at].Backoff, s.config.Clock.Now()
		}
	})
	if at >= 0 {
		s.storedStatus(u.before, s.job, &u.plans[at].Findings)
	}
}

// sameAsStored compares a status with a stored one, whose times are in whole seconds.
func sameAsStored(sent, stored batchv1.JobStatus) bool {
	a, errA := json.Marshal(sent)
	b, errB := json.Marshal(stored)
	return errA == nil && errB == nil && string(a) == string(b)
}
