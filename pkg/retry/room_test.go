package retry_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func memoryList(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(text)}
}

// The largest node is one that the pod may run on: conditions of nodes, which pass, do not matter.
// Requirements: RTY-46
func TestNodesThatThePodMayRunOn(t *testing.T) {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"pool": "big", "cores": "64"}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: "node.kubernetes.io/unschedulable", Effect: corev1.TaintEffectNoSchedule},
			{Key: "spot", Value: "x", Effect: corev1.TaintEffectPreferNoSchedule},
		}},
	}
	gpu := node.DeepCopy()
	gpu.Spec.Taints = append(gpu.Spec.Taints, corev1.Taint{Key: "gpu", Value: "a100", Effect: corev1.TaintEffectNoSchedule})
	affine := func(terms ...corev1.NodeSelectorTerm) corev1.PodSpec {
		required := &corev1.NodeSelector{NodeSelectorTerms: terms}
		return corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}}
	}
	label := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	name := func(name string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}}
	}
	tolerant := func(t corev1.Toleration) corev1.PodSpec { return corev1.PodSpec{Tolerations: []corev1.Toleration{t}} }
	for what, c := range map[string]struct {
		node *corev1.Node
		spec corev1.PodSpec
		want bool
	}{
		"any":                   {node, corev1.PodSpec{}, true},
		"selector":              {node, corev1.PodSpec{NodeSelector: map[string]string{"pool": "big"}}, true},
		"selector of others":    {node, corev1.PodSpec{NodeSelector: map[string]string{"pool": "small"}}, false},
		"affinity":              {node, affine(label("pool", corev1.NodeSelectorOpIn, "big", "huge")), true},
		"affinity to others":    {node, affine(label("pool", corev1.NodeSelectorOpNotIn, "big")), false},
		"one of two terms":      {node, affine(label("zone", corev1.NodeSelectorOpExists), label("cores", corev1.NodeSelectorOpGt, "32")), true},
		"neither of two":        {node, affine(label("pool", corev1.NodeSelectorOpDoesNotExist), label("cores", corev1.NodeSelectorOpLt, "32")), false},
		"its name":              {node, affine(name("n")), true},
		"another name":          {node, affine(name("m")), false},
		"an empty term":         {node, affine(corev1.NodeSelectorTerm{}), false},
		"a taint":               {gpu, corev1.PodSpec{}, false},
		"a tolerated taint":     {gpu, tolerant(corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists}), true},
		"a toleration of value": {gpu, tolerant(corev1.Toleration{Key: "gpu", Value: "h100", Effect: corev1.TaintEffectNoSchedule}), false},
	} {
		assert.Equal(t, retry.Takes(c.node, &c.spec), c.want, what)
	}
}

// What a pod can never have is known before it is created.
// Requirements: RTY-46
func TestRoomForMoreMemory(t *testing.T) {
	limitRange := func(kind corev1.LimitType, most string) retry.Room {
		return retry.Room{LimitRanges: []corev1.LimitRange{{
			ObjectMeta: metav1.ObjectMeta{Name: "r"},
			Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: kind, Max: memoryList(most)}}},
		}}}
	}
	quota := func(name corev1.ResourceName, most string, scopes ...corev1.ResourceQuotaScope) retry.Room {
		return retry.Room{Quotas: []corev1.ResourceQuota{{
			ObjectMeta: metav1.ObjectMeta{Name: "q"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: resource.MustParse(most)}, Scopes: scopes},
		}}}
	}
	node := func(most string) retry.Room {
		return retry.Room{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Allocatable: memoryList(most)}}}
	}
	// The limits are 4Gi and 1Gi, the requests 2Gi and 1Gi.
	spec := &corev1.PodSpec{Containers: []corev1.Container{
		{Name: "main", Resources: corev1.ResourceRequirements{Limits: memoryList("4Gi"), Requests: memoryList("2Gi")}},
		{Name: "side", Resources: corev1.ResourceRequirements{Limits: memoryList("1Gi")}},
	}}
	for name, c := range map[string]struct {
		room retry.Room
		want string
	}{
		"nothing is known":     {retry.Room{}, ""},
		"container":            {limitRange(corev1.LimitTypeContainer, "3Gi"), "LimitRange r memory main 4Gi 3Gi"},
		"container with room":  {limitRange(corev1.LimitTypeContainer, "4Gi"), ""},
		"pod":                  {limitRange(corev1.LimitTypePod, "4Gi"), "LimitRange r memory  5Gi 4Gi"},
		"claims":               {limitRange(corev1.LimitTypePersistentVolumeClaim, "1Gi"), ""},
		"quota of limits":      {quota(corev1.ResourceLimitsMemory, "4Gi"), "ResourceQuota q limits.memory  5Gi 4Gi"},
		"quota of requests":    {quota(corev1.ResourceRequestsMemory, "2Gi"), "ResourceQuota q requests.memory  3Gi 2Gi"},
		"quota with room":      {quota(corev1.ResourceMemory, "3Gi"), ""},
		"quota of other pods":  {quota(corev1.ResourceMemory, "1Gi", corev1.ResourceQuotaScopeBestEffort), ""},
		"largest node":         {node("2Gi"), "Node n memory  3Gi 2Gi"},
		"largest node is fine": {node("3Gi"), ""},
	} {
		got := ""
		if refused := c.room.Check(spec); refused != nil {
			got = string(refused.Kind) + " " + refused.Name + " " + refused.Resource + " " + refused.Container + " " + refused.Wants.String() + " " + refused.Most.String()
		}
		assert.Equal(t, got, c.want, name)
	}
}
