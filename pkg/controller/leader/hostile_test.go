package leader

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// hostileLease returns a Lease that any client may have written. fields has a bit for each field that is set.
func hostileLease(holder string, duration, transitions int32, seconds int64, fields uint8) *coordinationv1.Lease {
	l, at := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}, &metav1.MicroTime{Time: time.Unix(seconds, 0)}
	set := func(bit uint8) bool { return fields&(1<<bit) != 0 }
	if set(0) {
		l.Spec.HolderIdentity = &holder
	}
	if set(1) {
		l.Spec.LeaseDurationSeconds = &duration
	}
	if set(2) {
		l.Spec.LeaseTransitions = &transitions
	}
	if set(3) {
		l.Spec.RenewTime = at
	}
	if set(4) {
		l.Spec.AcquireTime = at
	}
	return l
}

// mostAllocated is more than the memory that an election and a replica allocate in a minute, about 1 MB.
const mostAllocated = 32 << 20

// Whatever a Lease contains, nothing panics or takes much memory, no process makes more than a few calls per retry
// period, and a Lease that is not renewed is taken once it has expired, as are the shards of such Leases.
// Requirements: JOB-56, SHD-02
func FuzzLease(f *testing.F) {
	const all = 1<<5 - 1
	f.Add("thief", int32(15), int32(3), int64(946684800), "0", "6", uint8(all))
	f.Add("", int32(0), int32(-1), int64(0), "", "", uint8(all))
	f.Add("a", int32(-1), int32(math.MinInt32), int64(math.MinInt64), "-1", "-5", uint8(all))
	f.Add("thief", int32(1), int32(math.MaxInt32), int64(253402300800), "5", "999999999999999999999", uint8(all))
	f.Add("thief", int32(math.MaxInt32), int32(math.MaxInt32), int64(math.MaxInt64), "0", "3", uint8(all))
	f.Add("\x1b[31m\u202e\xff", int32(30), int32(0), int64(1), "0x1", "6", uint8(0))
	f.Fuzz(func(t *testing.T, holder string, duration, transitions int32, seconds int64, index, count string, fields uint8) {
		hostile := hostileLease(holder, duration, transitions, seconds, fields)
		hostile.Labels = map[string]string{groupLabel: hashOf("lease"), shardLabel: index, countLabel: count}
		expires := holderOf(hostile) == "" || ptr.Deref(hostile.Spec.LeaseDurationSeconds, 0) <= 30
		// An API server stores no other Lease, and accepts no change of another one.
		expires = expires && validate(hostile) == nil
		_ = Leases{}.IsFor(hostile, "example.com/jobs", "ns")
		measure.CheckAllocated(t, mostAllocated, func() {
			synctest.Test(t, func(t *testing.T) { checkElection(t, hostile, expires) })
			synctest.Test(t, func(t *testing.T) { checkSharding(t, hostile, expires) })
		})
	})
}

// checkElection runs an election with a hostile Lease.
func checkElection(t *testing.T, hostile *coordinationv1.Lease, expires bool) {
	s := newLeaseServer()
	stored := hostile.DeepCopy()
	stored.Name = "lease"
	s.store(stored)
	e := (&sharer{leaseServer: s}).election("a")
	a := start(e, nil)
	pass(time.Minute)
	if leading := a.now().leading; expires && !leading || leading && holderOf(s.leases["lease"]) != "a" {
		t.Errorf("it leads: %v, and the Lease is %+v", leading, s.leases["lease"].Spec)
	}
	// In each period, it tries to renew the Lease, reads it, and writes it.
	if most := 3 * int(time.Minute/e.RetryPeriod+1); s.calls > most {
		t.Errorf("%d calls, at most %d are due", s.calls, most)
	}
	a.end(t)
}

// checkSharding runs a replica beside a hostile Lease of a shard and a hostile Lease of another replica.
func checkSharding(t *testing.T, hostile *coordinationv1.Lease, expires bool) {
	const shards = 3
	s := newLeaseServer()
	for _, name := range []string{"lease-3-0", "hostile"} {
		stored := hostile.DeepCopy()
		stored.Name = name
		s.store(stored)
	}
	a := s.join("a", shards, 0)
	pass(time.Minute)
	if shares := s.shares(); expires && shares["a"] != shards || len(s.twice) > 0 {
		t.Errorf("shares %v, held twice %q, Leases %q", shares, s.twice, s.holding())
	}
	// In each period, a replica renews its Lease, lists all Leases, deletes expired ones, and does the same for its
	// shards.
	if most := (4 + 4*shards) * int(time.Minute/a.RetryPeriod+1); s.calls > most {
		t.Errorf("%d calls, at most %d are due", s.calls, most)
	}
	a.stop(t)
}

// A replica repairs its own Lease, so that the others assign it its share again.
// Requirements: SHD-02
func TestLeaseOfAReplicaIsRepaired(t *testing.T) {
	for _, c := range []struct {
		holder   string
		duration int32
	}{{"", 15}, {"ghost", 15}, {"a", 1}, {"ghost", math.MaxInt32}} {
		synctest.Test(t, func(t *testing.T) {
			s := newLeaseServer()
			a, b := s.join("a", 4, 0), s.join("b", 4, 0)
			pass(time.Minute)
			s.mu.Lock()
			changed := hostileLease(c.holder, c.duration, 0, 0, 1<<5-1)
			changed.ObjectMeta = s.leases[a.leaseName(hashOf("a"))].ObjectMeta
			s.store(changed)
			s.mu.Unlock()
			pass(time.Minute)
			s.wantShares(t, map[string]int{"a": 2, "b": 2})
			if l := s.leases[changed.Name]; holderOf(l) != "a" || *l.Spec.LeaseDurationSeconds != 15 {
				t.Errorf("after %+v, the Lease is %+v", c, l.Spec)
			}
			a.stop(t)
			b.stop(t)
		})
	}
}

// A Lease with the largest possible count of transitions can be taken: the API server would reject a larger count.
// Requirements: JOB-56
func TestLeaseWithTheMostTransitionsIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		checkElection(t, hostileLease("thief", 15, math.MaxInt32, 0, 1<<5-1), true)
	})
}
