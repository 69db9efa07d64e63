package troubles

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Holders measures how long shards have no holder: from the release of a Lease, or the end of one
// that is no longer renewed, until somebody takes it. Like the replicas, it compares no clocks.
type Holders struct {
	mu      sync.Mutex
	seen    map[types.UID]seenLease
	longest time.Duration
	// excused is the last time that does not count.
	excused time.Time
}

// seenLease is a Lease as it was last seen, and since when nobody has held it.
type seenLease struct {
	version string
	changed time.Time
	free    time.Time
}

// NewHolders returns Holders that have seen nothing.
func NewHolders() *Holders { return &Holders{seen: map[types.UID]seenLease{}} }

// Observe takes the Leases of all shards as they are now. Time that is excused, because of an
// outage, does not count for Longest.
func (h *Holders) Observe(now time.Time, leases []coordinationv1.Lease, excused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if excused {
		h.excused = now
	}
	seen := make(map[types.UID]seenLease, len(leases))
	for i := range leases {
		l := &leases[i]
		s, known := h.seen[l.UID]
		if !known || s.version != l.ResourceVersion {
			s.version, s.changed = l.ResourceVersion, now
		}
		switch ends := s.changed.Add(time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second); {
		case ptr.Deref(l.Spec.HolderIdentity, "") == "":
			if s.free.IsZero() {
				s.free = now
			}
		case now.After(ends):
			s.free = ends
		default:
			s.free = time.Time{}
		}
		if !s.free.IsZero() {
			h.longest = max(h.longest, min(now.Sub(s.free), now.Sub(h.excused)))
		}
		seen[l.UID] = s
	}
	h.seen = seen
}

// Held is how many shards somebody holds.
func (h *Holders) Held() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.seen {
		if s.free.IsZero() {
			n++
		}
	}
	return n
}

// Longest is the longest time that a shard had no holder.
func (h *Holders) Longest() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.longest
}
