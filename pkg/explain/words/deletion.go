package words

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// finalizerOwners are the controllers that remove the finalizers of a domain, the more specific domains first.
var finalizerOwners = []struct{ domain, owner string }{
	{"argocd.argoproj.io", "Argo CD"},
	{"argoproj.io", "Argo"},
	{"kueue.x-k8s.io", "Kueue"},
	{"jobset.x-k8s.io", "the JobSet controller"},
	{"volcano.sh", "Volcano"},
	{"karmada.io", "Karmada"},
	{"tekton.dev", "Tekton"},
	{"fluxcd.io", "Flux"},
	{"crossplane.io", "Crossplane"},
	{"ray.io", "KubeRay"},
	{"percona.com", "the operator of Percona"},
	{"kubeflow.org", "Kubeflow"},
	{"open-cluster-management.io", "Open Cluster Management"},
}

// FinalizerOwner returns the controller that removes the finalizer, "" if it is unknown.
func FinalizerOwner(finalizer string) string {
	switch finalizer {
	case metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents:
		return garbageCollector
	}
	domain, _, _ := strings.Cut(finalizer, "/")
	for _, known := range finalizerOwners {
		if domain == known.domain || strings.HasSuffix(domain, "."+known.domain) {
			return known.owner
		}
	}
	return ""
}

const garbageCollector = "the garbage collector"

// waitedLong is the usual upper limit of a deletion's duration.
const waitedLong = time.Minute

// deletingText describes the deletion of the Job and the objects that it waits for.
func deletingText(p *explain.Problem, now time.Time) string {
	others := slices.DeleteFunc(slices.Clone(p.Deletion.Finalizers), func(f string) bool { return FinalizerOwner(f) == garbageCollector })
	foreground := slices.Contains(p.Deletion.Finalizers, metav1.FinalizerDeleteDependents)
	waits := "waits"
	if !p.Since.IsZero() && now.Sub(p.Since.Time) >= waitedLong {
		waits = "has waited " + wording.Age(now.Sub(p.Since.Time))
	}
	text := "the Job is being deleted, and "
	switch pods := foreground && p.Count > 0; {
	case p.Deletion.NoPods:
		return "the Job is being deleted and has no pods left, but the garbage collector has not removed its finalizer " + metav1.FinalizerDeleteDependents
	case len(others) == 0 && foreground:
		return text + waits + " for its pods to be deleted first (foreground deletion)"
	case len(others) == 0:
		return text + "its pods are kept (orphan deletion)"
	case pods:
		return text + waits + " for its pods to be deleted first (foreground deletion), and for " + finalizersText(others)
	}
	return text + waits + " for " + finalizersText(others)
}

// deletingNote names what may keep the garbage collector from removing its finalizer.
func deletingNote(p *explain.Problem, _ time.Time) string {
	if !p.Deletion.NoPods {
		return ""
	}
	return "an admission policy or webhook may reject that, the garbage collector may not be running, or something else that the Job owns may be left"
}

// finalizersText returns "the finalizer example.com/x, which Example should remove".
func finalizersText(finalizers []string) string {
	if len(finalizers) == 1 {
		text := "the finalizer " + finalizers[0]
		if owner := FinalizerOwner(finalizers[0]); owner != "" {
			text += ", which " + owner + " should remove"
		}
		return text
	}
	named := make([]string, len(finalizers))
	for i, f := range finalizers {
		named[i] = f
		if owner := FinalizerOwner(f); owner != "" {
			named[i] += " (of " + owner + ")"
		}
	}
	return "the finalizers " + wording.Enumerate(named, "and")
}

// FindFinalizerOwner returns advice on finalizers that keep the Job from being deleted.
func FindFinalizerOwner(finalizers []string) string {
	if len(finalizers) == 1 && FinalizerOwner(finalizers[0]) != "" {
		return fmt.Sprintf("find out why %s has not removed %s: it may not be running, or may no longer know the Job", FinalizerOwner(finalizers[0]), finalizers[0])
	}
	return fmt.Sprintf("find out who owns %s, and why it has not been removed", strings.Join(finalizers, ", "))
}

// RemoveFinalizer returns advice on a finalizer whose owner no longer exists.
func RemoveFinalizer(finalizer string) string {
	return fmt.Sprintf("if %s will not do so, remove the finalizer; what it protects is then not cleaned up", cmp.Or(FinalizerOwner(finalizer), "its owner"))
}

// goneText says that no pod of a complete Job exists, and who took pods if that is known.
func goneText(a *Answer) string {
	text := map[bool]string{true: wording.Form(a.Gone, "its pod is gone, and its log with it", "its pods are gone, and their logs with them")}[a.Gone > 0]
	if text != "" && a.Taken != nil {
		text += " (" + DisruptionsText(a.Taken) + ")"
	}
	return text
}
