package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// requirement returns the requirement of a podFailurePolicy rule: "main exits with 42 or 43".
func requirement(rule *batchv1.PodFailurePolicyRule) string {
	if rule.OnExitCodes != nil {
		return exitCodesText(rule.OnExitCodes)
	}
	var patterns []string
	for _, p := range rule.OnPodConditions {
		text := string(p.Type)
		if p.Status != "" && p.Status != corev1.ConditionTrue {
			text += "=" + string(p.Status)
		}
		patterns = append(patterns, text)
	}
	if len(patterns) == 0 {
		return "nothing"
	}
	return "pod condition " + wording.Enumerate(patterns, "or")
}

func exitCodesText(codes *batchv1.PodFailurePolicyOnExitCodesRequirement) string {
	who := ptr.Deref(codes.ContainerName, "any container")
	values := make([]string, len(codes.Values))
	for i, v := range codes.Values {
		values[i] = strconv.Itoa(int(v))
	}
	switch codes.Operator {
	case batchv1.PodFailurePolicyOnExitCodesOpIn:
		return fmt.Sprintf("%s exits with %s", who, wording.Enumerate(values, "or"))
	case batchv1.PodFailurePolicyOnExitCodesOpNotIn:
		// A rule never matches exit code 0 (PFP-03).
		values = slices.DeleteFunc(values, func(v string) bool { return v == "0" })
		return fmt.Sprintf("%s exits with a code other than %s", who, wording.Enumerate(append([]string{"0"}, values...), "and"))
	}
	return fmt.Sprintf("%s exits with a code %s %s", who, codes.Operator, wording.Enumerate(values, "and"))
}

// successRuleText returns the progress of a successPolicy rule: "3 of 5 (indexes 1-9)".
func successRuleText(r *explain.SuccessRule) string {
	switch {
	case r.Empty:
		return "can never be met: it lists no indexes"
	case r.Of == "":
		return wording.Of(r.Have, r.Need) + " (any indexes)"
	}
	return fmt.Sprintf("%s (%s %s)", wording.Of(r.Have, r.Need), wording.Form(1+strings.Count(r.Of, ",")+strings.Count(r.Of, "-"), "index", "indexes"), r.Of)
}

// RuleLabel returns `rule 1 "OutOfMemory"`.
func RuleLabel(index int32, name string) string {
	if name == "" {
		return fmt.Sprintf("rule %d", index)
	}
	return fmt.Sprintf("rule %d %q", index, name)
}
