package gather

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Leases knows which Leases controllers have.
type Leases interface {
	// Selector selects by labels those of the controller with a managedBy value.
	Selector(managedBy string) string
	// IsFor reports whether the holder of one of them works on the Jobs of the namespace: each may have a shard of them.
	IsFor(l *coordinationv1.Lease, namespace string) bool
}

// lease finds that of the controller. Few may read leases, and it is no more than a sign of life: without it there is no
// gap.
func (r *reading) lease(ctx context.Context) {
	managedBy := explain.LeasedBy(r.facts.Job, r.options.OurName)
	if managedBy == "" || r.options.Leases == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all, read := r.leases[managedBy]
	if !read {
		all = listLeases(ctx, r.client, r.options.Leases, managedBy)
		r.leases[managedBy] = all
	}
	r.facts.Lease = latestLease(all, r.options.Leases, r.facts.Job.Namespace)
}

// ReadLease returns the Lease whose holder works on the Jobs of the namespace with this managedBy value. If several
// Leases match, it is the one that was renewed last. It is nil if there is none, or if it cannot be read.
func ReadLease(ctx context.Context, client kube.Interface, leases Leases, managedBy, namespace string) *explain.Lease {
	return latestLease(listLeases(ctx, client, leases, managedBy), leases, namespace)
}

func listLeases(ctx context.Context, client kube.Interface, leases Leases, managedBy string) []coordinationv1.Lease {
	list, err := client.CoordinationV1().Leases("").List(ctx, metav1.ListOptions{LabelSelector: leases.Selector(managedBy)})
	if err != nil {
		return nil
	}
	return list.Items
}

func latestLease(all []coordinationv1.Lease, leases Leases, namespace string) *explain.Lease {
	var last *explain.Lease
	for i := range all {
		if !leases.IsFor(&all[i], namespace) {
			continue
		}
		if l := explain.LeaseOf(&all[i]); last == nil || l.Renewed.After(last.Renewed) {
			last = &l
		}
	}
	return last
}
