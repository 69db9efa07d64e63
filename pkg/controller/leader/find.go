package leader

import (
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

// Leases finds the Leases of controllers, for clients that check whether a controller is running.
type Leases struct{}

// Selector returns a label selector for the Leases of leaders and of shards, whatever their managedBy value.
func (Leases) Selector() string { return groupLabel + "," + shardLabel }

// IsFor reports whether the holder of a selected Lease runs the Jobs of the namespace with this managedBy value: its
// controller runs the Jobs of all namespaces, or of this namespace only. A Lease does not show a longer list of
// namespaces.
func (Leases) IsFor(l *coordinationv1.Lease, managedBy, namespace string) bool {
	group := l.Labels[groupLabel]
	if group != hashOf(LeaseName(managedBy)) && group != hashOf(LeaseName(managedBy, namespace)) {
		return false
	}
	index, noIndex := strconv.Atoi(l.Labels[shardLabel])
	count, noCount := strconv.Atoi(l.Labels[countLabel])
	// Any client may have written the labels.
	valid := noIndex == nil && noCount == nil && count <= shard.Max && 0 <= index && index < count
	return valid && shard.Of(index, count).Contains(namespace)
}
