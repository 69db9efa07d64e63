package controller

import (
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

// otherCauses stands for the causes that are too many to be told one by one.
const otherCauses = "Pods failed for more causes than have an event of their own; this one counts the others."

func causeMessage(cause, example string) string { return cause + ". First in pod " + example }

// storedFailures chooses the findings on pods whose failure a status records.
func storedFailures(f *reconcile.Finding) bool {
	return f.Kind == reconcile.FindingRecorded && f.Reason == reconcile.ReasonFailed
}

// sayCauses counts the failures that the chosen findings are about, by their cause.
func (s *jobSync) sayCauses(findings []reconcile.Finding, chosen func(*reconcile.Finding) bool) {
	if s.config.Recorder == nil {
		return
	}
	pods := map[string][]string{}
	names := s.ruleNames()
	for i := range findings {
		if f := &findings[i]; chosen(f) {
			text := causeOf(f, names)
			pods[text] = append(pods[text], f.Pod)
		}
	}
	for _, text := range slices.Sorted(maps.Keys(pods)) {
		example, n := slices.Min(pods[text]), len(pods[text])
		if a, is := s.config.Recorder.(aggregator); is {
			a.failures(s.job, text, example, n)
		} else {
			s.say(event{corev1.EventTypeWarning, eventPodFailed, causeMessage(text, example)})
		}
	}
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

// causeOf says why a pod failed, and what the podFailurePolicy makes of it.
func causeOf(f *reconcile.Finding, names rulename.Names) string {
	return cause.Of(f.Observed, f.Match).Text(names)
}
