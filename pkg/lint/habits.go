package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/command"
)

// eachContainer calls check for all containers of the template, with their list and index.
func (r *review) eachContainer(check func(list string, i int, c *corev1.Container)) {
	pod := &r.spec.Template.Spec
	for i := range pod.Containers {
		check("containers", i, &pod.Containers[i])
	}
	for i := range pod.InitContainers {
		check("initContainers", i, &pod.InitContainers[i])
	}
}

// checkShellSyntax finds commands in the syntax of a shell that no shell reads.
func checkShellSyntax(r *review) {
	r.eachContainer(func(list string, i int, c *corev1.Container) {
		place, found := command.ShellSyntax(c)
		fix, message := `use command: ["sh", "-c"], and write all of it as one item of args`, "no shell reads this command, so %q is an argument like any other"
		switch {
		case !found:
			return
		case place.Field == "command" && place.Index == 0:
			fix, message = "write each word as an item of its own", "no shell reads this command, so the container looks for a program whose name is %q"
		}
		r.add(Warning, "shell-syntax-without-shell", r.specPath("template", "spec", list).Index(i).Child(place.Field).Index(place.Index), fix, message, shorten(place.Text))
	})
}

// checkEnvTwice finds variables that are set twice: the last value counts.
func checkEnvTwice(r *review) {
	r.eachContainer(func(list string, i int, c *corev1.Container) {
		first := map[string]bool{}
		for j, v := range c.Env {
			if first[v.Name] && v.Name != "" {
				r.add(Warning, "env-twice", r.specPath("template", "spec", list).Index(i).Child("env").Index(j).Child("name"), "remove one of them",
					"variable %q is set twice, and the last value counts", shorten(v.Name))
			}
			first[v.Name] = true
		}
	})
}

// checkSpread finds spread constraints over a label that no node can have: the API server accepts them.
func checkSpread(r *review) {
	for i, c := range r.spec.Template.Spec.TopologySpreadConstraints {
		if c.TopologyKey != "" && len(validation.IsQualifiedName(c.TopologyKey)) > 0 {
			r.add(Warning, "spread-over-nothing", r.specPath("template", "spec", "topologySpreadConstraints").Index(i).Child("topologyKey"),
				"write the key of a label of nodes, such as kubernetes.io/hostname", "%q cannot be the key of a label, so no node has it", shorten(c.TopologyKey))
		}
	}
}

// hasVersion matches names that change with the content of a Job: they end in a hash, a number or a date.
var hasVersion = regexp.MustCompile(`(?:^|[-.])(?:v?[0-9][0-9.-]*|[0-9a-f]*[0-9][0-9a-f]*)$`)

// checkImmutable finds Jobs that Helm or Argo CD updates in place, which fails if their template has changed and
// they still exist.
func checkImmutable(r *review) {
	if r.path != nil || r.meta.GenerateName != "" || hasVersion.MatchString(r.meta.Name) || r.spec.TTLSecondsAfterFinished != nil {
		return
	}
	tool := ""
	if r.rendered || r.meta.Labels["helm.sh/chart"] != "" || r.meta.Labels["app.kubernetes.io/managed-by"] == "Helm" {
		tool = "helm upgrade"
	}
	for _, key := range slices.Sorted(maps.Keys(r.meta.Annotations)) {
		switch value := r.meta.Annotations[key]; {
		case key == "helm.sh/hook", key == "argocd.argoproj.io/hook", strings.Contains(value, "Replace=true"), strings.Contains(value, "Force=true"):
			return
		case strings.HasPrefix(key, "argocd.argoproj.io/"):
			tool = "the sync of Argo CD"
		}
	}
	if tool != "" {
		r.add(Info, "template-immutable", r.jobPath("metadata", "name"), "make it a hook (helm.sh/hook, argocd.argoproj.io/hook), or let the name change with the template, as with a hash",
			"the pod template of a Job cannot change, so %s fails when it does while this Job exists", tool)
	}
}
