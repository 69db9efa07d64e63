package apirules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// failureRule is a rule of podFailurePolicy.
type failureRule struct {
	*batchv1.PodFailurePolicyRule
	spec *jobSpec
}

// checkFailurePolicy checks podFailurePolicy (PFP-11, PFP-12).
func checkFailurePolicy(found *Problems, spec *jobSpec, path *field.Path) {
	if spec.PodFailurePolicy == nil {
		return
	}
	rules, containers := spec.PodFailurePolicy.Rules, ContainerNames(&spec.Template.Spec)
	judge(found, failureRows, len(rules), path)
	for i := range itemsOf(rules) {
		rule, at := failureRule{&rules[i], spec}, path.Index(i)
		judge(found, failureRuleRows, rule, at)
		if rule.OnExitCodes != nil {
			checkExitCodes(found, exitCodes{rule.OnExitCodes, containers}, at.Child("onExitCodes"))
		}
		for j := range itemsOf(rule.OnPodConditions) {
			judge(found, conditionRows, &rule.OnPodConditions[j], at.Child("onPodConditions").Index(j))
		}
	}
}

// itemsOf returns the number of items to check.
func itemsOf[T any](list []T) int {
	if len(list) > maxItems {
		return 0
	}
	return len(list)
}

var failureRows = []row[int]{{"too-many-rules", tooMany, "", func(n int) (string, string) { return more(n, jobspec.MaxRules, "rules") }}}

var actions = []batchv1.PodFailurePolicyAction{"", batchv1.PodFailurePolicyActionFailJob, batchv1.PodFailurePolicyActionFailIndex, batchv1.PodFailurePolicyActionIgnore, batchv1.PodFailurePolicyActionCount}

var failureRuleRows = []row[failureRule]{
	{"action-unknown", missing, "action", func(r failureRule) (string, string) { return when(r.Action == "", useAction, "action is missing") }},
	{"action-unknown", notSupported, "action", func(r failureRule) (string, string) {
		return when(!slices.Contains(actions, r.Action), useAction, "there is no action %q", shorten(string(r.Action)))
	}},
	{"fail-index-without-limit", invalid, "action", func(r failureRule) (string, string) {
		return when(r.Action == batchv1.PodFailurePolicyActionFailIndex && r.spec.BackoffLimitPerIndex == nil, "add backoffLimitPerIndex to the Job's spec, or use FailJob", "FailIndex needs backoffLimitPerIndex")
	}},
	{"two-requirements", invalid, "onPodConditions .", func(r failureRule) (string, string) {
		return when(r.OnExitCodes != nil && len(r.OnPodConditions) > 0, "remove one of them", "the rule has both onExitCodes and onPodConditions")
	}},
	{"no-requirement", invalid, "", func(r failureRule) (string, string) {
		return when(r.OnExitCodes == nil && len(r.OnPodConditions) == 0, "add one of them", "the rule has neither onExitCodes nor onPodConditions")
	}},
	{"too-many-conditions", tooMany, "onPodConditions", func(r failureRule) (string, string) {
		return more(len(r.OnPodConditions), jobspec.MaxRules, "onPodConditions")
	}},
}

const useAction = "use FailJob, FailIndex, Ignore or Count"

// exitCodes is a requirement of a rule of podFailurePolicy.
type exitCodes struct {
	*batchv1.PodFailurePolicyOnExitCodesRequirement
	containers []string // of the template
}

// exitCode is one of the values of a requirement.
type exitCode struct {
	code   int32
	in     bool // the operator is In
	before bool // the code is among the values before
}

func checkExitCodes(found *Problems, on exitCodes, path *field.Path) {
	judge(found, exitCodesRows, on, path)
	before := map[int32]bool{}
	for i, code := range on.Values {
		judge(found, exitCodeRows, exitCode{code, on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn, before[code]}, path.Child("values").Index(i))
		before[code] = true
	}
}

var operators = []batchv1.PodFailurePolicyOnExitCodesOperator{"", batchv1.PodFailurePolicyOnExitCodesOpIn, batchv1.PodFailurePolicyOnExitCodesOpNotIn}

var exitCodesRows = []row[exitCodes]{
	{"operator-unknown", missing, "operator", func(on exitCodes) (string, string) {
		return when(on.Operator == "", "use In or NotIn", "operator is missing")
	}},
	{"operator-unknown", notSupported, "operator", func(on exitCodes) (string, string) {
		return when(!slices.Contains(operators, on.Operator), "use In or NotIn", "there is no operator %q", shorten(string(on.Operator)))
	}},
	{"no-exit-codes", invalid, "values", func(on exitCodes) (string, string) {
		return when(len(on.Values) == 0, "add an exit code", "onExitCodes has no values")
	}},
	{"too-many-exit-codes", tooMany, "values", func(on exitCodes) (string, string) { return more(len(on.Values), jobspec.MaxExitCodes, "values") }},
	{"exit-codes-not-sorted", invalid, "values", func(on exitCodes) (string, string) {
		return when(!slices.IsSorted(on.Values), "sort them", "exit codes must increase")
	}},
	{"container-unknown", invalid, "containerName", func(on exitCodes) (message, fix string) {
		if on.ContainerName == nil || slices.Contains(on.containers, *on.ContainerName) {
			return "", ""
		}
		has := "there are no containers"
		if len(on.containers) > 0 {
			has = "the template has " + shorten(strings.Join(on.containers, ", "))
		}
		return fmt.Sprintf("there is no container %q; %s", *on.ContainerName, has), "use the name of a container or init container in the template"
	}},
}

var exitCodeRows = []row[exitCode]{
	{"exit-code-twice", repeated, "", func(c exitCode) (string, string) {
		return when(c.before, "remove it", "exit code %d is listed twice", c.code)
	}},
	{"exit-code-zero", invalid, "", func(c exitCode) (string, string) {
		return when(c.code == 0 && c.in, unless(c.before, "remove it"), "0 means success and is not allowed with In")
	}},
}

// ContainerNames returns the valid values of onExitCodes.containerName.
func ContainerNames(pod *corev1.PodSpec) []string {
	var names []string
	for _, list := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}

var conditionStatuses = []corev1.ConditionStatus{"", corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown} // "" has the default

var conditionRows = []row[*batchv1.PodFailurePolicyOnPodConditionsPattern]{
	{"condition-type-invalid", invalid, "type", func(p *batchv1.PodFailurePolicyOnPodConditionsPattern) (string, string) {
		if p.Type == "" {
			return "the condition has no type", "add it, such as DisruptionTarget"
		}
		return when(len(validation.IsQualifiedName(string(p.Type))) > 0, "use the type of a pod condition, such as DisruptionTarget", "%q cannot be the type of a condition", shorten(string(p.Type)))
	}},
	{"condition-status-unknown", notSupported, "status", func(p *batchv1.PodFailurePolicyOnPodConditionsPattern) (string, string) {
		return when(!slices.Contains(conditionStatuses, p.Status), "use True, False or Unknown", "there is no status %q", shorten(string(p.Status)))
	}},
}

// successRule is a rule of successPolicy. listed are its succeededIndexes, unless there is a problem.
type successRule struct {
	count       *int32
	indexes     *string
	completions int32
	listed      indexset.Set
	problem     string
}

// checkSuccessPolicy checks successPolicy of an Indexed Job (SUC-01, SUC-02).
func checkSuccessPolicy(found *Problems, spec *jobSpec, path *field.Path) {
	if spec.SuccessPolicy == nil || !jobspec.IsIndexed(spec) {
		return
	}
	rules := spec.SuccessPolicy.Rules
	judge(found, successRows, len(rules), path)
	for i := range itemsOf(rules) {
		rule := successRule{count: rules[i].SucceededCount, indexes: rules[i].SucceededIndexes, completions: ptr.Deref(spec.Completions, -1)}
		if spec.Completions == nil && (rule.count != nil || rule.indexes != nil) {
			continue // A real API server panics.
		}
		if rule.indexes != nil {
			rule.listed, rule.problem = ReadIndexes(*rule.indexes, rule.completions)
		}
		judge(found, successRuleRows, rule, path.Index(i))
	}
}

var successRows = []row[int]{
	{"no-success-rules", missing, "", func(n int) (string, string) {
		return when(n == 0, "add a rule, or remove successPolicy", "successPolicy has no rules")
	}},
	{"too-many-success-rules", tooMany, "", func(n int) (string, string) { return more(n, jobspec.MaxRules, "rules") }},
}

var successRuleRows = []row[successRule]{
	{"success-rule-empty", missing, "", func(r successRule) (string, string) {
		return when(r.count == nil && r.indexes == nil, "add succeededCount or succeededIndexes", "the rule is empty")
	}},
	{"indexes-too-long", tooLong, "succeededIndexes", func(r successRule) (string, string) {
		n := len(ptr.Deref(r.indexes, ""))
		return when(n > jobspec.MaxSucceededIndexes, "use intervals, such as 0-99", "%d bytes long, but at most %d are allowed", n, jobspec.MaxSucceededIndexes)
	}},
	{"indexes-invalid", invalid, "succeededIndexes", func(r successRule) (string, string) {
		return r.problem, unless(r.completions < 0, "use increasing indexes and intervals below completions, such as 0,3-5")
	}},
	{"negative", invalid, "succeededCount", func(r successRule) (string, string) {
		return when(number(r.count) < 0, "use 0 or more", "succeededCount is %d", number(r.count))
	}},
	{"success-count-too-high", invalid, "succeededCount", func(r successRule) (string, string) {
		count, listed := int(number(r.count)), r.listed.Len()
		if r.count == nil || count > int(r.completions) {
			return when(r.count != nil, unless(r.completions < 0, "lower succeededCount"), "succeededCount is %d, but there are only %d indexes", count, r.completions)
		}
		return when(r.indexes != nil && count > listed, unless(r.problem != "", "lower succeededCount, or list more indexes"), "succeededCount is %d, but the rule lists only %d indexes", count, listed)
	}},
}

// ReadIndexes parses a list of indexes like the API server, which accepts +3 and 03 as 3. The problem quotes the fragment with
// which the list is not valid.
func ReadIndexes(text string, completions int32) (list indexset.Set, problem string) {
	var intervals []indexset.Interval
	last := int32(-1)
	for fragment := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		interval, problem := readInterval(fragment, completions)
		if problem == "" && interval.First <= last {
			problem = fmt.Sprintf("indexes must increase, but %d is not above %d", interval.First, last)
		}
		if problem != "" {
			return list, fmt.Sprintf("%q: %s", shorten(fragment), problem)
		}
		intervals, last = append(intervals, interval), interval.Last
	}
	return indexset.OfIntervals(intervals...), ""
}

func readInterval(fragment string, completions int32) (indexset.Interval, string) {
	first, last, isInterval := strings.Cut(fragment, "-")
	if !isInterval {
		last = first
	}
	var ends [2]int32
	for i, text := range [...]string{first, last} {
		n, err := strconv.Atoi(text)
		if err != nil {
			return indexset.Interval{}, "neither an index nor an interval (first-last)"
		}
		if n >= int(completions) {
			return indexset.Interval{}, fmt.Sprintf("there is no index %d; the last one is %d", n, completions-1)
		}
		ends[i] = int32(n)
	}
	if isInterval && ends[0] >= ends[1] {
		return indexset.Interval{}, "an interval must start below its end"
	}
	return indexset.Interval{First: ends[0], Last: ends[1]}, ""
}
