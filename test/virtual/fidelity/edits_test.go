package fidelity

import (
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// unset is the argument value that removes a field.
const unset = "-"

// expand repeats the last character of a text that ends with "*" and a number: "ab*3" is "abbb".
func expand(value string) string {
	start, times, found := strings.Cut(value, "*")
	n, err := strconv.Atoi(times)
	if !found || err != nil {
		return value
	}
	return start + strings.Repeat(start[len(start)-1:], n-1)
}

// moment returns a time by its name: t0, t1, and so on are one minute apart.
func moment(name string) *metav1.Time {
	minutes, err := strconv.Atoi(strings.TrimPrefix(name, "t"))
	if err != nil {
		return nil
	}
	return &metav1.Time{Time: time.Date(2026, 1, 1, 0, minutes, 0, 0, time.UTC)}
}

func number[T int32 | int64](value string) *T {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return nil
	}
	return ptr.To(T(n))
}

func orZero(n *int32) int32 { return ptr.Deref(n, 0) }

func text[T ~string](value string) *T {
	if value == unset {
		return nil
	}
	return ptr.To(T(value))
}

// statusEdits are the changes of a Job's status, by argument key.
var statusEdits = map[string]func(*batchv1.JobStatus, string){
	"active":      func(s *batchv1.JobStatus, v string) { s.Active = orZero(number[int32](v)) },
	"ready":       func(s *batchv1.JobStatus, v string) { s.Ready = number[int32](v) },
	"terminating": func(s *batchv1.JobStatus, v string) { s.Terminating = number[int32](v) },
	"succeeded":   func(s *batchv1.JobStatus, v string) { s.Succeeded = orZero(number[int32](v)) },
	"failed":      func(s *batchv1.JobStatus, v string) { s.Failed = orZero(number[int32](v)) },
	"start":       func(s *batchv1.JobStatus, v string) { s.StartTime = moment(v) },
	"completion":  func(s *batchv1.JobStatus, v string) { s.CompletionTime = moment(v) },
	"completed":   func(s *batchv1.JobStatus, v string) { s.CompletedIndexes = ptr.Deref(text[string](v), "") },
	"failedIndexes": func(s *batchv1.JobStatus, v string) {
		s.FailedIndexes = text[string](v)
	},
	"uncounted": uncounted,
	"condition": jobCondition,
}

// uncounted sets the uncounted pods: in "a,b/c", a and b succeeded and c failed; @ is an empty UID.
func uncounted(s *batchv1.JobStatus, value string) {
	if value == unset {
		s.UncountedTerminatedPods = nil
		return
	}
	list := func(text string) (uids []types.UID) {
		for _, uid := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
			uids = append(uids, types.UID(strings.TrimPrefix(uid, "@")))
		}
		return uids
	}
	succeeded, failed, _ := strings.Cut(value, "/")
	s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: list(succeeded), Failed: list(failed)}
}

// jobCondition sets a condition ("Failed:True") or removes it ("Failed:-").
func jobCondition(s *batchv1.JobStatus, value string) {
	kind, status, _ := strings.Cut(value, ":")
	same := func(c batchv1.JobCondition) bool { return string(c.Type) == kind }
	if status == unset {
		s.Conditions = slices.DeleteFunc(s.Conditions, same)
		return
	}
	condition := batchv1.JobCondition{
		Type: batchv1.JobConditionType(kind), Status: corev1.ConditionStatus(status), Reason: "Because",
		LastProbeTime: *moment("t1"), LastTransitionTime: *moment("t2"),
	}
	if i := slices.IndexFunc(s.Conditions, same); i >= 0 {
		s.Conditions[i] = condition
		return
	}
	s.Conditions = append(s.Conditions, condition)
}

// metadataEdits are the changes of the metadata of a Job or pod, by argument key.
var metadataEdits = map[string]func(*metav1.ObjectMeta, string){
	"label": func(m *metav1.ObjectMeta, v string) {
		key, value, _ := strings.Cut(v, ":")
		metav1.SetMetaDataLabel(m, key, value)
	},
	"unlabel": func(m *metav1.ObjectMeta, v string) { delete(m.Labels, v) },
	"annotation": func(m *metav1.ObjectMeta, v string) {
		key, value, _ := strings.Cut(v, ":")
		metav1.SetMetaDataAnnotation(m, key, value)
	},
	"unannotation": func(m *metav1.ObjectMeta, v string) { delete(m.Annotations, v) },
	"finalizer": func(m *metav1.ObjectMeta, v string) {
		if !slices.Contains(m.Finalizers, v) {
			m.Finalizers = append(m.Finalizers, v)
		}
	},
	"unfinalizer": func(m *metav1.ObjectMeta, v string) {
		m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == v })
	},
}

// podStatusEdits are the changes of a pod's status, by argument key.
var podStatusEdits = map[string]func(*corev1.PodStatus, string){
	"phase":   func(s *corev1.PodStatus, v string) { s.Phase = corev1.PodPhase(v) },
	"reason":  func(s *corev1.PodStatus, v string) { s.Reason = ptr.Deref(text[string](v), "") },
	"message": func(s *corev1.PodStatus, v string) { s.Message = ptr.Deref(text[string](v), "") },
	"exit": func(s *corev1.PodStatus, v string) {
		s.ContainerStatuses = containerStatus(corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: orZero(number[int32](v)), Reason: "Error", FinishedAt: *moment("t3")},
		}, 0)
	},
	"running": func(s *corev1.PodStatus, v string) {
		s.ContainerStatuses = containerStatus(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *moment("t2")}}, orZero(number[int32](v)))
	},
	"condition": podCondition,
}

// podCondition sets a condition ("Ready:True") or removes it ("Ready:-").
func podCondition(s *corev1.PodStatus, value string) {
	kind, status, _ := strings.Cut(value, ":")
	same := func(c corev1.PodCondition) bool { return string(c.Type) == kind }
	s.Conditions = slices.Clone(s.Conditions)
	if status == unset {
		s.Conditions = slices.DeleteFunc(s.Conditions, same)
		return
	}
	condition := corev1.PodCondition{
		Type: corev1.PodConditionType(kind), Status: corev1.ConditionStatus(status), LastTransitionTime: *moment("t4"), Reason: "Because",
	}
	if i := slices.IndexFunc(s.Conditions, same); i >= 0 {
		s.Conditions[i] = condition
		return
	}
	s.Conditions = append(s.Conditions, condition)
}

func containerStatus(state corev1.ContainerState, restarts int32) []corev1.ContainerStatus {
	return []corev1.ContainerStatus{{Name: "main", State: state, RestartCount: restarts}}
}
