package lint

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// checkExitCodeValues finds exit codes that no container has, or that are never compared.
func checkExitCodeValues(r *review) {
	for i, on := range r.onExitCodes() {
		path := r.rulePath(i).Child("onExitCodes", "values")
		for j, code := range on.Values {
			switch {
			case code == 0 && on.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && len(on.Values) > 1:
				r.add(Info, "zero-never-compared", path.Index(j), "remove it", "0 has no effect: containers that succeed are never checked")
			case code < 0 || code > 255:
				r.add(Info, "exit-code-unusual", path.Index(j), "use 1 to 255 for containers on Linux", "no container on Linux has exit code %d", code)
			}
		}
	}
}

// codesToTry returns exit codes other than 0 that stand for all: those that rules list, those of signals, and one that no rule lists.
func codesToTry(rules []batchv1.PodFailurePolicyRule) []int32 {
	all := []int32{exitKilled, exitTerminated}
	for i := range rules {
		if rules[i].OnExitCodes != nil {
			all = append(all, rules[i].OnExitCodes.Values...)
		}
	}
	slices.Sort(all)
	all = append(all, all[len(all)-1]+1)
	return slices.DeleteFunc(slices.Compact(all), func(code int32) bool { return code == 0 })
}

// matches reports whether a rule matches a container that ends with a code other than 0.
func matches(rule *batchv1.PodFailurePolicyRule, container string, code int32) bool {
	on := rule.OnExitCodes
	if !hasExitCodes(rule) || on.ContainerName != nil && *on.ContainerName != container {
		return false
	}
	_, listed := slices.BinarySearch(on.Values, code) // they increase, or the API server rejects the rule
	return listed == (on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn)
}

// checkExitCodesCovered finds rules, and exit codes of rules, that earlier rules always match first. A pod matches if
// any of its containers matches, so a rule without containerName applies to each of them.
func checkExitCodesCovered(r *review) {
	rules, containers := r.rules(), r.containersToTry()
	for i, on := range r.onExitCodes() {
		covering, left := coveringRules(rules, i, containers), firstMatches(rules, i, containers)
		switch {
		case covering == "": // also a rule that matches nothing
		case len(left) == 0:
			r.addNeverMatches(i, covering)
		case on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn:
			for j, code := range on.Values {
				if code != 0 && !left[code] {
					r.add(Info, "exit-code-never-reached", r.rulePath(i).Child("onExitCodes", "values").Index(j), "remove it from one of the rules",
						"exit code %d is matched by an earlier rule", code)
				}
			}
		}
	}
}

// hasExitCodes reports whether the rule has valid onExitCodes.
func hasExitCodes(rule *batchv1.PodFailurePolicyRule) bool {
	on := rule.OnExitCodes
	if on == nil {
		return false
	}
	known := on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn || on.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn
	return known && len(on.Values) > 0 && len(on.Values) <= jobspec.MaxExitCodes
}

// containersToTry returns the names of containers that stand for all: those that rules name, and one that no rule names.
func (r *review) containersToTry() []string {
	named, other := map[string]bool{}, false
	for _, on := range r.onExitCodes() {
		if on.ContainerName != nil {
			named[*on.ContainerName] = true
		}
	}
	return slices.DeleteFunc(apirules.ContainerNames(&r.spec.Template.Spec), func(name string) bool {
		if named[name] {
			named[name] = false // once is enough
			return false
		}
		again := other
		other = true
		return again
	})
}

// firstMatches returns codes with which a container, any of these, ends such that rule i is the first that matches.
func firstMatches(rules []batchv1.PodFailurePolicyRule, i int, containers []string) map[int32]bool {
	codes := map[int32]bool{}
	for _, code := range codesToTry(rules) {
		for _, container := range containers {
			if !codes[code] && slices.IndexFunc(rules, func(r batchv1.PodFailurePolicyRule) bool { return matches(&r, container, code) }) == i {
				codes[code] = true
			}
		}
	}
	return codes
}

// coveringRules names the rules before rule i that share a code with it, for a container that both apply to.
func coveringRules(rules []batchv1.PodFailurePolicyRule, i int, containers []string) string {
	var names []string
	codes := codesToTry(rules)
	for j := range rules[:i] {
		if slices.ContainsFunc(containers, func(container string) bool {
			return slices.ContainsFunc(codes, func(code int32) bool {
				return matches(&rules[i], container, code) && matches(&rules[j], container, code)
			})
		}) {
			names = append(names, fmt.Sprintf("rule %d", j))
		}
	}
	return strings.Join(names, " and ")
}
