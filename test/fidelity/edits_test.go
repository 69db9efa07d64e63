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

// unset is the value of an argument that removes a field.
const unset = "-"

// moment returns a time by its name: t0, t1, and so on are minutes apart.
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

// statusEdits change the status of a Job.
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

// uncounted sets the uncounted pods: "a,b/c" are a and b, which succeeded, and c, which failed; @ is an empty UID.
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

// specEdits change the spec or the metadata of a Job.
var specEdits = map[string]func(*batchv1.Job, string){
	"mode":           func(j *batchv1.Job, v string) { j.Spec.CompletionMode = text[batchv1.CompletionMode](v) },
	"completions":    func(j *batchv1.Job, v string) { j.Spec.Completions = number[int32](v) },
	"parallelism":    func(j *batchv1.Job, v string) { j.Spec.Parallelism = number[int32](v) },
	"backoffLimit":   func(j *batchv1.Job, v string) { j.Spec.BackoffLimit = number[int32](v) },
	"perIndex":       func(j *batchv1.Job, v string) { j.Spec.BackoffLimitPerIndex = number[int32](v) },
	"maxFailed":      func(j *batchv1.Job, v string) { j.Spec.MaxFailedIndexes = number[int32](v) },
	"deadline":       func(j *batchv1.Job, v string) { j.Spec.ActiveDeadlineSeconds = number[int64](v) },
	"ttl":            func(j *batchv1.Job, v string) { j.Spec.TTLSecondsAfterFinished = number[int32](v) },
	"suspend":        func(j *batchv1.Job, v string) { j.Spec.Suspend = ptr.To(v == "true") },
	"managedBy":      func(j *batchv1.Job, v string) { j.Spec.ManagedBy = text[string](v) },
	"replacement":    func(j *batchv1.Job, v string) { j.Spec.PodReplacementPolicy = text[batchv1.PodReplacementPolicy](v) },
	"restart":        func(j *batchv1.Job, v string) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicy(v) },
	"success":        successPolicy,
	"failurePolicy":  failurePolicy,
	"manualSelector": manualSelector,
	"image":          func(j *batchv1.Job, v string) { j.Spec.Template.Spec.Containers[0].Image = v },
	"templateLabel": func(j *batchv1.Job, v string) {
		metadataEdits["label"](&j.Spec.Template.ObjectMeta, v)
	},
}

// successPolicy sets the rules of a success policy: "count:2,indexes:0-1,none" are three.
func successPolicy(j *batchv1.Job, value string) {
	if value == unset {
		j.Spec.SuccessPolicy = nil
		return
	}
	policy := &batchv1.SuccessPolicy{}
	for rule := range strings.SplitSeq(value, ",") {
		kind, of, _ := strings.Cut(rule, ":")
		switch kind {
		case "count":
			policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{SucceededCount: number[int32](of)})
		case "indexes":
			policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{SucceededIndexes: &of})
		case "none":
			policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{})
		}
	}
	j.Spec.SuccessPolicy = policy
}

// failurePolicy sets the rules of a failure policy: "FailJob:42" is about an exit code, "Ignore:condition" about
// DisruptionTarget, "Count:both" about both, and "Count:neither" about nothing; "FailJob:42:other" names a container.
func failurePolicy(j *batchv1.Job, value string) {
	if value == unset {
		j.Spec.PodFailurePolicy = nil
		return
	}
	policy := &batchv1.PodFailurePolicy{}
	for part := range strings.SplitSeq(value, ",") {
		words := append(strings.Split(part, ":"), "", "")
		rule := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyAction(words[0])}
		codes := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42}}
		if code := number[int32](words[1]); code != nil {
			codes.Values = []int32{*code}
		}
		if words[2] != "" {
			codes.ContainerName = &words[2]
		}
		if words[1] == "condition" || words[1] == "both" {
			rule.OnPodConditions = []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget}}
		}
		if words[1] != "condition" && words[1] != "neither" {
			rule.OnExitCodes = codes
		}
		policy.Rules = append(policy.Rules, rule)
	}
	j.Spec.PodFailurePolicy = policy
}

// manualSelector selects pods by the label app, which the template has or, with "other", has not.
func manualSelector(j *batchv1.Job, value string) {
	j.Spec.ManualSelector = ptr.To(true)
	if value == "none" {
		return
	}
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
	if value != "other" {
		metav1.SetMetaDataLabel(&j.Spec.Template.ObjectMeta, "app", "a")
	}
}

// metadataEdits change the metadata of a Job or a pod.
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

// podStatusEdits change the status of a pod.
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
