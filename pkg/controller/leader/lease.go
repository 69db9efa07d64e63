package leader

import (
	"context"
	"math"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/cluster"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// lease is the Lease of one candidacy, as this process last saw it. Like client-go's election, it trusts only the clock
// of this process: a Lease expires when this process has not seen it change for its duration.
type lease struct {
	Election
	api   kube.Leases
	clock clock.PassiveClock

	mu     sync.Mutex
	seen   *coordinationv1.Lease // nil before it was read
	seenAt time.Time             // when seen changed
	// unsure is set once the result of a write is unknown: the write may have been stored.
	unsure bool
}

func newLease(e Election) *lease {
	return &lease{Election: e, api: e.Client.CoordinationV1().Leases(e.Namespace), clock: clock.RealClock{}}
}

// last returns the Lease as this process last saw it, and the time it changed.
func (l *lease) last() (*coordinationv1.Lease, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen, l.seenAt
}

func (l *lease) see(ctx context.Context, now *coordinationv1.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen != nil && equality.Semantic.DeepEqual(l.seen.Spec, now.Spec) {
		l.seen = now // The resourceVersion may differ.
		return
	}
	if holder := holderOf(now); holder != holderOf(l.seen) {
		klog.FromContext(ctx).Info("Leader", "identity", holder, "self", holder == l.Identity)
	}
	l.seen, l.seenAt = now, l.clock.Now()
}

func holderOf(l *coordinationv1.Lease) string {
	if l == nil {
		return ""
	}
	return ptr.Deref(l.Spec.HolderIdentity, "")
}

// isOurs reports whether this process is the holder, or was when it last saw the Lease.
func (l *lease) isOurs() bool {
	seen, _ := l.last()
	return holderOf(seen) == l.Identity
}

// mayBeOurs reports whether this process is the holder, or would be if a write with an unknown result was stored.
func (l *lease) mayBeOurs() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unsure || holderOf(l.seen) == l.Identity
}

func (l *lease) hasExpired() bool {
	seen, at := l.last()
	return seen == nil || l.clock.Since(at) >= time.Duration(ptr.Deref(seen.Spec.LeaseDurationSeconds, 0))*time.Second
}

// acquire renews the Lease if this process holds it, and takes it if it is free or has expired. It reports whether this
// process holds it now.
func (l *lease) acquire(ctx context.Context) bool {
	logger := klog.FromContext(ctx)
	wasOurs := l.isOurs()
	if seen, _ := l.last(); wasOurs && !l.hasExpired() {
		// Since no other process writes it, there is no need to read it first.
		err := l.write(ctx, seen)
		if err == nil {
			return true
		}
		logger.V(2).Info("Cannot renew the Lease as it was, reading it", "lease", l.Name, "err", err)
	}
	stored, err := l.api.Get(ctx, l.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		stored = nil
	case err != nil:
		logger.Error(err, "Cannot read the Lease", "lease", l.Name)
		return false
	default:
		l.see(ctx, stored)
	}
	if !l.mayTake(stored, wasOurs) {
		logger.V(4).Info("The Lease is held by another", "lease", l.Name, "holder", holderOf(stored))
		return false
	}
	if err := l.write(ctx, stored); err != nil {
		logger.Error(err, "Cannot write the Lease", "lease", l.Name)
		return false
	}
	return true
}

// mayTake reports whether this process may become or remain the holder of the stored Lease; stored is nil if there is
// none. If this process was the holder and no longer is, it must end its work first: another process may have worked in
// between.
func (l *lease) mayTake(stored *coordinationv1.Lease, wasOurs bool) bool {
	holder := holderOf(stored)
	switch {
	case stored == nil, holder == l.Identity:
		return true
	case wasOurs:
		return false
	}
	return holder == "" || l.hasExpired()
}

// write makes this process the holder from now on, in the stored Lease, or in a new Lease if stored is nil.
func (l *lease) write(ctx context.Context, stored *coordinationv1.Lease) (err error) {
	next, now := stored.DeepCopy(), &metav1.MicroTime{Time: l.clock.Now()}
	if stored == nil {
		next = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name}}
	}
	for key, value := range l.leaseLabels() {
		metav1.SetMetaDataLabel(&next.ObjectMeta, key, value)
	}
	s := &next.Spec
	if holderOf(next) != l.Identity {
		// The API server rejects a count beyond the largest, and any client may have written the largest.
		s.AcquireTime, s.LeaseTransitions = now, ptr.To(min(ptr.Deref(s.LeaseTransitions, -1), math.MaxInt32-1)+1)
	}
	s.HolderIdentity, s.RenewTime, s.LeaseDurationSeconds = &l.Identity, now, ptr.To(int32(l.LeaseDuration/time.Second))
	if stored == nil {
		next, err = l.api.Create(ctx, next, metav1.CreateOptions{})
	} else {
		next, err = l.api.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unsure = l.unsure || cluster.IsAmbiguous(err)
		return err
	}
	l.see(ctx, next)
	return nil
}

// leaseLabels returns the labels of the Election's Lease: by default, the labels of the only shard.
func (l *lease) leaseLabels() map[string]string {
	if l.labels != nil {
		return l.labels
	}
	return leaseLabels(l.Name, 1, "0")
}

// giveBack releases the Lease, if this process still holds it, so that candidates need not wait until it expires. If
// all tries fail, they have to wait.
func (l *lease) giveBack(ctx context.Context) {
	if !l.mayBeOurs() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.RenewDeadline)
	defer cancel()
	// The update conflicts if a last renewal, for which this process did not wait, is stored in between.
	err := retried(ctx, func() error {
		held, err := l.api.Get(ctx, l.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil || holderOf(held) != l.Identity {
			return err
		}
		now := &metav1.MicroTime{Time: l.clock.Now()}
		held.Spec = coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To(""), LeaseDurationSeconds: ptr.To[int32](1), AcquireTime: now, RenewTime: now,
			LeaseTransitions: held.Spec.LeaseTransitions,
		}
		_, err = l.api.Update(ctx, held, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot release the Lease, the next leader has to wait until it expires")
	}
}

// retried tries a last write a few times, until ctx ends.
func retried(ctx context.Context, write func() error) error {
	mayHelp := func(err error) bool { return ctx.Err() == nil && cluster.IsTransient(err) }
	return retry.OnError(retry.DefaultBackoff, mayHelp, write)
}
