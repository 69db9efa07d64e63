package facts

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Slack is how long an end of a pod may wait for its controller: the built-in one gathers them for a second, and works in
// seconds where it is busy.
const Slack = 30 * time.Second

// IsOverdue reports whether a finished pod ended a while ago, and holds the tracking finalizer.
func (in *Facts) IsOverdue(p *explain.Pod) bool {
	return p.Finalizer && !p.FinishedAt.IsZero() && in.Now.Sub(p.FinishedAt) >= Slack
}

// LastStatusWrite is who wrote the status of the Job last, and when; nil if that is not known.
func LastStatusWrite(job *batchv1.Job) (string, *metav1.Time) {
	var last *metav1.ManagedFieldsEntry
	for i := range job.ManagedFields {
		f := &job.ManagedFields[i]
		if f.Subresource == "status" && !f.Time.IsZero() && (last == nil || last.Time.Before(f.Time)) {
			last = f
		}
	}
	if last == nil {
		return "", nil
	}
	return last.Manager, last.Time
}

// SuspendedBy is the field manager that last set spec.suspend, "" if it is not known.
func (in *Facts) SuspendedBy() string {
	var manager string
	var last *metav1.Time
	for i := range in.Job.ManagedFields {
		f := &in.Job.ManagedFields[i]
		if f.FieldsV1 == nil || f.Subresource != "" || !strings.Contains(f.FieldsV1.GetRawString(), `"f:suspend"`) {
			continue
		}
		if last == nil || f.Time != nil && last.Before(f.Time) {
			manager, last = f.Manager, f.Time
		}
	}
	return manager
}
