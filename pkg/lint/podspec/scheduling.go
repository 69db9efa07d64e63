package podspec

import (
	"slices"

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
	checkSpreads(found, spec.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))
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
	oneOf(found, id, path.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)
	oneOf(found, id, path.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
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

func checkSpreads(found *problems, constraints []corev1.TopologySpreadConstraint, path *field.Path) {
	const id = "spread-invalid"
	for i := range constraints {
		constraint, at := &constraints[i], path.Index(i)
		if constraint.MaxSkew < 1 {
			found.add(id, at.Child("maxSkew"), "use 1 or more", "maxSkew is %d", constraint.MaxSkew)
		}
		checkTopologyKey(found, id, constraint.TopologyKey, at)
		if constraint.WhenUnsatisfiable == "" {
			found.add(id, at.Child("whenUnsatisfiable"), "use DoNotSchedule or ScheduleAnyway", "whenUnsatisfiable is missing")
		}
		oneOf(found, id, at.Child("whenUnsatisfiable"), constraint.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		checkLabelSelector(found, constraint.LabelSelector, at.Child("labelSelector"))
		if slices.ContainsFunc(constraints[:i], func(earlier corev1.TopologySpreadConstraint) bool {
			return earlier.TopologyKey == constraint.TopologyKey && earlier.WhenUnsatisfiable == constraint.WhenUnsatisfiable
		}) {
			found.add(id, at.Child("topologyKey"), "remove one of them", "there is already a constraint for %s with %s", shorten(constraint.TopologyKey), shorten(string(constraint.WhenUnsatisfiable)))
		}
	}
}

func checkTopologyKey(found *problems, id, key string, path *field.Path) {
	switch {
	case key == "":
		found.add(id, path.Child("topologyKey"), "add it, such as kubernetes.io/hostname", "topologyKey is missing")
	case len(validation.IsQualifiedName(key)) > 0:
		found.add(id, path.Child("topologyKey"), keyFix, "%q cannot be the key of a label", shorten(key))
	}
}

func checkLabelSelector(found *problems, selector *metav1.LabelSelector, path *field.Path) {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		found.add("label-selector-invalid", path, "correct its keys, values and operators", "the selector is not valid: %s", shorten(err.Error()))
	}
}

func checkNodeAffinity(found *problems, affinity *corev1.NodeAffinity, path *field.Path) {
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		if len(required.NodeSelectorTerms) == 0 {
			found.add("affinity-invalid", at, "add a term, or remove the affinity", "there are no nodeSelectorTerms")
		}
		for i := range required.NodeSelectorTerms {
			checkNodeTerm(found, &required.NodeSelectorTerms[i], at.Index(i))
		}
	}
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i], path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		checkWeight(found, term.Weight, at)
		checkNodeTerm(found, &term.Preference, at.Child("preference"))
	}
}

func checkWeight(found *problems, weight int32, path *field.Path) {
	if weight < 1 || weight > 100 {
		found.add("affinity-invalid", path.Child("weight"), "use 1 to 100", "the weight is %d", weight)
	}
}

func checkNodeTerm(found *problems, term *corev1.NodeSelectorTerm, path *field.Path) {
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
			if len(validation.IsValidLabelValue(value)) > 0 {
				found.add("affinity-invalid", at.Child("values").Index(j), valueFix, "%q cannot be the value of a label", shorten(value))
			}
		}
	}
}

func checkPodTerms(found *problems, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) {
	for i := range required {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i)
		checkTopologyKey(found, "affinity-invalid", required[i].TopologyKey, at)
		checkLabelSelector(found, required[i].LabelSelector, at.Child("labelSelector"))
	}
	for i := range preferred {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		checkWeight(found, preferred[i].Weight, at)
		checkTopologyKey(found, "affinity-invalid", preferred[i].PodAffinityTerm.TopologyKey, at.Child("podAffinityTerm"))
		checkLabelSelector(found, preferred[i].PodAffinityTerm.LabelSelector, at.Child("podAffinityTerm", "labelSelector"))
	}
}
