package retry_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

func memoryList(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(text)}
}

// What a pod can never have is known before it is created.
//
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
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
