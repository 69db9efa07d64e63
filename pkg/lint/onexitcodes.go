package lint

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/apirules"
)

func checkOnExitCodes(r *review) {
	names := containerNames(&r.spec.Template.Spec)
	for i, on := range r.onExitCodes() {
		if on.ContainerName != nil && !slices.Contains(names, *on.ContainerName) {
			r.reject("container-unknown", r.rulePath(i).Child("onExitCodes", "containerName"), "use the name of a container or init container in the template",
				"there is no container %q; %s", *on.ContainerName, listContainers(names))
		}
	}
}

func listContainers(containers []string) string {
	if len(containers) == 0 {
		return "there are no containers"
	}
	return "the template has " + shorten(strings.Join(containers, ", "))
}

func checkExitCodeValues(r *review) {
	for i, on := range r.onExitCodes() {
		path := r.rulePath(i).Child("onExitCodes", "values")
		if !slices.IsSorted(on.Values) {
			r.reject("exit-codes-not-sorted", path, "sort them", "exit codes must increase")
		}
		seen := map[int32]bool{}
		for j, code := range on.Values {
			switch {
			case seen[code]:
				r.reject("exit-code-twice", path.Index(j), "remove it", "exit code %d is listed twice", code)
			case code == 0 && on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn:
				r.reject("exit-code-zero", path.Index(j), "remove it", "0 means success and is not allowed with In")
			case code == 0 && on.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn && len(on.Values) > 1:
				r.add(Info, "zero-never-compared", path.Index(j), "remove it", "0 has no effect: containers that succeed are never checked")
			case code < 0 || code > 255:
				r.add(Info, "exit-code-unusual", path.Index(j), "use 1 to 255 for containers on Linux", "no container on Linux has exit code %d", code)
			}
			seen[code] = true
		}
	}
}

// codeSet is a set of exit codes other than 0: the listed codes, or all except the listed ones.
type codeSet struct {
	allBut bool
	codes  map[int32]bool
}

func codesOf(on *batchv1.PodFailurePolicyOnExitCodesRequirement) codeSet {
	s := codeSet{allBut: on.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn, codes: map[int32]bool{}}
	for _, code := range on.Values {
		if code != 0 {
			s.codes[code] = true
		}
	}
	return s
}

func (s codeSet) has(code int32) bool { return s.codes[code] != s.allBut }

// minus returns the codes that are not in t.
func (s codeSet) minus(t codeSet) codeSet {
	left := codeSet{allBut: s.allBut && !t.allBut, codes: map[int32]bool{}}
	for _, list := range []map[int32]bool{s.codes, t.codes} {
		for code := range list {
			if in := s.has(code) && !t.has(code); in != left.allBut {
				left.codes[code] = true
			}
		}
	}
	return left
}

func (s codeSet) isEmpty() bool { return !s.allBut && len(s.codes) == 0 }

// checkExitCodesCovered finds rules, and exit codes of rules, that earlier rules always match first. A pod matches if
// any of its containers matches, so a rule without containerName applies to each of them.
func checkExitCodesCovered(r *review) {
	rules, containers := r.rules(), containerNames(&r.spec.Template.Spec)
	for i, on := range r.onExitCodes() {
		left := unmatchedCodes(rules, i, containers)
		switch {
		case len(left) == 0: // invalid, no such container, or none at all
		case !slices.ContainsFunc(left, func(s codeSet) bool { return !s.isEmpty() }):
			if !codesOf(on).isEmpty() { // In [0] is rejected
				r.addNeverMatches(i, coveringRules(rules, i, containers))
			}
		case on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn:
			for j, code := range on.Values {
				if code != 0 && !slices.ContainsFunc(left, func(s codeSet) bool { return s.has(code) }) {
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
	return known && len(on.Values) > 0 && len(on.Values) <= apirules.MaxExitCodes
}

// containerNames returns the valid values of onExitCodes.containerName.
func containerNames(pod *corev1.PodSpec) []string {
	var names []string
	for _, list := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// unmatchedCodes returns, for each container that rule i applies to, the codes of the rule that no earlier rule matches; nil if
// the rule has no valid exit codes.
func unmatchedCodes(rules []batchv1.PodFailurePolicyRule, i int, containers []string) []codeSet {
	var all []codeSet
	if !hasExitCodes(&rules[i]) {
		return nil
	}
	for _, container := range containers {
		if !appliesTo(rules[i].OnExitCodes, container) {
			continue
		}
		left := codesOf(rules[i].OnExitCodes)
		for j := range rules[:i] {
			if hasExitCodes(&rules[j]) && appliesTo(rules[j].OnExitCodes, container) {
				left = left.minus(codesOf(rules[j].OnExitCodes))
			}
		}
		all = append(all, left)
	}
	return all
}

func appliesTo(on *batchv1.PodFailurePolicyOnExitCodesRequirement, container string) bool {
	return on.ContainerName == nil || *on.ContainerName == container
}

// coveringRules names the rules before rule i that share a code with it, for a container that both apply to.
func coveringRules(rules []batchv1.PodFailurePolicyRule, i int, containers []string) string {
	var names []string
	wanted := codesOf(rules[i].OnExitCodes)
	for j := range rules[:i] {
		if !hasExitCodes(&rules[j]) {
			continue
		}
		on := rules[j].OnExitCodes
		shared := slices.ContainsFunc(containers, func(name string) bool { return appliesTo(rules[i].OnExitCodes, name) && appliesTo(on, name) })
		rest := wanted.minus(codesOf(on))
		if shared && (rest.allBut != wanted.allBut || len(rest.codes) != len(wanted.codes)) {
			names = append(names, fmt.Sprintf("rule %d", j))
		}
	}
	return strings.Join(names, " and ")
}
