//go:build node

package node

import (
	"context"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const lease = "batchjob-batchjob-dev-controller"

// handOver is a change of the leader, as recorded in the Lease. until is when the old leader released the Lease or last
// renewed it; anew is when the new leader acquired it. expiry is the duration of the old leader's Lease.
type handOver struct {
	from, to    string
	until, anew time.Time
	expiry      time.Duration
}

func (h handOver) gap() time.Duration { return h.anew.Sub(h.until) }

// wantReleased checks that the new leader did not have to wait until the old leader's Lease had expired. How fast it is
// besides depends on the machine.
func wantReleased(t *testing.T, change handOver) {
	t.Helper()
	if change.gap() >= change.expiry {
		t.Errorf("nobody led for %s, as long as a Lease is valid: %s", change.gap(), change.expiry)
	}
}

// leads records the changes of the Lease.
type leads struct {
	mu      sync.Mutex
	holder  string
	renewed time.Time
	expiry  time.Duration
	changes []handOver
}

func followLease(t *testing.T) *leads {
	t.Helper()
	now, err := client.CoordinationV1().Leases(system).Get(t.Context(), lease, metav1.GetOptions{})
	assert.NoError(t, err)
	l := &leads{}
	l.see(now)
	w, err := client.CoordinationV1().Leases(system).Watch(t.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=" + lease, ResourceVersion: now.ResourceVersion,
	})
	assert.NoError(t, err)
	t.Cleanup(w.Stop)
	go func() {
		for event := range w.ResultChan() {
			if next, ok := event.Object.(*coordinationv1.Lease); ok && event.Type != watch.Deleted {
				l.see(next)
			}
		}
	}()
	return l
}

// see records the next version of the Lease. A released Lease has no holder.
func (l *leads) see(next *coordinationv1.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	holder := ptr.Deref(next.Spec.HolderIdentity, "")
	if holder != "" && holder != l.holder {
		if l.holder != "" {
			l.changes = append(l.changes, handOver{l.holder, holder, l.renewed, next.Spec.AcquireTime.Time, l.expiry})
		}
		l.holder, l.expiry = holder, time.Duration(*next.Spec.LeaseDurationSeconds)*time.Second
	}
	l.renewed = next.Spec.RenewTime.Time
}

func (l *leads) all() []handOver {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]handOver(nil), l.changes...)
}

// one waits for the first change of the leader and returns it.
func (l *leads) one(t *testing.T) handOver {
	t.Helper()
	eventually(t, "another leader", func(context.Context) bool { return len(l.all()) > 0 })
	return l.all()[0]
}
