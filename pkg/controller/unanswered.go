package controller

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// unanswered is a status write that may have been stored: its answer did not come.
type unanswered struct {
	before *batchv1.Job
	plan   *reconcile.Plan
}

// storedStatus tells metrics and events what a status of ours brought, once that is known
// to be stored.
func (s *jobSync) storedStatus(before, stored *batchv1.Job, findings []reconcile.Finding) {
	s.config.Metrics.statusStored(before, stored, findings)
	s.reportFinish(stored)
	s.sayCauses(findings, storedFailures)
	s.sayStored(before, stored, findings)
}

// settleUnanswered finds out what became of a write without an answer, from what the
// watch or a read has shown since: it was stored, and then it is told of as if the answer
// had come (JOB-50); or somebody else wrote first, and then it was not. Until the Job has
// changed, the write may still come through, and a new one competes with it.
func (s *jobSync) settleUnanswered() {
	u := s.memory.get(s.uid).unanswered
	if u == nil || s.job.ResourceVersion == u.before.ResourceVersion {
		return
	}
	ours := sameAsStored(*u.plan.Status, s.job.Status)
	s.memory.update(s.uid, func(m *jobMemory) {
		m.unanswered = nil
		if ours {
			m.status, m.backoff, m.written = &s.job.Status, u.plan.Backoff, s.config.Clock.Now()
		}
	})
	if ours {
		s.storedStatus(u.before, s.job, u.plan.Findings)
	}
}

// sameAsStored compares a status with a stored one, whose times have no fractions of a second.
func sameAsStored(sent, stored batchv1.JobStatus) bool {
	a, errA := json.Marshal(sent)
	b, errB := json.Marshal(stored)
	return errA == nil && errB == nil && string(a) == string(b)
}
