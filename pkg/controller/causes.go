package controller

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/eventwriter"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// eventPodFailed is the reason of the event about a cause of failures: one per cause, which
// outlives the pods.
const eventPodFailed = "PodFailed"

// emitCauses counts failed pods by the cause of their failure, in events.
func (s *jobSync) emitCauses(failed []reconcile.FailedPod, names rulename.Names) {
	if s.config.Recorder == nil {
		return
	}
	pods := map[cause.Cause][]string{}
	for _, f := range failed {
		c := cause.Of(f.Pod, f.Match, names)
		pods[c] = append(pods[c], f.Pod.Name)
	}
	byText := func(a, b cause.Cause) int { return cmp.Compare(a.Text(), b.Text()) }
	for _, c := range slices.SortedFunc(maps.Keys(pods), byText) {
		record, n := cause.Record{Cause: c, Pod: slices.Min(pods[c])}, len(pods[c])
		if a, is := s.config.Recorder.(aggregator); is {
			a.Failures(s.job, eventPodFailed, record, n)
		} else {
			s.config.Recorder.AnnotatedEventf(s.job, record.Annotations(), corev1.EventTypeWarning, eventPodFailed, "%s", eventwriter.Truncate(record.Message()))
		}
	}
}
