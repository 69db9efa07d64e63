package controller

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/failurepolicy"
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
			cause := causeOf(f, names, s.job.Spec.PodFailurePolicy != nil)
			pods[cause] = append(pods[cause], f.Pod)
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(pods)) {
		example, n := slices.Min(pods[cause]), len(pods[cause])
		if a, is := s.config.Recorder.(aggregator); is {
			a.failures(s.job, cause, example, n)
		} else {
			s.say(event{corev1.EventTypeWarning, eventPodFailed, causeMessage(cause, example)})
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

// causeOf says why a pod failed, and what the podFailurePolicy makes of it, in the same
// words for all pods that failed so.
func causeOf(f *reconcile.Finding, names rulename.Names, judged bool) string {
	m := f.Match
	cause := evidenceOf(f)
	switch {
	case m != nil && m.Matched():
		name := names.Name(m.Rule)
		if name != "" {
			name = ` "` + name + `"`
		}
		return fmt.Sprintf("%s; rule %d%s of the podFailurePolicy matched: %s", cause, m.Rule, name, m.Action)
	case judged && m != nil:
		return cause + "; no rule of the podFailurePolicy matched"
	}
	return cause
}

// evidenceOf is what the rule matched; without one, the first container that failed, and
// whether the pod was disrupted, which may be why.
func evidenceOf(f *reconcile.Finding) string {
	p := f.Observed
	if m := f.Match; m != nil && m.Matched() {
		if m.Condition != "" {
			return conditionText(m.Condition)
		}
		return exitText(p, m.Container, m.ExitCode)
	}
	failed := slices.IndexFunc(p.Terminated, func(c failurepolicy.Container) bool { return c.ExitCode != 0 })
	disrupted := slices.Contains(p.Conditions, failurepolicy.Condition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
	switch {
	case failed >= 0 && disrupted:
		return exitText(p, p.Terminated[failed].Name, p.Terminated[failed].ExitCode) + ", and the pod has condition " + string(corev1.DisruptionTarget)
	case failed >= 0:
		return exitText(p, p.Terminated[failed].Name, p.Terminated[failed].ExitCode)
	case disrupted:
		return conditionText(corev1.DisruptionTarget)
	case !p.IsTerminal():
		return "Pod was deleted before it ended"
	}
	if p.FailReason != "" {
		return "Pod failed: " + p.FailReason
	}
	return "Pod failed, and no container tells why"
}

func conditionText(condition corev1.PodConditionType) string {
	return "Pod has condition " + string(condition)
}

// exitText tells of a container that failed. The reason that its runtime gave is there if
// it says more than the exit code; that the pod is being deleted, because the end of such
// a pod is no fault of what runs in it.
func exitText(p *reconcile.Pod, container string, code int32) string {
	text := fmt.Sprintf("Container %s exited with code %d", container, code)
	for _, c := range p.Terminated {
		if c.Name == container && c.ExitCode == code && c.Reason != "" && c.Reason != "Error" && c.Reason != "Completed" {
			text += " (" + c.Reason + ")"
		}
	}
	if p.Deleting {
		text += " while its pod was being deleted"
	}
	return text
}
