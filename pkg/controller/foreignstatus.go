package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// eventForeignStatus is the reason of the event about a foreign status write.
const eventForeignStatus = "StatusWrittenByOthers"

// noteForeignStatus reports that someone else wrote the status of one of our Jobs since we
// did: a user who edited it, or a second controller, as on a cluster without spec.managedBy
// (MGB-16). Conditional writes keep the counts correct, but two controllers would keep
// undoing each other's work.
func (s *jobSync) noteForeignStatus(ctx context.Context) {
	s.config.Metrics.foreignStatus()
	others := otherManagers(s.job)
	by := strings.Join(others, ", ")
	klog.FromContext(ctx).Info("Job status was written by another client", "job", klog.KObj(s.job), "managers", by)
	if len(others) == 0 {
		return // An earlier leader, whose last write arrived late.
	}
	s.emitOnce(eventForeignStatus, event{corev1.EventTypeWarning, eventForeignStatus, fmt.Sprintf(
		"Another client wrote the status of this Job (%s); if it is a second controller, the two undo each other's work", by)})
}

// otherManagers returns the field managers of the status other than this program.
func otherManagers(job *batchv1.Job) (names []string) {
	for _, f := range job.ManagedFields {
		if f.Subresource == "status" && f.Manager != FieldManager && !slices.Contains(names, f.Manager) {
			names = append(names, f.Manager)
		}
	}
	return names
}
