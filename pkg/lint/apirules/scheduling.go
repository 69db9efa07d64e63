package apirules

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkScheduling checks the constraints on the nodes of the pods.
func checkScheduling(found *problems, spec *corev1.PodSpec, path *field.Path) {
	checkLabels(found, "node-selector-invalid", spec.NodeSelector, path.Child("nodeSelector"))
	for i := range spec.Tolerations {
		checkToleration(found, &spec.Tolerations[i], path.Child("tolerations").Index(i))
	}
	for i := range spec.TopologySpreadConstraints {
		checkLabelSelector(found, spec.TopologySpreadConstraints[i].LabelSelector, path.Child("topologySpreadConstraints").Index(i).Child("labelSelector"))
	}
	affinity, at := spec.Affinity, path.Child("affinity")
	if affinity == nil {
		return
	}
	if affinity.NodeAffinity != nil {
		checkNodeAffinity(found, affinity.NodeAffinity, at.Child("nodeAffinity"))
	}
	if own := affinity.PodAffinity; own != nil {
		checkPodTerms(found, own.RequiredDuringSchedulingIgnoredDuringExecution, own.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAffinity"))
	}
	if own := affinity.PodAntiAffinity; own != nil {
		checkPodTerms(found, own.RequiredDuringSchedulingIgnoredDuringExecution, own.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAntiAffinity"))
	}
}

func checkToleration(found *problems, t *corev1.Toleration, path *field.Path) {
	const id = "toleration-invalid"
	equal := t.Operator == "" || t.Operator == corev1.TolerationOpEqual
	switch {
	case t.Key == "" && t.Operator != corev1.TolerationOpExists:
		found.add(id, path.Child("operator"), "add the key of the taint, or operator: Exists for all taints", "a toleration without a key needs operator Exists")
	case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
		found.add(id, path.Child("key"), keyFix, "%q cannot be the key of a taint", shorten(t.Key))
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		found.add(id, path.Child("value"), "remove the value, or use operator: Equal", "operator Exists compares no value")
	case equal && len(validation.IsValidLabelValue(t.Value)) > 0:
		found.add(id, path.Child("value"), valueFix, "%q cannot be the value of a taint", shorten(t.Value))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		found.add(id, path.Child("effect"), "add effect: NoExecute, or remove tolerationSeconds", "tolerationSeconds needs effect NoExecute")
	}
}

func checkLabelSelector(found *problems, selector *metav1.LabelSelector, path *field.Path) {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		found.add("label-selector-invalid", path, "correct its keys, values and operators", "the selector is not valid: %s", shorten(err.Error()))
	}
}

func checkNodeAffinity(found *problems, affinity *corev1.NodeAffinity, path *field.Path) {
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		for i := range required.NodeSelectorTerms {
			checkNodeTerm(found, &required.NodeSelectorTerms[i], path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i), true)
		}
	}
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		checkNodeTerm(found, &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i].Preference, at.Child("preference"), false)
	}
}

// checkNodeTerm checks a term; the API server checks the values of required terms only.
func checkNodeTerm(found *problems, term *corev1.NodeSelectorTerm, path *field.Path, required bool) {
	for i := range term.MatchExpressions {
		e, at := &term.MatchExpressions[i], path.Child("matchExpressions").Index(i)
		if len(validation.IsQualifiedName(e.Key)) > 0 {
			found.add("affinity-invalid", at.Child("key"), keyFix, "%q cannot be the key of a label", shorten(e.Key))
		}
		n := len(e.Values)
		switch e.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if n == 0 {
				found.add("affinity-invalid", at.Child("values"), "add values", "operator %s needs values", e.Operator)
			}
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			if n > 0 {
				found.add("affinity-invalid", at.Child("values"), "remove them, or use operator: In", "operator %s cannot have values", e.Operator)
			}
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			if n != 1 {
				found.add("affinity-invalid", at.Child("values"), "use exactly one value", "operator %s needs one value", e.Operator)
			}
		default:
			found.add("affinity-invalid", at.Child("operator"), "use one of: In, NotIn, Exists, DoesNotExist, Gt, Lt", "there is no operator %q", shorten(string(e.Operator)))
		}
		for j, value := range e.Values {
			if required && len(validation.IsValidLabelValue(value)) > 0 {
				found.add("affinity-invalid", at.Child("values").Index(j), valueFix, "%q cannot be the value of a label", shorten(value))
			}
		}
	}
}

func checkPodTerms(found *problems, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) {
	check := func(term *corev1.PodAffinityTerm, at *field.Path) {
		checkLabelSelector(found, term.LabelSelector, at.Child("labelSelector"))
		checkLabelSelector(found, term.NamespaceSelector, at.Child("namespaceSelector"))
		if term.LabelSelector == nil && len(term.MatchLabelKeys)+len(term.MismatchLabelKeys) > 0 {
			found.add("affinity-invalid", at.Child("labelSelector"), "add it", "matchLabelKeys and mismatchLabelKeys need a labelSelector")
		}
	}
	for i := range required {
		check(&required[i], path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i))
	}
	for i := range preferred {
		check(&preferred[i].PodAffinityTerm, path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm"))
	}
}
