package apirules

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// NewJob returns the problems of the spec of a new Job at this path, nil for the top (BLI-01, BLI-30, PFP-11, PFP-12, SUC-01,
// SUC-02, PRP-01). The Job has the API server's defaults (SetDefaults).
func NewJob(job *batchv1.Job, path *field.Path) Problems {
	found := checkSelected(&job.Spec, path.Child("spec"))
	return append(found, GeneratedFields(job, path)...)
}

// ChangedJob returns the problems of the spec of a Job that has changed: those of the spec, and changes that are not allowed.
func ChangedJob(old, job *batchv1.Job) Problems {
	path := field.NewPath("spec")
	return append(checkSelected(&job.Spec, path), changes(old, job, path)...)
}

// checkSelected checks the spec of a Job, and its selector.
func checkSelected(spec *jobSpec, path *field.Path) Problems {
	found := checkSpec(spec, selectorRows, path)
	for _, e := range metavalidation.ValidateLabelSelector(spec.Selector, metavalidation.LabelSelectorValidationOptions{}, nil) {
		found = append(found, Problem{ID: "label-selector-invalid", Type: e.Type, Path: path.Child("selector", e.Field), Fix: "correct its keys, values and operators",
			Message: "the selector is not valid: " + shorten(e.Detail)})
	}
	return found
}

// JobTemplate returns the problems of the spec of a CronJob's Jobs.
func JobTemplate(spec *batchv1.JobSpec, path *field.Path) Problems {
	return checkSpec(spec, templateRows, path.Child("spec"))
}

func checkSpec(spec *jobSpec, more []row[*jobSpec], path *field.Path) Problems {
	found := &Problems{}
	judge(found, specRows, spec, path)
	judge(found, restartRows, spec, path.Child("template", "spec"))
	checkFailurePolicy(found, spec, path.Child("podFailurePolicy", "rules"))
	checkSuccessPolicy(found, spec, path.Child("successPolicy", "rules"))
	judge(found, more, spec, path)
	return *found
}

// Hostname returns the problem of a name, at this path, with which the pod of the last index has no valid host name.
func Hostname(name string, spec *batchv1.JobSpec, path *field.Path) Problems {
	completions := ptr.Deref(spec.Completions, 0)
	if !jobspec.IsIndexed(spec) || completions <= 0 {
		return nil
	}
	hostname := fmt.Sprintf("%s-%d", name, completions-1)
	if len(validation.IsDNS1123Label(hostname)) == 0 {
		return nil
	}
	return Problems{{ID: "name-not-a-hostname", Type: invalid, Path: path, Fix: "choose a name without dots that leaves room for '-' and the index in 63 characters",
		Message: fmt.Sprintf("the pod of the last index cannot have the host name %q", hostname)}}
}

type jobSpec = batchv1.JobSpec

const (
	toIndexed    = "set completionMode: Indexed, or "
	managedByFix = "use a domain, '/' and a path, such as batchjob.dev/controller"
	maxManagedBy = 63
)

var specRows = []row[*jobSpec]{
	notNegative("parallelism", func(s *jobSpec) int64 { return number(s.Parallelism) }),
	notNegative("completions", func(s *jobSpec) int64 { return number(s.Completions) }),
	notNegative("backoffLimit", func(s *jobSpec) int64 { return number(s.BackoffLimit) }),
	notNegative("backoffLimitPerIndex", func(s *jobSpec) int64 { return number(s.BackoffLimitPerIndex) }),
	notNegative("maxFailedIndexes", func(s *jobSpec) int64 { return number(s.MaxFailedIndexes) }),
	notNegative("ttlSecondsAfterFinished", func(s *jobSpec) int64 { return number(s.TTLSecondsAfterFinished) }),
	notNegative("activeDeadlineSeconds", func(s *jobSpec) int64 { return number(s.ActiveDeadlineSeconds) }),
	{"completion-mode-unknown", notSupported, "completionMode", func(s *jobSpec) (string, string) {
		mode := jobspec.CompletionMode(s)
		return when(!jobspec.IsIndexed(s) && !isNonIndexed(s), "use NonIndexed or Indexed", "there is no completionMode %q", shorten(string(mode)))
	}},
	{"completions-missing", missing, "completions", func(s *jobSpec) (string, string) {
		return when(jobspec.IsIndexed(s) && s.Completions == nil, "add completions", "an Indexed Job needs completions, the number of its indexes")
	}},
	{"parallelism-too-high", invalid, "parallelism", func(s *jobSpec) (string, string) {
		n := jobspec.Parallelism(s)
		if n <= jobspec.MaxIndexes && hasMany(s) {
			return when(n > jobspec.MaxOfMany, "lower parallelism, or split the Job", "parallelism is %d, but at most %d is allowed with backoffLimitPerIndex and more than %d completions",
				n, jobspec.MaxOfMany, jobspec.ManyCompletions)
		}
		return when(jobspec.IsIndexed(s) && n > jobspec.MaxIndexes, "lower parallelism", "parallelism is %d, but an Indexed Job allows at most %d", n, jobspec.MaxIndexes)
	}},
	{"limit-per-index-without-indexes", invalid, "backoffLimitPerIndex", func(s *jobSpec) (string, string) {
		return when(s.BackoffLimitPerIndex != nil && isNonIndexed(s), toIndexed+"use backoffLimit", "backoffLimitPerIndex needs an Indexed Job")
	}},
	{"max-failed-without-limit-per-index", missing, "backoffLimitPerIndex", func(s *jobSpec) (string, string) {
		return when(s.MaxFailedIndexes != nil && s.BackoffLimitPerIndex == nil, "add backoffLimitPerIndex", "maxFailedIndexes needs backoffLimitPerIndex")
	}},
	{"max-failed-missing", missing, "maxFailedIndexes", func(s *jobSpec) (string, string) {
		return when(s.MaxFailedIndexes == nil && hasMany(s), "add maxFailedIndexes", "maxFailedIndexes is required with backoffLimitPerIndex and more than %d completions", jobspec.ManyCompletions)
	}},
	{"max-failed-without-indexes", invalid, "maxFailedIndexes", func(s *jobSpec) (string, string) {
		return when(s.MaxFailedIndexes != nil && isNonIndexed(s), toIndexed+"remove maxFailedIndexes", "maxFailedIndexes needs an Indexed Job")
	}},
	{"max-failed-above-completions", invalid, "maxFailedIndexes", func(s *jobSpec) (string, string) {
		n := ptr.Deref(s.Completions, 0)
		return when(exceedsCompletions(s), unless(n < 0, "use a value below completions"), "maxFailedIndexes is %d, but there are only %d indexes", number(s.MaxFailedIndexes), n)
	}},
	{"max-failed-too-high", invalid, "maxFailedIndexes", func(s *jobSpec) (string, string) {
		n := number(s.MaxFailedIndexes)
		if !jobspec.IsIndexed(s) || exceedsCompletions(s) {
			return "", ""
		}
		if n <= jobspec.MaxIndexes && hasMany(s) {
			return when(n > jobspec.MaxOfMany, "lower it", "maxFailedIndexes is %d, but at most %d is allowed with more than %d completions", n, jobspec.MaxOfMany, jobspec.ManyCompletions)
		}
		return when(n > jobspec.MaxIndexes, "lower it", "maxFailedIndexes is %d, but at most %d is allowed", n, jobspec.MaxIndexes)
	}},
	{"managed-by-invalid", missing, "managedBy", func(s *jobSpec) (string, string) {
		return when(s.ManagedBy != nil && *s.ManagedBy == "", managedByFix, "managedBy is empty")
	}},
	{"managed-by-invalid", invalid, "managedBy", func(s *jobSpec) (message, fix string) {
		if name := ptr.Deref(s.ManagedBy, ""); name != "" {
			if wrong := validation.IsDomainPrefixedPath(nil, name); len(wrong) > 0 {
				return fmt.Sprintf("managedBy %q: %s", name, wrong[0].Detail), managedByFix
			}
		}
		return "", ""
	}},
	{"managed-by-invalid", tooLong, "managedBy", func(s *jobSpec) (string, string) {
		n := len(ptr.Deref(s.ManagedBy, ""))
		return when(n > maxManagedBy, "use a shorter name", "managedBy is %d bytes long, but at most %d are allowed", n, maxManagedBy)
	}},
	// The field is alpha: without its feature gate, the API server drops it, so there is no fix.
	{"gang-too-large", invalid, "scheduling.schedulingPolicy.gang.minCount", func(s *jobSpec) (string, string) {
		return when(minCount(s.Scheduling) > max(0, jobspec.Parallelism(s)), "", "a gang larger than parallelism")
	}},
	{"replacement-unknown", notSupported, "podReplacementPolicy", func(s *jobSpec) (string, string) {
		policy := ptr.Deref(s.PodReplacementPolicy, batchv1.Failed)
		return when(policy != batchv1.Failed && policy != batchv1.TerminatingOrFailed, "use Failed or TerminatingOrFailed", "there is no podReplacementPolicy %q", shorten(string(policy)))
	}},
	{"replacement-with-failure-policy", notSupported, "podReplacementPolicy", func(s *jobSpec) (string, string) {
		return when(s.PodFailurePolicy != nil && ptr.Deref(s.PodReplacementPolicy, "") == batchv1.TerminatingOrFailed,
			"use Failed, or remove the field", "with podFailurePolicy, a pod is replaced only when it has failed")
	}},
	{"success-without-indexes", invalid, "successPolicy", func(s *jobSpec) (string, string) {
		return when(s.SuccessPolicy != nil && !jobspec.IsIndexed(s), toIndexed+"remove successPolicy", "successPolicy needs an Indexed Job")
	}},
}

var restartRows = []row[*jobSpec]{
	{"restart-policy-missing", missing, "restartPolicy", func(s *jobSpec) (string, string) {
		return when(policyOf(s) == "", restartFix("add", s), "restartPolicy must be Never or OnFailure: a Job does not allow the pod default, Always")
	}},
	{"restart-policy-always", missing, "restartPolicy", func(s *jobSpec) (string, string) {
		return when(policyOf(s) == corev1.RestartPolicyAlways, restartFix("use", s), "the pods of a Job must end, so restartPolicy Always is not allowed")
	}},
	{"restart-policy-unknown", notSupported, "restartPolicy", func(s *jobSpec) (string, string) {
		known := []corev1.RestartPolicy{"", corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}
		return when(!slices.Contains(known, policyOf(s)), restartFix("use", s), "there is no restartPolicy %q", policyOf(s))
	}},
	{"failure-policy-on-failure", invalid, "restartPolicy", func(s *jobSpec) (string, string) {
		return when(s.PodFailurePolicy != nil && policyOf(s) == corev1.RestartPolicyOnFailure, restartFix("use", s), "podFailurePolicy needs restartPolicy Never, because it handles failed pods")
	}},
}

func policyOf(s *jobSpec) corev1.RestartPolicy { return s.Template.Spec.RestartPolicy }

func restartFix(do string, s *jobSpec) string {
	return do + " restartPolicy: Never" + unless(s.PodFailurePolicy != nil, ", or OnFailure to restart containers in their pod")
}

const selectorFix = "remove selector and manualSelector: the API server generates a unique selector"

var selectorRows = []row[*jobSpec]{
	{"selector-missing", missing, "selector", func(s *jobSpec) (string, string) {
		return when(s.Selector == nil, selectorFix, "manualSelector needs a selector")
	}},
	{"selector-mismatch", invalid, "selector template.metadata.labels", func(s *jobSpec) (string, string) {
		return when(mismatches(s.Selector, s.Template.Labels), unless(!jobspec.HasManualSelector(s) || s.Selector == nil, selectorFix), "the selector does not match the labels of the pod template")
	}},
}

const inCronJob = "the API server generates the selector of a CronJob's Jobs"

// templateRows are the rules for the Jobs of a CronJob.
var templateRows = []row[*jobSpec]{
	{"selector-in-cronjob", invalid, "selector", func(s *jobSpec) (string, string) { return when(s.Selector != nil, "remove it", inCronJob) }},
	{"selector-in-cronjob", notSupported, "manualSelector", func(s *jobSpec) (string, string) { return when(jobspec.HasManualSelector(s), "remove it", inCronJob) }},
}

// GeneratedFields returns the problems of labels of the template, and of a selector, that the API server sets itself.
func GeneratedFields(job *batchv1.Job, path *field.Path) (found Problems) {
	if jobspec.HasManualSelector(&job.Spec) {
		return nil
	}
	spec, generated := path.Child("spec"), generatedLabels(job)
	for _, label := range slices.Sorted(maps.Keys(generated)) {
		if value, set := job.Spec.Template.Labels[label]; set && value != generated[label] {
			found = append(found, Problem{ID: "template-label-reserved", Type: invalid, Path: spec.Child("template", "metadata", "labels").Key(label), Fix: "remove the label",
				Message: fmt.Sprintf("the API server sets the label %s itself and rejects other values", label)})
		}
	}
	if job.Spec.Selector != nil && mismatches(job.Spec.Selector, generated) {
		found = append(found, Problem{ID: "selector-not-manual", Type: invalid, Path: spec.Child("selector"), Fix: selectorFix,
			Message: "without manualSelector, the selector can only be on labels that the API server sets itself, such as job-name"})
	}
	return found
}

// mismatches reports whether a valid selector does not match the labels.
func mismatches(selector *metav1.LabelSelector, of labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && !s.Matches(of)
}

func notNegative(name string, value func(s *jobSpec) int64) row[*jobSpec] {
	return row[*jobSpec]{"negative", invalid, name, func(s *jobSpec) (string, string) {
		n := value(s)
		return when(n < 0, "use 0 or more", "%s is %d", name, n)
	}}
}

func number[T int32 | int64](n *T) int64 { return int64(ptr.Deref(n, 0)) }

// isNonIndexed is false for an unknown mode, too.
func isNonIndexed(s *jobSpec) bool { return jobspec.CompletionMode(s) == batchv1.NonIndexedCompletion }

// hasMany reports whether a Job with a limit per index has so many indexes that lower limits apply.
func hasMany(s *jobSpec) bool {
	return jobspec.IsIndexed(s) && s.BackoffLimitPerIndex != nil && number(s.Completions) > jobspec.ManyCompletions
}

func exceedsCompletions(s *jobSpec) bool {
	return jobspec.IsIndexed(s) && s.Completions != nil && ptr.Deref(s.MaxFailedIndexes, *s.Completions) > *s.Completions
}
