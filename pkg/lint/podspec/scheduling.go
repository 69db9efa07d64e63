package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// scheduling checks where the pods may run.
func (c *checker) scheduling(spec *corev1.PodSpec, path *field.Path) {
	c.labels("node-selector-invalid", spec.NodeSelector, path.Child("nodeSelector"))
	for i := range spec.Tolerations {
		c.toleration(&spec.Tolerations[i], path.Child("tolerations").Index(i))
	}
	c.spread(spec.TopologySpreadConstraints, path.Child("topologySpreadConstraints"))
	affinity, at := spec.Affinity, path.Child("affinity")
	if affinity == nil {
		return
	}
	if affinity.NodeAffinity != nil {
		c.nodeAffinity(affinity.NodeAffinity, at.Child("nodeAffinity"))
	}
	if own := affinity.PodAffinity; own != nil {
		c.podTerms(own.RequiredDuringSchedulingIgnoredDuringExecution, own.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAffinity"))
	}
	if own := affinity.PodAntiAffinity; own != nil {
		c.podTerms(own.RequiredDuringSchedulingIgnoredDuringExecution, own.PreferredDuringSchedulingIgnoredDuringExecution, at.Child("podAntiAffinity"))
	}
}

func (c *checker) toleration(t *corev1.Toleration, path *field.Path) {
	const id = "toleration-invalid"
	oneOf(c, id, path.Child("operator"), t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)
	oneOf(c, id, path.Child("effect"), t.Effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
	equal := t.Operator == "" || t.Operator == corev1.TolerationOpEqual
	switch {
	case t.Key == "" && t.Operator != corev1.TolerationOpExists:
		c.add(id, path.Child("operator"), "add the key of the taint, or operator: Exists for all taints", "a toleration without a key needs operator Exists")
	case t.Key != "" && len(validation.IsQualifiedName(t.Key)) > 0:
		c.add(id, path.Child("key"), keyFix, "%q cannot be the key of a taint", shorten(t.Key))
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		c.add(id, path.Child("value"), "remove the value, or use operator: Equal", "operator Exists compares no value")
	case equal && len(validation.IsValidLabelValue(t.Value)) > 0:
		c.add(id, path.Child("value"), valueFix, "%q cannot be the value of a taint", shorten(t.Value))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		c.add(id, path.Child("effect"), "add effect: NoExecute, or remove tolerationSeconds", "tolerationSeconds needs effect NoExecute")
	}
}

func (c *checker) spread(constraints []corev1.TopologySpreadConstraint, path *field.Path) {
	const id = "spread-invalid"
	for i := range constraints {
		constraint, at := &constraints[i], path.Index(i)
		if constraint.MaxSkew < 1 {
			c.add(id, at.Child("maxSkew"), "use 1 or more", "maxSkew is %d", constraint.MaxSkew)
		}
		c.topologyKey(id, constraint.TopologyKey, at)
		if constraint.WhenUnsatisfiable == "" {
			c.add(id, at.Child("whenUnsatisfiable"), "use DoNotSchedule or ScheduleAnyway", "whenUnsatisfiable is missing")
		}
		oneOf(c, id, at.Child("whenUnsatisfiable"), constraint.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		c.selector(constraint.LabelSelector, at.Child("labelSelector"))
		if slices.ContainsFunc(constraints[:i], func(earlier corev1.TopologySpreadConstraint) bool {
			return earlier.TopologyKey == constraint.TopologyKey && earlier.WhenUnsatisfiable == constraint.WhenUnsatisfiable
		}) {
			c.add(id, at.Child("topologyKey"), "remove one of them", "there is already a constraint for %s with %s", shorten(constraint.TopologyKey), shorten(string(constraint.WhenUnsatisfiable)))
		}
	}
}

func (c *checker) topologyKey(id, key string, path *field.Path) {
	switch {
	case key == "":
		c.add(id, path.Child("topologyKey"), "add it, such as kubernetes.io/hostname", "topologyKey is missing")
	case len(validation.IsQualifiedName(key)) > 0:
		c.add(id, path.Child("topologyKey"), keyFix, "%q cannot be the key of a label", shorten(key))
	}
}

func (c *checker) selector(selector *metav1.LabelSelector, path *field.Path) {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		c.add("label-selector-invalid", path, "correct its keys, values and operators", "the selector is not valid: %s", shorten(err.Error()))
	}
}

func (c *checker) nodeAffinity(affinity *corev1.NodeAffinity, path *field.Path) {
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		if len(required.NodeSelectorTerms) == 0 {
			c.add("affinity-invalid", at, "add a term, or remove the affinity", "there are no nodeSelectorTerms")
		}
		for i := range required.NodeSelectorTerms {
			c.nodeTerm(&required.NodeSelectorTerms[i], at.Index(i))
		}
	}
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		term, at := &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i], path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		c.weight(term.Weight, at)
		c.nodeTerm(&term.Preference, at.Child("preference"))
	}
}

func (c *checker) weight(weight int32, path *field.Path) {
	if weight < 1 || weight > 100 {
		c.add("affinity-invalid", path.Child("weight"), "use 1 to 100", "the weight is %d", weight)
	}
}

func (c *checker) nodeTerm(term *corev1.NodeSelectorTerm, path *field.Path) {
	for i := range term.MatchExpressions {
		e, at := &term.MatchExpressions[i], path.Child("matchExpressions").Index(i)
		if len(validation.IsQualifiedName(e.Key)) > 0 {
			c.add("affinity-invalid", at.Child("key"), keyFix, "%q cannot be the key of a label", shorten(e.Key))
		}
		n := len(e.Values)
		switch e.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if n == 0 {
				c.add("affinity-invalid", at.Child("values"), "add values", "operator %s needs values", e.Operator)
			}
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			if n > 0 {
				c.add("affinity-invalid", at.Child("values"), "remove them, or use operator: In", "operator %s cannot have values", e.Operator)
			}
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			if n != 1 {
				c.add("affinity-invalid", at.Child("values"), "use exactly one value", "operator %s needs one value", e.Operator)
			}
		default:
			c.add("affinity-invalid", at.Child("operator"), "use one of: In, NotIn, Exists, DoesNotExist, Gt, Lt", "there is no operator %q", shorten(string(e.Operator)))
		}
		for j, value := range e.Values {
			if len(validation.IsValidLabelValue(value)) > 0 {
				c.add("affinity-invalid", at.Child("values").Index(j), valueFix, "%q cannot be the value of a label", shorten(value))
			}
		}
	}
}

func (c *checker) podTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, path *field.Path) {
	for i := range required {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i)
		c.topologyKey("affinity-invalid", required[i].TopologyKey, at)
		c.selector(required[i].LabelSelector, at.Child("labelSelector"))
	}
	for i := range preferred {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		c.weight(preferred[i].Weight, at)
		c.topologyKey("affinity-invalid", preferred[i].PodAffinityTerm.TopologyKey, at.Child("podAffinityTerm"))
		c.selector(preferred[i].PodAffinityTerm.LabelSelector, at.Child("podAffinityTerm", "labelSelector"))
	}
}
