package fidelity

import (
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// specEdits are the changes of a Job's spec and template, by argument key.
var specEdits = map[string]func(*batchv1.Job, string){
	"mode":          func(j *batchv1.Job, v string) { j.Spec.CompletionMode = text[batchv1.CompletionMode](v) },
	"completions":   func(j *batchv1.Job, v string) { j.Spec.Completions = number[int32](v) },
	"parallelism":   func(j *batchv1.Job, v string) { j.Spec.Parallelism = number[int32](v) },
	"backoffLimit":  func(j *batchv1.Job, v string) { j.Spec.BackoffLimit = number[int32](v) },
	"perIndex":      func(j *batchv1.Job, v string) { j.Spec.BackoffLimitPerIndex = number[int32](v) },
	"maxFailed":     func(j *batchv1.Job, v string) { j.Spec.MaxFailedIndexes = number[int32](v) },
	"deadline":      func(j *batchv1.Job, v string) { j.Spec.ActiveDeadlineSeconds = number[int64](v) },
	"ttl":           func(j *batchv1.Job, v string) { j.Spec.TTLSecondsAfterFinished = number[int32](v) },
	"suspend":       func(j *batchv1.Job, v string) { j.Spec.Suspend = ptr.To(v == "true") },
	"managedBy":     func(j *batchv1.Job, v string) { j.Spec.ManagedBy = text[string](expand(v)) },
	"replacement":   func(j *batchv1.Job, v string) { j.Spec.PodReplacementPolicy = text[batchv1.PodReplacementPolicy](v) },
	"restart":       func(j *batchv1.Job, v string) { j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicy(v) },
	"success":       successPolicy,
	"failurePolicy": failurePolicy,
	"successRules": func(j *batchv1.Job, v string) {
		if p := j.Spec.SuccessPolicy; p != nil {
			p.Rules = repeat(p.Rules, v)
		}
	},
	"failureRules": func(j *batchv1.Job, v string) {
		if p := j.Spec.PodFailurePolicy; p != nil {
			p.Rules = repeat(p.Rules, v)
		}
	},
	"manualSelector": manualSelector,
	"selector":       selector,
	"image":          func(j *batchv1.Job, v string) { j.Spec.Template.Spec.Containers[0].Image = v },
	"cpu":            func(j *batchv1.Job, v string) { setCPU(j.Spec.Template.Spec.Containers, v) },
	"init": func(j *batchv1.Job, v string) {
		spec := &j.Spec.Template.Spec
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: v, Image: "image"})
	},
	"initCPU": func(j *batchv1.Job, v string) { setCPU(j.Spec.Template.Spec.InitContainers, v) },
	"templateLabel": func(j *batchv1.Job, v string) {
		metadataEdits["label"](&j.Spec.Template.ObjectMeta, v)
	},
}

// setCPU sets the CPU request of the first container, if there is one.
func setCPU(containers []corev1.Container, value string) {
	if len(containers) > 0 {
		containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(value)}
	}
}

// repeat returns a list with the given number of copies of the first element. An empty list is nil, as in protobuf.
func repeat[T any](list []T, times string) []T {
	return append([]T(nil), slices.Repeat(list[:min(1, len(list))], int(orZero(number[int32](times))))...)
}

// successPolicy sets the rules of a success policy: "count:2,indexes:0-1,none" are three rules.
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
			policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{SucceededIndexes: ptr.To(expand(of))})
		case "none":
			policy.Rules = append(policy.Rules, batchv1.SuccessPolicyRule{})
		}
	}
	j.Spec.SuccessPolicy = policy
}

// failurePolicy sets the rules of a failure policy:
//
//   - "FailJob:42" is about exit codes; "FailJob:NotIn.0.2~9:other" has an operator, several codes, and a container.
//   - "Ignore:condition" is about DisruptionTarget; "Ignore:condition:Type:False:21" is about another condition, and
//     has the pattern 21 times.
//   - "Count:both" is about both, "Count:neither" about nothing.
func failurePolicy(j *batchv1.Job, value string) {
	if value == unset {
		j.Spec.PodFailurePolicy = nil
		return
	}
	policy := &batchv1.PodFailurePolicy{}
	for part := range strings.SplitSeq(value, ",") {
		words := append(strings.Split(part, ":"), "", "", "", "")
		rule := batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyAction(words[0])}
		switch words[1] {
		case "condition":
			rule.OnPodConditions = patterns(words[2], words[3], words[4])
		case "both":
			rule.OnPodConditions, rule.OnExitCodes = patterns("", "", ""), exitCodes("42", "")
		case "neither":
		default:
			rule.OnExitCodes = exitCodes(words[1], words[2])
		}
		policy.Rules = append(policy.Rules, rule)
	}
	j.Spec.PodFailurePolicy = policy
}

func patterns(kind, status, times string) []batchv1.PodFailurePolicyOnPodConditionsPattern {
	pattern := batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget, Status: corev1.ConditionStatus(status)}
	if kind != "" {
		pattern.Type = corev1.PodConditionType(kind)
	}
	return slices.Repeat([]batchv1.PodFailurePolicyOnPodConditionsPattern{pattern}, max(1, int(orZero(number[int32](times)))))
}

// exitCodes returns a requirement; the words in value are numbers, ranges, or an operator other than In.
func exitCodes(value, container string) *batchv1.PodFailurePolicyOnExitCodesRequirement {
	codes := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn}
	if container != "" {
		codes.ContainerName = &container
	}
	for word := range strings.SplitSeq(value, ".") {
		from, to, isRange := strings.Cut(word, "~")
		first, err := strconv.Atoi(from)
		if err != nil {
			codes.Operator = batchv1.PodFailurePolicyOnExitCodesOperator(word)
			continue
		}
		last := first
		if isRange {
			last = int(orZero(number[int32](to)))
		}
		for code := first; code <= last; code++ {
			codes.Values = append(codes.Values, int32(code))
		}
	}
	return codes
}

// manualSelector selects pods by the label app; the template gets the label unless value is "other".
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

// selector selects pods by a label, by the Job's name ("name"), by UID ("uid"), or with an empty selector ("empty").
func selector(j *batchv1.Job, value string) {
	key, of, _ := strings.Cut(value, ":")
	switch key {
	case "empty":
		j.Spec.Selector = &metav1.LabelSelector{}
		return
	case "name":
		key, of = batchv1.JobNameLabel, j.Name
	case "uid":
		key = batchv1.ControllerUidLabel
	}
	j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{key: of}}
}
