package controller

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// eventPodFailed is the reason of the one event that a cause of failures has, and that
// outlives the pods.
const eventPodFailed = "PodFailed"

// storedFailures chooses the findings on pods whose failure a status records.
func storedFailures(f *reconcile.Finding) bool {
	return f.Kind == reconcile.FindingRecorded && f.Reason == reconcile.ReasonFailed
}

// sayCauses counts the failures that the chosen findings are about, by their cause.
func (s *jobSync) sayCauses(findings []reconcile.Finding, chosen func(*reconcile.Finding) bool) {
	if s.config.Recorder == nil {
		return
	}
	pods := map[cause.Cause][]string{}
	names := s.ruleNames()
	for i := range findings {
		if f := &findings[i]; chosen(f) {
			c := cause.Of(f.Observed, f.Match, names)
			pods[c] = append(pods[c], f.Pod)
		}
	}
	byText := func(a, b cause.Cause) int { return cmp.Compare(a.Text(), b.Text()) }
	for _, c := range slices.SortedFunc(maps.Keys(pods), byText) {
		record, n := cause.Record{Cause: c, Pod: slices.Min(pods[c])}, len(pods[c])
		if a, is := s.config.Recorder.(aggregator); is {
			a.failures(s.job, record, n)
		} else {
			s.config.Recorder.AnnotatedEventf(s.job, annotationsOf(&record), corev1.EventTypeWarning, eventPodFailed, "%s", cutMessage(record.Message()))
		}
	}
}

// annotationsOf are those of an event about failed pods; nil for other events.
func annotationsOf(r *cause.Record) map[string]string {
	if r == nil {
		return nil
	}
	return map[string]string{cause.Annotation: r.String()}
}

// ruleNames are the names of the rules of the podFailurePolicy (KEP-4443).
func (s *jobSync) ruleNames() rulename.Names {
	policy := s.job.Spec.PodFailurePolicy
	if policy == nil || !s.config.Limits.Features.RuleNames {
		return nil
	}
	names, _ := rulename.Resolve(s.cache.RuleNames(s.uid), s.job.Annotations[rulename.Annotation], len(policy.Rules))
	return names
}
