package troubles

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Holders measures how long shards have no holder: from the release or expiry of a Lease until a replica acquires it.
// Like the replicas, it does not compare clocks.
type Holders struct {
	mu      sync.Mutex
	seen    map[types.UID]seenLease
	longest time.Duration
	// excused is the last excused time; earlier time does not count.
	excused time.Time
}

// seenLease is the last seen version of a Lease, and the time since which it has no holder.
type seenLease struct {
	version string
	changed time.Time
	free    time.Time
}

// NewHolders returns an empty Holders.
func NewHolders() *Holders { return &Holders{seen: map[types.UID]seenLease{}} }

// Observe records the current Leases of all shards. Excused time, during an outage, does not count for Longest.
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

// Held returns the number of shards that have a holder.
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

// Longest returns the longest time that a shard had no holder.
func (h *Holders) Longest() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.longest
}
