package leader

import (
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

// Leases finds the Leases of controllers, for those who ask whether one is running.
type Leases struct{}

// Selector selects by labels the Leases of the controllers of a managedBy value and all namespaces: that of the only
// leader, or those of the shards.
func (Leases) Selector(managedBy string) string {
	return labels.Set{groupLabel: hashOf(LeaseName(managedBy))}.String() + "," + shardLabel
}

// IsFor reports whether the holder of a selected Lease works on the Jobs of the namespace.
func (Leases) IsFor(l *coordinationv1.Lease, namespace string) bool {
	index, noIndex := strconv.Atoi(l.Labels[shardLabel])
	count, noCount := strconv.Atoi(l.Labels[countLabel])
	// Anybody may have written the labels.
	valid := noIndex == nil && noCount == nil && count <= shard.Max && 0 <= index && index < count
	return valid && shard.Of(index, count).Contains(namespace)
}
