// Package podspec finds problems for which the API server rejects a pod template. It has the rules of
// k8s.io/kubernetes/pkg/apis/core/validation, as of Kubernetes 1.37, for the fields that are common in Jobs; a test in
// test/integration compares it with a real API server.
//
//	pod template as written, without defaults ─► Check ─► Problems, in the order of the fields
//
// It is pure. Messages quote the template: the caller makes them safe for a terminal. Fields that few Jobs have are not
// checked: the fields for Windows, for in-tree volumes (iscsi, rbd and others), and for security profiles.
package podspec

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/phrase"
)

// Problem is a field for which the API server rejects the template.
type Problem struct {
	// ID is the kind of problem, such as mount-without-volume. It is stable.
	ID   string
	Path *field.Path
	// Message and Fix have one line each.
	Message, Fix string
}

// Options describe the environment of the template.
type Options struct {
	// Volumes are the names of volumes that a controller adds to the pods, as JobSet does for its volumeClaimPolicies.
	Volumes []string
}

// Check returns all problems of a template at this path, except problems of its restartPolicy, for which a Job has
// stricter rules.
func Check(template *corev1.PodTemplateSpec, path *field.Path, o Options) []Problem {
	spec, at := &template.Spec, path.Child("spec")
	return slices.Concat(
		CheckMetadata(&template.ObjectMeta, path.Child("metadata")),
		checkVolumes(spec.Volumes, at.Child("volumes")),
		checkContainers(spec, at, volumeNames(spec.Volumes, o.Volumes)),
		checkPod(spec, at),
		checkScheduling(spec, at),
	)
}

// problems are the result of a check.
type problems []Problem

func (p *problems) add(id string, path *field.Path, fix, message string, args ...any) {
	*p = append(*p, Problem{ID: id, Path: path, Fix: fix, Message: fmt.Sprintf(message, args...)})
}

// oneOf returns a problem if the value is not allowed. It accepts an empty value, which the API server replaces by a
// default.
func oneOf[T ~string](id string, path *field.Path, value T, allowed ...T) (found problems) {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	names := make([]string, len(allowed))
	for i := range allowed {
		names[i] = string(allowed[i])
	}
	found.add(id, path, "use one of: "+strings.Join(names, ", "), "there is no %s %q", phrase.Last(path), shorten(string(value)))
	return found
}

// shorten keeps messages that quote the template readable.
func shorten(text string) string { return phrase.Shorten(text, 60) }
