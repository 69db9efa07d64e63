package facts

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// Labels and annotations of deployment tools.
const (
	helmHook       = "helm.sh/hook"
	helmWeight     = "helm.sh/hook-weight"
	helmDeletion   = "helm.sh/hook-delete-policy"
	helmRelease    = "meta.helm.sh/release-name" // Hooks do not have it.
	managedByLabel = "app.kubernetes.io/managed-by"
	instanceLabel  = "app.kubernetes.io/instance"
	argoHook       = "argocd.argoproj.io/hook"
	argoWave       = "argocd.argoproj.io/sync-wave"
	argoTracking   = "argocd.argoproj.io/tracking-id" // APPLICATION:GROUP/KIND:NAMESPACE/NAME
	fluxKustomize  = "kustomize.toolkit.fluxcd.io/name"
	fluxRelease    = "helm.toolkit.fluxcd.io/name"
)

// ToolOf returns the deployment tool that creates the Job, nil if none is known. A Job with an owner comes from that.
func ToolOf(job *batchv1.Job) *explain.Tool {
	labels, annotations := job.Labels, job.Annotations
	application, _, _ := strings.Cut(annotations[argoTracking], ":")
	helm, weight := hooksIn(annotations[helmHook]), weightIn(annotations[helmWeight])
	switch {
	case OwnerOf(job) != nil:
		return nil
	case annotations[argoHook] != "":
		t := &explain.Tool{Name: explain.ToolArgoCD, Hooks: hooksIn(annotations[argoHook]), Weight: weightIn(annotations[argoWave])}
		return partOf(t, "Application", cmp.Or(application, labels[instanceLabel]))
	case application != "":
		return partOf(&explain.Tool{Name: explain.ToolArgoCD, Hooks: helm, Weight: weight}, "Application", application)
	case labels[fluxRelease] != "":
		return partOf(&explain.Tool{Name: explain.ToolFlux, Hooks: helm, Weight: weight}, "HelmRelease", labels[fluxRelease])
	case labels[fluxKustomize] != "":
		return partOf(&explain.Tool{Name: explain.ToolFlux}, "Kustomization", labels[fluxKustomize])
	case len(helm) > 0 || annotations[helmRelease] != "" || labels[managedByLabel] == "Helm":
		deletes := hooksIn(strings.ToLower(annotations[helmDeletion]))
		stays := annotations[helmDeletion] != "" && !slices.Contains(deletes, "before-hook-creation") && !slices.Contains(deletes, "hook-failed")
		t := &explain.Tool{Name: explain.ToolHelm, Hooks: helm, Weight: weight, Stays: len(helm) > 0 && stays, DeletesSucceeded: len(helm) > 0 && slices.Contains(deletes, "hook-succeeded")}
		return partOf(t, "release", cmp.Or(annotations[helmRelease], labels[instanceLabel], labels["release"]))
	case labels[managedByLabel] != "":
		return &explain.Tool{Name: explain.ToolName(labels[managedByLabel]), Operator: true}
	}
	return nil
}

func partOf(t *explain.Tool, kind, name string) *explain.Tool {
	if name != "" {
		t.Kind, t.Release = kind, name
	}
	return t
}

// patience is the time after which Helm has deleted a hook that succeeded, unless it runs other hooks.
const patience = time.Minute

// IsLeftHook reports whether the Job is a complete hook that Helm should have deleted.
func IsLeftHook(in *Facts) bool {
	t, end := ToolOf(in.Job), in.Job.Status.CompletionTime
	return t != nil && t.DeletesSucceeded && end != nil && in.Now.Sub(end.Time) >= patience
}

// helmTimeout is how long Helm waits for a hook by default.
const helmTimeout = 5 * time.Minute

// HelmGaveUp reports whether Helm no longer waits for the Job, which is its hook, unless its timeout was raised.
func HelmGaveUp(in *Facts) bool {
	t, start := ToolOf(in.Job), in.Job.Status.StartTime
	return t.IsHook() && t.Name == explain.ToolHelm && start != nil && in.Now.Sub(start.Time) > helmTimeout
}

// hookName matches a hook: annotations can hold anything.
var hookName = regexp.MustCompile(`^[A-Za-z][-A-Za-z]{0,29}$`)

// hooksIn returns the hooks in the value of an annotation.
func hooksIn(list string) (all []string) {
	for hook := range strings.SplitSeq(list, ",") {
		if hook = strings.TrimSpace(hook); hookName.MatchString(hook) {
			all = append(all, hook)
		}
	}
	return all[:min(len(all), 4)]
}

func weightIn(value string) int32 {
	weight, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 32)
	return int32(weight)
}
