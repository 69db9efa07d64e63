package facts

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Labels and annotations of deployment tools.
const (
	helmHook      = "helm.sh/hook"
	helmWeight    = "helm.sh/hook-weight"
	helmDeletion  = "helm.sh/hook-delete-policy"
	helmRelease   = "meta.helm.sh/release-name" // Hooks do not have it.
	instanceLabel = "app.kubernetes.io/instance"
	argoHook      = "argocd.argoproj.io/hook"
	argoWave      = "argocd.argoproj.io/sync-wave"
	argoInstance  = "argocd.argoproj.io/instance"
	argoTracking  = "argocd.argoproj.io/tracking-id" // APPLICATION:GROUP/KIND:NAMESPACE/NAME
	fluxKustomize = "kustomize.toolkit.fluxcd.io/name"
	fluxRelease   = "helm.toolkit.fluxcd.io/name"
)

// ToolOf returns the tool that creates the Job, nil if none is known. A Job with an owner comes from that.
func ToolOf(job *batchv1.Job) *explain.Tool {
	return ToolOfObject(job, job.Spec.Template.Labels)
}

// ToolOfObject returns the tool that creates a Job or CronJob whose pods have labels; nil if none is known.
func ToolOfObject(object metav1.Object, ofPods map[string]string) *explain.Tool {
	if input.OwnerOf(object) != nil {
		return nil
	}
	return ToolIn(object, ofPods)
}

// ToolIn returns the tool that labels and annotations name, nil if they name none. Those of a Job may name that of its CronJob.
func ToolIn(object metav1.Object, ofPods map[string]string) *explain.Tool {
	labels := object.GetLabels()
	return cmp.Or(deploymentOf(object), explain.CreatorOf(labels, nil), explain.CreatorOf(ofPods, nil), helmOf(object), explain.UnknownCreatorOf(labels))
}

// deploymentOf returns Argo CD or Flux if it creates the object, else nil.
func deploymentOf(object metav1.Object) *explain.Tool {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	application, _, _ := strings.Cut(annotations[argoTracking], ":")
	application = cmp.Or(application, labels[argoInstance])
	t := &explain.Tool{Name: explain.ToolArgoCD, Hooks: hooksIn(annotations[helmHook]), Weight: weightIn(annotations[helmWeight])}
	switch {
	case annotations[argoHook] != "":
		t.Hooks, t.Weight = hooksIn(annotations[argoHook]), weightIn(annotations[argoWave])
		return partOf(t, "Application", cmp.Or(application, labels[instanceLabel]))
	case application != "":
		return partOf(t, "Application", application)
	case labels[fluxRelease] != "":
		t.Name = explain.ToolFlux
		return partOf(t, "HelmRelease", labels[fluxRelease])
	case labels[fluxKustomize] != "":
		return partOf(&explain.Tool{Name: explain.ToolFlux}, "Kustomization", labels[fluxKustomize])
	case isOfArgoCD(object):
		return partOf(t, "Application", labels[instanceLabel])
	}
	return nil
}

// isOfArgoCD reports whether Argo CD is a field manager of the object: it may track objects by a label that others use, too.
func isOfArgoCD(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool {
		return f.Manager == "argocd-controller" || f.Manager == "argocd-application-controller"
	})
}

// helmOf returns Helm if it creates the object, else nil.
func helmOf(object metav1.Object) *explain.Tool {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	hooks := hooksIn(annotations[helmHook])
	by := labels[explain.ManagedByLabel] // Tiller is a part of Helm 2.
	if len(hooks) == 0 && annotations[helmRelease] == "" && !strings.EqualFold(by, "Helm") && !strings.EqualFold(by, "Tiller") {
		return nil
	}
	t := &explain.Tool{Name: explain.ToolHelm, Hooks: hooks, Weight: weightIn(annotations[helmWeight])}
	if deletes := hooksIn(strings.ToLower(annotations[helmDeletion])); len(hooks) > 0 && annotations[helmDeletion] != "" {
		t.Stays = !slices.Contains(deletes, "before-hook-creation") && !slices.Contains(deletes, "hook-failed")
		t.DeletesSucceeded = slices.Contains(deletes, "hook-succeeded")
	}
	return partOf(t, "release", cmp.Or(annotations[helmRelease], labels[instanceLabel], labels["release"]))
}

func partOf(t *explain.Tool, kind, name string) *explain.Tool {
	if name != "" {
		t.Kind, t.Release = kind, name
	}
	return t
}

// patience is the time after which Helm has deleted a hook that succeeded, unless it runs other hooks.
const patience = time.Minute

// StayOf returns why the Job still exists although it is complete, "" if it is not or if that is no question.
func StayOf(in *Facts) explain.Stay {
	switch t, end := ToolOf(in.Job), in.Job.Status.CompletionTime; {
	case end == nil || in.Job.DeletionTimestamp != nil:
	case t != nil && t.DeletesSucceeded && in.Now.Sub(end.Time) >= patience:
		return explain.StayLeft
	case t != nil && t.DeletesSucceeded:
		return explain.StaySoon
	case in.Spec.TTLSecondsAfterFinished != nil || metav1.GetControllerOfNoCopy(in.Job) != nil:
	case t != nil && t.Source == "" && !t.IsHook():
		return explain.StayFixed
	case input.IsManual(in.Job):
		return explain.StayByHand
	case t == nil && in.Spec.ActiveDeadlineSeconds != nil:
		return explain.StayNoTTL
	}
	return ""
}

// EarlierOf returns the last Job of the same name that has ended and no longer exists, as events show it; nil if none is known.
func EarlierOf(in *Facts) *explain.EarlierJob {
	last := input.LastEvent(in.Earlier, func(e *input.Event) bool { return input.IsEndOfJob(e.Reason) })
	if last == nil {
		return nil
	}
	return &explain.EarlierJob{Ended: metav1.NewTime(last.Last), Failed: last.Reason != input.EventCompleted}
}

// restartLabel is on the Jobs of a JobSet: how often it has started over.
const restartLabel = "jobset.sigs.k8s.io/restart-attempt"

// RestartOf returns how often the JobSet of the Job has started over, "" if it has not.
func RestartOf(in *Facts) string {
	if n := in.Job.Labels[restartLabel]; n != "0" && OwnerOf(in.Job) != nil {
		return n
	}
	return ""
}

// IsCreatedAgain reports whether something creates the Job again after its TTL. A hook is created again anyway.
func IsCreatedAgain(in *Facts) bool {
	return in.Spec.TTLSecondsAfterFinished != nil && OwnerOf(in.Job) == nil && !ToolOf(in.Job).IsHook() && EarlierOf(in) != nil
}

// helmTimeout is how long Helm waits for a hook by default.
const helmTimeout = 5 * time.Minute

// HelmGaveUp returns how long a Job that is a hook of Helm runs or ran, and whether that is longer than Helm waits by default.
func HelmGaveUp(in *Facts) (time.Duration, bool) {
	t, start, end := ToolOf(in.Job), in.Job.Status.StartTime, cmp.Or(in.Job.Status.CompletionTime, &metav1.Time{Time: in.Now})
	if !t.IsHook() || t.Name != explain.ToolHelm || start == nil {
		return 0, false
	}
	took := end.Sub(start.Time)
	for _, p := range in.Pods {
		if !p.StartedAt.IsZero() { // It may be older than the Job, which has adopted it.
			took = max(took, p.FinishedAt.Sub(p.StartedAt))
		}
	}
	return took, took > helmTimeout
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
