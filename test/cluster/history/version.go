package history

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Version is one stored version of a Job or a pod, or its deletion.
type Version struct {
	// Revision orders the versions of Jobs and pods together.
	Revision uint64
	// Seen is when the watch delivered the version.
	Seen time.Time
	// Job or Pod is the object; the other one is nil. It must not be changed.
	Job *batchv1.Job
	Pod *corev1.Pod
	// Gone reports whether the object was deleted; the object is in its last state.
	Gone bool
}

// Object returns the Job or the pod.
func (v Version) Object() metav1.Object {
	if v.Job != nil {
		return v.Job
	}
	return v.Pod
}

// FromEvent converts an event of a watch of Jobs or pods to a version. It fails for the error event that ends a watch,
// and for other objects.
func FromEvent(event watch.Event, seen time.Time) (Version, error) {
	v := Version{Seen: seen, Gone: event.Type == watch.Deleted}
	switch o := event.Object.(type) {
	case *batchv1.Job:
		v.Job = o
	case *corev1.Pod:
		v.Pod = o
	default:
		return Version{}, fmt.Errorf("the watch brought %w", apierrors.FromObject(event.Object))
	}
	text := v.Object().GetResourceVersion()
	revision, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return Version{}, fmt.Errorf("resourceVersion %q: %w", text, err)
	}
	v.Revision = revision
	return v, nil
}

// Sorted returns a copy of versions in the order in which they were stored.
func Sorted(versions []Version) []Version {
	out := slices.Clone(versions)
	slices.SortStableFunc(out, func(a, b Version) int { return cmp.Compare(a.Revision, b.Revision) })
	return out
}

// Recorder receives the versions of a cluster. Its methods are called by several goroutines.
type Recorder interface {
	// Record receives a version. Versions of Jobs arrive in order, and so do versions of pods.
	Record(Version)
	// BreakOff reports that versions are missing from now on, and why.
	BreakOff(error)
}
