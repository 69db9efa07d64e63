package apirules

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
)

// toleration rejects a toleration whose operator does not fit its key and value.
func toleration(v *value) (string, string) {
	t := v.object()
	key, _ := t["key"].(string)
	text, _ := t["value"].(string)
	switch operator, _ := t["operator"].(string); {
	case key == "" && operator != "Exists":
		v.below = []string{"operator"}
		return "a toleration without a key needs operator Exists", "add the key of the taint, or operator: Exists for all taints"
	case operator == "Exists" && text != "":
		v.below = []string{"value"}
		return "operator Exists compares no value", "remove the value, or use operator: Equal"
	case operator == "" || operator == "Equal":
		v.below = []string{"value"}
		return format(validation.IsValidLabelValue, "the value of a taint", valueFix)(&value{is: text})
	}
	return "", ""
}

func tolerationTime(v *value) (string, string) {
	if v.object()["tolerationSeconds"] == nil || v.object()["effect"] == "NoExecute" {
		return "", ""
	}
	v.below = []string{"effect"}
	return "tolerationSeconds needs effect NoExecute", "add effect: NoExecute, or remove tolerationSeconds"
}

// selector rejects a label selector that cannot be read.
func selector(v *value) (string, string) {
	var of metav1.LabelSelector
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(v.object(), &of)
	if err == nil {
		_, err = metav1.LabelSelectorAsSelector(&of)
	}
	if v.is == nil || err == nil {
		return "", ""
	}
	return "the selector is not valid: " + shorten(err.Error()), "correct its keys, values and operators"
}

// expression rejects a requirement for nodes whose number of values does not fit its operator.
func expression(v *value) (string, string) {
	values, _ := v.object()["values"].([]any)
	operator, _ := v.object()["operator"].(string)
	v.below = []string{"values"}
	switch n := len(values); {
	case operator == "Exists" || operator == "DoesNotExist":
		if n > 0 {
			return fmt.Sprintf("operator %s cannot have values", operator), "remove them, or use operator: In"
		}
	case (operator == "Gt" || operator == "Lt") && n != 1:
		return fmt.Sprintf("operator %s needs one value", operator), "use exactly one value"
	case (operator == "In" || operator == "NotIn") && n == 0:
		return fmt.Sprintf("operator %s needs values", operator), "add values"
	}
	return "", ""
}
