package leader

import (
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

// Leases finds the Leases of controllers, for those who ask whether one is running.
type Leases struct{}

// Selector selects the Leases of leaders and of shards, whatever their managedBy value.
func (Leases) Selector() string { return groupLabel + "," + shardLabel }

// IsFor reports whether the holder of a selected Lease runs the Jobs of the namespace with this managedBy value: its
// controller runs those of all namespaces, or of this one only. A Lease shows no longer list of namespaces.
func (Leases) IsFor(l *coordinationv1.Lease, managedBy, namespace string) bool {
	group := l.Labels[groupLabel]
	if group != hashOf(LeaseName(managedBy)) && group != hashOf(LeaseName(managedBy, namespace)) {
		return false
	}
	index, noIndex := strconv.Atoi(l.Labels[shardLabel])
	count, noCount := strconv.Atoi(l.Labels[countLabel])
	// Anybody may have written the labels.
	valid := noIndex == nil && noCount == nil && count <= shard.Max && 0 <= index && index < count
	return valid && shard.Of(index, count).Contains(namespace)
}
