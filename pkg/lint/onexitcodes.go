package lint

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

const maxExitCodes = 255

func checkOnExitCodes(r *review) {
	names, rules := r.containers(), r.rules()
	for i := range rules {
		on := rules[i].OnExitCodes
		if on == nil {
			continue
		}
		path := r.rulePath(i).Child("onExitCodes")
		r.oneOf("operator-unknown", path.Child("operator"), string(on.Operator),
			string(batchv1.PodFailurePolicyOnExitCodesOpIn), string(batchv1.PodFailurePolicyOnExitCodesOpNotIn))
		if on.ContainerName != nil && !slices.Contains(names, *on.ContainerName) {
			r.reject("container-unknown", path.Child("containerName"), "use the name of a container or init container in the template",
				"there is no container %q; %s", *on.ContainerName, available(names))
		}
		switch n := len(on.Values); {
		case n == 0:
			r.reject("no-exit-codes", path.Child("values"), "add at least one exit code", "onExitCodes has no values")
		case n > maxExitCodes:
			r.reject("too-many-exit-codes", path.Child("values"), "use the other operator", "there are %d values, but at most %d are allowed", n, maxExitCodes)
		}
	}
}

func available(containers []string) string {
	if len(containers) == 0 {
		return "there are no containers"
	}
	return "the template has " + shorten(strings.Join(containers, ", "))
}

func checkExitCodeValues(r *review) {
	rules := r.rules()
	for i := range rules {
		if rules[i].OnExitCodes != nil {
			r.checkValues(i, rules[i].OnExitCodes)
		}
	}
}

func (r *review) checkValues(i int, on *batchv1.PodFailurePolicyOnExitCodesRequirement) {
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
