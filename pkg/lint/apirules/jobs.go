package apirules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CheckJob returns the problems of the spec of a Job, or of a template of Jobs, at this path; nil is the top. content is in JSON,
// without defaults.
func CheckJob(content map[string]any, path *field.Path) []Problem {
	found := &problems{}
	apply(found, jobPaths(), content, "the Job", path)
	return *found
}

// CheckObject returns the problems of the fields that only an object has, not a template: its metadata, except its name and its
// labels, and the fields of a CronJob around its template.
func CheckObject(content map[string]any) []Problem {
	found := &problems{}
	apply(found, objectPaths(), content, "the object", nil)
	return *found
}

var jobPaths = pathsOf(func() []rule {
	const rules, success = "spec.podFailurePolicy.rules", "spec.successPolicy.rules"
	return []rule{
		{"spec.parallelism|completions|backoffLimit|backoffLimitPerIndex|maxFailedIndexes|ttlSecondsAfterFinished", "negative", between(0, math.MaxInt64)},
		{"spec.activeDeadlineSeconds", "negative", between(0, math.MaxInt64)},
		{"spec.completionMode", "completion-mode-unknown", given(allowed("NonIndexed", "Indexed"))},
		{"spec.podReplacementPolicy", "replacement-unknown", given(allowed("Failed", "TerminatingOrFailed"))},
		{"spec", "max-failed-without-limit-per-index", needs("maxFailedIndexes", "backoffLimitPerIndex", "add backoffLimitPerIndex")},
		{rules, "too-many-rules", noMore(20)},
		{rules + "[].action", "action-unknown", allowed("FailJob", "FailIndex", "Ignore", "Count")},
		{rules + "[]", "two-requirements", atMostOne("onExitCodes", "onPodConditions")},
		{rules + "[]", "no-requirement", anyOf("onExitCodes", "onPodConditions")},
		{rules + "[].onExitCodes.operator", "operator-unknown", allowed("In", "NotIn")},
		{rules + "[].onExitCodes.values", "no-exit-codes", required("add an exit code")},
		{rules + "[].onExitCodes.values", "too-many-exit-codes", noMore(MaxExitCodes)},
		{rules + "[].onPodConditions", "too-many-conditions", noMore(20)},
		{rules + "[].onPodConditions[].type", "condition-type-invalid", required("add it, such as DisruptionTarget")},
		{rules + "[].onPodConditions[].type", "condition-type-invalid", format(validation.IsQualifiedName, "the type of a condition", "use the type of a pod condition, such as DisruptionTarget")},
		{rules + "[].onPodConditions[].status", "condition-status-unknown", oneOf("True", "False", "Unknown")},
		{success, "no-success-rules", required("add a rule, or remove successPolicy")},
		{success, "too-many-success-rules", noMore(MaxSuccessRules)},
		{success + "[]", "success-rule-empty", anyOf("succeededCount", "succeededIndexes")},
		{success + "[].succeededCount", "negative", between(0, math.MaxInt64)},
	}
})

// MaxExitCodes is the maximum number of values of a rule on exit codes, and MaxSuccessRules that of rules of successPolicy.
const (
	MaxExitCodes    = 255
	MaxSuccessRules = 20
)

var objectPaths = pathsOf(func() []rule {
	return []rule{
		{"metadata.namespace", "namespace-invalid", label("the name of a namespace")},
		{"metadata.finalizers[]", "finalizer-invalid", finalizer},
		{"metadata.ownerReferences[].apiVersion|kind|name|uid", "owner-invalid", required("add it, or remove the owner")},
		{"metadata.ownerReferences[]", "owner-invalid", noEvent},
		{"spec.concurrencyPolicy", "concurrency-policy-unknown", oneOf("Allow", "Forbid", "Replace")},
		{"spec.successfulJobsHistoryLimit|failedJobsHistoryLimit|startingDeadlineSeconds", "negative", between(0, math.MaxInt64)},
	}
})

// finalizer rejects a finalizer that does not exist, or that excludes another one.
func finalizer(v *value) (string, string) {
	all, _ := v.in.is.([]any)
	orphan, foreground := metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents
	switch name := v.text(); {
	case len(validation.IsQualifiedName(name)) > 0, name != orphan && name != foreground && !strings.Contains(name, "/"):
		return "there is no finalizer " + strconv.Quote(shorten(name)), "use a domain, '/' and a name"
	case name == orphan && slices.Contains(all, any(foreground)):
		return "an object cannot have both finalizers " + orphan + " and " + foreground, "remove one of them"
	}
	return "", ""
}

// noEvent rejects an Event as an owner.
func noEvent(v *value) (string, string) {
	v.below = []string{"kind"}
	if v.object()["apiVersion"] == "v1" && v.object()["kind"] == "Event" {
		return "an Event cannot be an owner", "remove it"
	}
	return "", ""
}
