package suite

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// Evidence is everything that was stored while the other cases ran.
type Evidence struct {
	log
	// Versions are the versions of the Jobs under test and their pods.
	Versions []history.Version
	// Violations are the violations that the invariant checker found in Versions.
	Violations []invariants.Violation
}

// evidence returns the evidence that all checks examine.
func (s *Suite) evidence() Evidence {
	e := Evidence{Versions: s.underTest()}
	if _, err := s.recorder.Changes(); err != nil {
		e.Errorf("the record of what happens is complete", "%v", err)
		return e
	}
	e.Violations = slices.Concat(invariants.Check(e.Versions), invariants.AtRest(e.Versions))
	return e
}

// check runs a check. If the record is incomplete, the case has failed already.
func (e Evidence) check(c Case) Result {
	began := time.Now()
	if len(e.problems) == 0 {
		c.Check(&e)
	}
	return e.result(c, time.Since(began))
}

// underTest returns the versions of the Jobs under test and their pods, without the fields that make the checker more
// lenient or stricter with certain controllers: every controller is judged as an unknown one.
func (s *Suite) underTest() []history.Version {
	versions := s.recorder.Versions()
	foreign := map[string]bool{}
	for i, v := range versions {
		if v.Job == nil {
			continue
		}
		if ptr.Deref(v.Job.Spec.ManagedBy, "") != s.ManagedBy {
			foreign[string(v.Job.UID)] = true
		}
		job := v.Job.DeepCopy()
		job.ManagedFields, job.Spec.ManagedBy = nil, nil
		versions[i].Job = job
	}
	return slices.DeleteFunc(versions, func(v history.Version) bool {
		uid := string(v.Object().GetUID())
		if v.Pod != nil {
			uid = string(history.JobOf(v.Pod))
		}
		return foreign[uid]
	})
}

// Jobs returns the last version of each Job.
func (e *Evidence) Jobs() []*batchv1.Job {
	last := map[string]*batchv1.Job{}
	for _, v := range e.Versions {
		if v.Job != nil {
			last[string(v.Job.UID)] = v.Job
		}
	}
	jobs := make([]*batchv1.Job, 0, len(last))
	for _, job := range last {
		jobs = append(jobs, job)
	}
	return jobs
}
