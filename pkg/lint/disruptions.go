package lint

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	exitKilled     = 137 // by SIGKILL
	exitTerminated = 143 // by SIGTERM
)

// checkDisruptions finds rules on exit codes that match pods before the rule for disruptions can: a pod that is
// preempted, evicted or drained has the condition DisruptionTarget, and its containers end with the exit code of the
// signal that stopped them (KEP-3329).
func checkDisruptions(r *review) {
	rules, containers := r.rules(), r.containersToTry()
	disruptions := slices.IndexFunc(rules, func(rule batchv1.PodFailurePolicyRule) bool {
		return slices.ContainsFunc(rule.OnPodConditions, func(c batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			return c.Type == corev1.DisruptionTarget && statusOf(c) == corev1.ConditionTrue
		})
	})
	for i := range rules {
		if disruptions >= 0 && i > disruptions {
			return
		}
		// A rule after another one for the same exit code never matches disruptions.
		if codes := firstMatches(rules, i, containers); rules[i].Action == batchv1.PodFailurePolicyActionIgnore || !codes[exitKilled] && !codes[exitTerminated] {
			continue
		}
		if disruptions >= 0 {
			if rules[disruptions].Action != rules[i].Action {
				r.add(Warning, "disruption-rule-too-late", r.rulePath(i), "move the rule for DisruptionTarget to the beginning of the rules",
					"rule %d also matches preempted or evicted pods, which exit with %d or %d, so rule %d, which is meant for them, never applies", i, exitKilled, exitTerminated, disruptions)
			}
			continue
		}
		// Without a rule for disruptions, only rules that end more than the pod are reported.
		ends := map[batchv1.PodFailurePolicyAction]string{
			batchv1.PodFailurePolicyActionFailJob:   "the Job fails",
			batchv1.PodFailurePolicyActionFailIndex: "the index fails",
		}[rules[i].Action]
		if ends != "" {
			r.add(Info, "disruption-not-ignored", r.rulePath(i), "add a first rule with action Ignore for the condition DisruptionTarget",
				"%s also when a pod is preempted or evicted: its containers exit with %d or %d, which rule %d matches", ends, exitKilled, exitTerminated, i)
		}
	}
}

// checkSignalsIgnored finds rules that ignore the exit codes of signals. They are intended for disruptions, but a
// container that exceeds its memory limit also ends by SIGKILL, and would be replaced forever.
func checkSignalsIgnored(r *review) {
	for i, on := range r.onExitCodes() {
		if r.rules()[i].Action != batchv1.PodFailurePolicyActionIgnore || on.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn {
			continue
		}
		for j, code := range on.Values {
			why := map[int32]string{
				exitKilled:     "a container that runs out of memory exits with 137, too, and its failures would be ignored",
				exitTerminated: "exit code 143 is that of any SIGTERM, also of a failed probe, and these failures would be ignored",
			}[code]
			if why != "" {
				r.add(Warning, "signal-ignored", r.rulePath(i).Child("onExitCodes", "values").Index(j), "ignore the condition DisruptionTarget instead, with onPodConditions", "%s", why)
			}
		}
	}
}
