package gather

import (
	"cmp"
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
)

// Leases identifies the Leases of controllers.
type Leases interface {
	// Selector selects the Leases of all of this project's controllers by their labels.
	Selector() string
	// IsFor reports whether the holder of a selected Lease runs the Jobs of the namespace with this managedBy value.
	IsFor(l *coordinationv1.Lease, managedBy, namespace string) bool
}

// readLeases returns the Leases of all controllers, which it reads once.
func (r *Reader) readLeases(ctx context.Context) []coordinationv1.Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.leasesRead {
		r.leases, _ = listLeases(ctx, r.client, r.options.Leases)
		r.leasesRead = true
	}
	return r.leases
}

// ReadLease returns the Lease whose holder runs the Jobs of the namespace with this managedBy value, nil if there is none.
func ReadLease(ctx context.Context, client kube.Interface, leases Leases, managedBy, namespace string) (*input.Lease, error) {
	all, err := listLeases(ctx, client, leases)
	return leaseFor(all, leases, managedBy, namespace), err
}

func listLeases(ctx context.Context, client kube.Interface, leases Leases) ([]coordinationv1.Lease, error) {
	options := metav1.ListOptions{LabelSelector: leases.Selector()}
	list, err := client.CoordinationV1().Leases("").List(ctx, options)
	if apierrors.IsForbidden(err) {
		system, systemErr := client.CoordinationV1().Leases(input.SystemNamespace).List(ctx, options)
		if systemErr == nil && len(system.Items) > 0 {
			return system.Items, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// leaseFor returns the Lease that was renewed last in the most trusted namespace. A user who may edit Leases in another
// namespace can create one with the same labels, so the contents of Leases in different namespaces are never compared: the
// namespace of config/default comes first, then the namespace with the oldest Lease, by the creation time that the API server
// sets. The result also holds the last renewed Lease of the other namespaces.
func leaseFor(all []coordinationv1.Lease, leases Leases, managedBy, namespace string) *input.Lease {
	var trusted *coordinationv1.Lease
	for i := range all {
		if l := &all[i]; leases.IsFor(l, managedBy, namespace) && (trusted == nil || compareTrust(l, trusted) < 0) {
			trusted = l
		}
	}
	if trusted == nil {
		return nil
	}
	// A shard may have several Leases while the number of shards changes.
	last := input.LeaseOf(trusted)
	for i := range all {
		l := input.LeaseOf(&all[i])
		switch {
		case !leases.IsFor(&all[i], managedBy, namespace):
		case l.Namespace != trusted.Namespace:
			if last.Elsewhere == nil || l.Renewed.After(last.Elsewhere.Renewed) {
				last.Elsewhere = &l
			}
		case l.Renewed.After(last.Renewed):
			l.Elsewhere = last.Elsewhere
			last = l
		}
	}
	return &last
}

// compareTrust returns a negative number if a is more trustworthy than b.
func compareTrust(a, b *coordinationv1.Lease) int {
	return cmp.Or(lists.FalseFirst(a.Namespace != input.SystemNamespace, b.Namespace != input.SystemNamespace),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace))
}
