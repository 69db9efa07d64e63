package sim

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// specRule is one rule that the API server enforces on the spec of a Job, limited to those
// that a scenario could break by accident.
type specRule struct {
	path   string
	broken func(spec *batchv1.JobSpec) bool
	says   string
}

// validateJob checks a Job with its defaults set (BLI-01, PFP-11, PFP-12, SUC-01, PRP-01).
func validateJob(job *batchv1.Job) field.ErrorList {
	var list field.ErrorList
	for _, rule := range specRules {
		if rule.broken(&job.Spec) {
			list = append(list, field.Invalid(field.NewPath("spec").Child(rule.path), field.OmitValueType{}, rule.says))
		}
	}
	return list
}

func isIndexed(spec *batchv1.JobSpec) bool { return jobspec.IsIndexed(spec) }

var specRules = []specRule{
	{"completions", func(s *batchv1.JobSpec) bool { return isIndexed(s) && s.Completions == nil }, "required when Indexed"},
	{"selector", func(s *batchv1.JobSpec) bool { return s.Selector == nil }, "required with manualSelector"},
	{"backoffLimitPerIndex", func(s *batchv1.JobSpec) bool { return s.BackoffLimitPerIndex != nil && !isIndexed(s) }, "requires Indexed"},
	{"maxFailedIndexes", func(s *batchv1.JobSpec) bool { return s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil }, "requires backoffLimitPerIndex"},
	{"maxFailedIndexes", func(s *batchv1.JobSpec) bool {
		return isIndexed(s) && ptr.Deref(s.MaxFailedIndexes, 0) > ptr.Deref(s.Completions, 0)
	}, "more than completions"},
	{"successPolicy", func(s *batchv1.JobSpec) bool { return s.SuccessPolicy != nil && !isIndexed(s) }, "requires Indexed"},
	{"successPolicy", func(s *batchv1.JobSpec) bool {
		return s.SuccessPolicy != nil && slices.ContainsFunc(s.SuccessPolicy.Rules, func(r batchv1.SuccessPolicyRule) bool {
			return r.SucceededCount == nil && r.SucceededIndexes == nil
		})
	}, "a rule needs succeededCount or succeededIndexes"},
	{"scheduling", func(s *batchv1.JobSpec) bool { return minCount(s.Scheduling) > ptr.Deref(s.Parallelism, 1) }, "a gang larger than parallelism"},
	{"podReplacementPolicy", func(s *batchv1.JobSpec) bool {
		return s.PodFailurePolicy != nil && ptr.Deref(s.PodReplacementPolicy, "") != batchv1.Failed
	}, "must be Failed with podFailurePolicy"},
	{"podFailurePolicy", func(s *batchv1.JobSpec) bool {
		return s.PodFailurePolicy != nil && s.Template.Spec.RestartPolicy != corev1.RestartPolicyNever
	}, "requires restartPolicy Never"},
	{"podFailurePolicy", func(s *batchv1.JobSpec) bool {
		return s.PodFailurePolicy != nil && slices.ContainsFunc(s.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
			return (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0)
		})
	}, "a rule needs either onExitCodes or onPodConditions"},
	{"podFailurePolicy", func(s *batchv1.JobSpec) bool {
		return s.PodFailurePolicy != nil && s.BackoffLimitPerIndex == nil && slices.ContainsFunc(s.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
			return r.Action == batchv1.PodFailurePolicyActionFailIndex
		})
	}, "FailIndex requires backoffLimitPerIndex"},
	{"podFailurePolicy", func(s *batchv1.JobSpec) bool {
		return s.PodFailurePolicy != nil && slices.ContainsFunc(s.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
			return r.OnExitCodes != nil && r.OnExitCodes.ContainerName != nil && !hasContainer(&s.Template.Spec, *r.OnExitCodes.ContainerName)
		})
	}, "no container has that name"},
}

func hasContainer(spec *corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(slices.Concat(spec.Containers, spec.InitContainers), func(c corev1.Container) bool { return c.Name == name })
}

// validateJobUpdate checks that the immutable fields of a Job's spec do not change.
func validateJobUpdate(old, job *batchv1.Job) field.ErrorList {
	was, is := &old.Spec, &job.Spec
	elastic := isIndexed(is) && ptr.Equal(is.Completions, is.Parallelism)
	var list field.ErrorList
	for _, f := range []struct {
		path    string
		changed bool
	}{
		{"completions", !ptr.Equal(was.Completions, is.Completions) && !elastic},
		{"completionMode", !ptr.Equal(was.CompletionMode, is.CompletionMode)},
		{"selector", !equality.Semantic.DeepEqual(was.Selector, is.Selector)},
		{"managedBy", !ptr.Equal(was.ManagedBy, is.ManagedBy)},
		{"backoffLimitPerIndex", !ptr.Equal(was.BackoffLimitPerIndex, is.BackoffLimitPerIndex)},
		{"podFailurePolicy", !equality.Semantic.DeepEqual(was.PodFailurePolicy, is.PodFailurePolicy)},
		{"successPolicy", !equality.Semantic.DeepEqual(was.SuccessPolicy, is.SuccessPolicy)},
		{"scheduling", !equality.Semantic.DeepEqual(withoutMinCount(was.Scheduling), withoutMinCount(is.Scheduling))},
	} {
		if f.changed {
			list = append(list, field.Invalid(field.NewPath("spec").Child(f.path), field.OmitValueType{}, "field is immutable"))
		}
	}
	return list
}

// minCount is the gang size that a Job asks for, 0 if it is unset.
func minCount(s *batchv1.JobSchedulingConfiguration) int32 {
	if s == nil || s.SchedulingPolicy == nil || s.SchedulingPolicy.Gang == nil {
		return 0
	}
	return ptr.Deref(s.SchedulingPolicy.Gang.MinCount, 0)
}

// withoutMinCount is the part of spec.scheduling that never changes.
func withoutMinCount(s *batchv1.JobSchedulingConfiguration) *batchv1.JobSchedulingConfiguration {
	s = s.DeepCopy()
	if minCount(s) > 0 {
		s.SchedulingPolicy.Gang.MinCount = nil
	}
	return s
}
