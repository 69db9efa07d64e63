package leader

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// replicas holds the state of all replicas as one replica sees it in their Leases.
type replicas struct {
	sharding *Sharding
	leases   kube.Leases
	// seen holds the Leases by name, each with the time at which its current version was first seen: clocks of other
	// processes are not compared with ours.
	seen map[string]seenLease
	// looked is the time at which the Leases were last read.
	looked time.Time
	// others, if not 0, is the number of shards of the replicas that this replica must wait for.
	others int
}

type seenLease struct {
	*coordinationv1.Lease
	at time.Time
}

func newReplicas(s *Sharding) *replicas {
	return &replicas{sharding: s, leases: s.Client.CoordinationV1().Leases(s.Namespace), seen: map[string]seenLease{}}
}

// look renews the Lease of this replica, and reads all others.
func (r *replicas) look(ctx context.Context) error {
	if err := r.renew(ctx); err != nil {
		return err
	}
	s := r.sharding
	list, err := r.leases.List(ctx, metav1.ListOptions{LabelSelector: labels.Set{groupLabel: hashOf(s.Name)}.String()})
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	// After an outage, the others need time to renew their Leases.
	blind := now.Sub(r.looked) > s.RenewDeadline
	seen := make(map[string]seenLease, len(list.Items))
	for i := range list.Items {
		lease := seenLease{&list.Items[i], now}
		if before, known := r.seen[lease.Name]; known && !blind && before.ResourceVersion == lease.ResourceVersion {
			lease.at = before.at
		}
		seen[lease.Name] = lease
	}
	r.seen, r.looked = seen, now
	r.noteOthers(ctx)
	r.removeExpired(ctx)
	return nil
}

// own returns the name of this replica's Lease.
func (r *replicas) own() string {
	return r.sharding.leaseName(hashOf(r.sharding.Identity))
}

// renew writes this replica's Lease.
func (r *replicas) renew(ctx context.Context) error {
	s := r.sharding
	now := metav1.NewMicroTime(s.Clock.Now())
	lease, found := r.seen[r.own()]
	if !found {
		created, err := r.leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: r.own(), Labels: leaseLabels(s.Name, s.Shards, "")},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &s.Identity, LeaseDurationSeconds: ptr.To(int32(s.LeaseDuration.Seconds())), AcquireTime: &now, RenewTime: &now,
			},
		}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // The response to the creation was lost.
			return nil
		}
		if err == nil {
			r.seen[r.own()] = seenLease{created, s.Clock.Now()}
		}
		return err
	}
	renewed := lease.DeepCopy()
	// Another client may have changed these fields.
	renewed.Spec.HolderIdentity, renewed.Spec.LeaseDurationSeconds, renewed.Spec.RenewTime = &s.Identity, ptr.To(int32(s.LeaseDuration.Seconds())), &now
	_, err := r.leases.Update(ctx, renewed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // Another replica found the Lease expired, or the last response was lost.
		return nil
	}
	return err
}

// leave deletes this replica's Lease. If all tries fail, the Lease expires.
func (r *replicas) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.sharding.RenewDeadline)
	defer cancel()
	err := retried(ctx, func() error { return r.leases.Delete(ctx, r.own(), metav1.DeleteOptions{}) })
	if err != nil && !apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Error(err, "Cannot delete the Lease of this replica, the others have to wait until it expires")
	}
}

// isLive reports whether the Lease has a holder and has not expired, as far as this replica knows.
func (r *replicas) isLive(l seenLease) bool {
	duration := time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second
	return ptr.Deref(l.Spec.HolderIdentity, "") != "" && r.sharding.Clock.Since(l.at) <= duration
}

// live returns the replicas with the same number of shards, including this one. It leaves out a replica that has not
// renewed its Lease for the renew deadline: by now it would have given up its shards, and the others should not leave
// its share without a holder until the Lease has expired too.
func (r *replicas) live() []string {
	identities := []string{r.sharding.Identity}
	for _, l := range r.seen {
		if isReplica(l) && r.isOurs(l) && r.isLive(l) && r.sharding.Clock.Since(l.at) <= r.sharding.RenewDeadline && l.Name != r.own() {
			identities = append(identities, *l.Spec.HolderIdentity)
		}
	}
	return identities
}

func isReplica(l seenLease) bool { return l.Labels[shardLabel] == "" }

func (r *replicas) isOurs(l seenLease) bool {
	return l.Labels[countLabel] == strconv.Itoa(r.sharding.Shards)
}

// shardsOf returns the number of shards of the controller that has the Lease, or 0 if the number is not valid: any
// client may have written the label.
func shardsOf(l seenLease) int {
	count, err := strconv.Atoi(l.Labels[countLabel])
	if err != nil || count < 1 || count > shard.Max {
		return 0
	}
	return count
}

// holders returns the replicas that hold the shards; "" means none.
func (r *replicas) holders() []string {
	holders := make([]string, r.sharding.Shards)
	for i := range holders {
		if l, found := r.seen[r.sharding.leaseName(strconv.Itoa(i))]; found && r.isLive(l) {
			holders[i] = *l.Spec.HolderIdentity
		}
	}
	return holders
}

// assigned returns the replica that is to have each shard; "" for every shard while this replica has to wait.
func (r *replicas) assigned() []string {
	if r.others > 0 {
		return make([]string, r.sharding.Shards)
	}
	return shard.Assign(r.holders(), r.live())
}

// free reports whether this replica may begin an Election for a shard. It releases an expired Lease on behalf of its
// holder: an elector that sees the Lease for the first time would otherwise wait until it expires again.
func (r *replicas) free(ctx context.Context, i int) bool {
	l, found := r.seen[r.sharding.leaseName(strconv.Itoa(i))]
	if !found {
		return true
	}
	holder := ptr.Deref(l.Spec.HolderIdentity, "")
	if holder == "" || holder == r.sharding.Identity {
		return true
	}
	if r.isLive(l) {
		return false
	}
	expired := l.DeepCopy()
	expired.Spec.HolderIdentity = nil
	// A conflict means that the Lease has a live holder after all.
	_, err := r.leases.Update(ctx, expired, metav1.UpdateOptions{})
	return err == nil
}

// noteOthers looks for shards held by replicas with another number of shards. While there are any, replicas that hold
// no shard yet wait. If both groups hold shards, the group with fewer shards keeps them, so that every namespace has a
// holder.
func (r *replicas) noteOthers(ctx context.Context) {
	ours, others := false, 0
	for _, l := range r.seen {
		count := shardsOf(l)
		if isReplica(l) || !r.isLive(l) || count == 0 {
			continue
		}
		if count == r.sharding.Shards {
			ours = true
		} else if others == 0 || count < others {
			others = count
		}
	}
	if ours && others > r.sharding.Shards {
		others = 0
	}
	if others != r.others && others > 0 {
		klog.FromContext(ctx).Info("Waiting for replicas with another number of shards to end", "shards", r.sharding.Shards, "theirs", others)
	}
	r.others = others
}

// removeExpired deletes the Leases of replicas that died, and the Leases of shards whose number no replica uses
// anymore.
func (r *replicas) removeExpired(ctx context.Context) {
	inUse := map[string]bool{strconv.Itoa(r.sharding.Shards): true}
	for _, l := range r.seen {
		if r.isLive(l) {
			inUse[l.Labels[countLabel]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.seen)) {
		l := r.seen[name]
		if r.isLive(l) || name == r.own() || !isReplica(l) && inUse[l.Labels[countLabel]] {
			continue
		}
		unchanged := metav1.Preconditions{UID: &l.UID, ResourceVersion: &l.ResourceVersion}
		// A conflict means that another replica has renewed or deleted the Lease in the meantime.
		if err := r.leases.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &unchanged}); err == nil {
			delete(r.seen, name)
		}
	}
}
