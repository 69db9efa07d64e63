package lint

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/apirules"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/command"
)

// RuleMatchesSidecars is the ID of findings about rules that match the exit of a sidecar.
const RuleMatchesSidecars = "rule-matches-sidecars"

// checkSidecarsMatch finds rules on exit codes that name no container, in a Job with native sidecars: they also match
// the exit of a sidecar, which hides how the other containers ended.
func checkSidecarsMatch(r *review) {
	var sidecars []string
	for i := range r.spec.Template.Spec.InitContainers {
		if c := &r.spec.Template.Spec.InitContainers[i]; apirules.IsSidecar(c) {
			sidecars = append(sidecars, c.Name)
		}
	}
	if len(sidecars) == 0 {
		return
	}
	for i, on := range r.onExitCodes() {
		rule := &r.rules()[i]
		if on.ContainerName != nil || !hasExitCodes(rule) || rule.Action == batchv1.PodFailurePolicyActionCount {
			continue
		}
		severity, why := Info, "a sidecar that fails"
		// A sidecar that does not stop on its own ends by SIGTERM, or by SIGKILL after the grace period.
		if matches(rule, "", exitTerminated) || matches(rule, "", exitKilled) {
			severity, why = Warning, "a sidecar that is stopped at the end of its pod"
		}
		r.add(severity, RuleMatchesSidecars, r.rulePath(i).Child("onExitCodes"), "add containerName with the container that does the work",
			"the rule has no containerName, so %s (%s) matches it, and hides how the other containers failed", why, shorten(strings.Join(sidecars, ", ")))
	}
}

// checkNeverEnds finds containers that run until they are stopped. A pod succeeds when all of its containers except
// sidecars have ended (KEP-753).
func checkNeverEnds(r *review) {
	containers := r.spec.Template.Spec.Containers
	sharedProcesses := ptr.Deref(r.spec.Template.Spec.ShareProcessNamespace, false)
	stops := func(c corev1.Container) bool {
		return command.StopsServers(&c, sharedProcesses)
	}
	for i := range containers {
		container, path := &containers[i], r.specPath("template", "spec", "containers").Index(i)
		endless := command.Endless(container)
		what := cmp.Or(endless, command.Server(container))
		switch {
		case what == "" || slices.ContainsFunc(containers, stops):
		case len(containers) > 1:
			r.add(Warning, "container-never-ends", path, "move it to initContainers, with restartPolicy: Always: a sidecar ends with the other containers",
				"container %q (%s) does not end when the others have ended, so the pod never succeeds", shorten(container.Name), what)
		case endless != "" && !r.hasDeadline():
			r.add(Warning, "container-never-ends", path, "use a command that ends, or add activeDeadlineSeconds",
				"container %q (%s) never ends, so the Job never completes", shorten(container.Name), what)
		}
	}
}
