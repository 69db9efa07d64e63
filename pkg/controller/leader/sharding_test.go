package leader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Replicas that join and leave get fair shares, in an orderly way: no replica works on a shard before the last holder
// has ended its work, and a free shard is taken within two tries.
// Requirements: SHD-02, SHD-03
func TestShardsMoveInAnOrderlyWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseServer()
		a := s.join("a", 6, 20*time.Second)
		pass(retryTime)
		s.wantShares(t, map[string]int{"a": 6})
		b, c := s.join("b", 6, 0), s.join("c", 6, 0)
		pass(2*time.Second + time.Millisecond)
		s.wantShares(t, map[string]int{"a": 6}) // It has calls in flight.
		pass(20*time.Second + retryTime)
		s.wantShares(t, map[string]int{"a": 2, "b": 2, "c": 2})
		assert.Equal(t, s.moved, 10, "shards that were taken, 6 at the start and 4 moved")
		b.stop(t)
		s.wantShares(t, map[string]int{"a": 3, "c": 3})
		d := s.join("d", 6, 0)
		pass(time.Minute)
		s.wantShares(t, map[string]int{"a": 2, "c": 2, "d": 2})
		for _, r := range []*sharer{a, c, d} {
			r.stop(t)
		}
		if names := s.names(); len(names) != 6 || len(s.twice) > 0 || s.longest > 2*retryTime {
			t.Errorf("the Leases are %q, shards %q were held twice, nobody held one for %v", names, s.twice, s.longest)
		}
	})
}

// The shards of a replica that dies are taken over by all others when its Leases have expired, and its own Lease is
// deleted.
// Requirements: SHD-04
func TestDeadReplicaIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := time.Duration(0)
		for n := range 10 {
			s := newLeaseServer()
			a, b, c := s.join("a", 6, 0), s.join("b", 6, 0), s.join("c", 6, 0)
			pass(time.Minute + time.Duration(n)*300*time.Millisecond)
			s.wantShares(t, map[string]int{"a": 2, "b": 2, "c": 2})
			died := time.Now()
			a.die()
			passUntil(t, 100*time.Millisecond, func() bool {
				shares := s.shares()
				return shares["b"] == 3 && shares["c"] == 3
			})
			longest = max(longest, time.Since(died))
			pass(retryTime) // The Lease of a shard may expire first.
			for _, name := range s.names() {
				if name == a.leaseName(hashOf("a")) {
					t.Errorf("%s is there", name)
				}
			}
			b.stop(t)
			c.stop(t)
		}
		t.Logf("the longest takeover: %v", longest)
		// The others may see the last renewal late, and so also the expiry.
		if longest > 15*time.Second+2*2*time.Second {
			t.Errorf("a takeover took %v", longest)
		}
	})
}

// A replica joins, and dies when the others have released its share and it has taken none of it: the others take the
// share back sooner than a Lease expires, since the replica would also have given up by then.
// Requirements: SHD-04
func TestReplicaDiesBeforeItHasItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest, died := time.Duration(0), 0
		for n := range 40 {
			s := newLeaseServer()
			a := s.join("a", 6, 0)
			pass(time.Minute)
			b := s.join("b", 6, 0)
			pass(time.Duration(n) * 100 * time.Millisecond)
			b.die()
			if tookNone := s.moved == 6; tookNone && s.shares()["a"] < 6 {
				died++
				pass(time.Minute)
				s.wantShares(t, map[string]int{"a": 6})
				longest = max(longest, s.longest)
			}
			a.stop(t)
		}
		t.Logf("died with a share that nobody had: %d times; nobody had it for %v at most", died, longest)
		if died == 0 || longest >= 15*time.Second {
			t.Errorf("%d deaths; nobody had a shard for %v", died, longest)
		}
	})
}

// A replica that cannot renew its Leases ends its work before the others begin; when it is back, it gets its share
// again.
// Requirements: SHD-04
func TestReplicaIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseServer()
		a, b := s.join("a", 4, 2*time.Second), s.join("b", 4, 2*time.Second)
		pass(time.Minute)
		a.setAway(true)
		pass(time.Minute)
		s.wantShares(t, map[string]int{"b": 4})
		a.setAway(false)
		pass(time.Minute)
		s.wantShares(t, map[string]int{"a": 2, "b": 2})
		if err := a.Check(); len(s.twice) > 0 || err != nil {
			t.Errorf("shards %q were held twice, and the replica is unhealthy: %v", s.twice, err)
		}
		a.stop(t)
		b.stop(t)
	})
}

// After an outage of the API server for all replicas, no shard moves.
// Requirements: SHD-04
func TestShardsStayAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseServer()
		all := []*sharer{s.join("a", 6, 0), s.join("b", 6, 0), s.join("c", 6, 0)}
		pass(time.Minute)
		before := s.holding()
		for _, r := range all {
			r.setAway(true)
		}
		pass(5 * time.Minute)
		s.wantShares(t, map[string]int{})
		for _, r := range all {
			r.setAway(false)
		}
		pass(2 * retryTime)
		s.wantShares(t, map[string]int{"a": 2, "b": 2, "c": 2})
		assert.SlicesEqual(t, s.holding(), before, "the Leases")
		for _, r := range all {
			r.stop(t)
		}
	})
}

// A replica that has not read the Leases for a long time takes no other replica for dead: the others need time to renew theirs.
// Requirements: SHD-04
func TestOthersAreNotDeadAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseServer()
		other := s.join("b", 6, 0)
		pass(time.Minute)
		first := newReplicas(&Sharding{Election: (&sharer{leaseServer: s}).election("a"), Shards: 6, Grace: time.Minute})
		first.sharding.Clock = clock.RealClock{}
		assert.NoError(t, first.look(t.Context()))
		leases := s.names()
		other.setAway(true)
		pass(5 * time.Minute)
		assert.NoError(t, first.look(t.Context()))
		assert.SlicesEqual(t, s.names(), leases, "the Leases after an outage")
		other.stop(t)
	})
}

// A rolling update changes the number of shards. Replicas with the new number wait until the last of the old replicas
// has ended, and no namespace has two holders.
// Requirements: SHD-05
func TestNumberOfShardsChanges(t *testing.T) {
	for _, n := range [][2]int{{4, 6}, {6, 4}, {1, 3}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLeaseServer()
				a, b := s.join("a", n[0], time.Second), s.join("b", n[0], time.Second)
				pass(time.Minute)
				c, d := s.join("c", n[1], 0), s.join("d", n[1], 0)
				pass(time.Minute)
				a.stop(t)
				if shares := s.shares(); shares["c"]+shares["d"] == n[1] && shares["b"] == 0 {
					// They read the Leases before b did, when a had released all of its shards.
					b.stop(t)
					c.stop(t)
					d.stop(t)
					return
				}
				s.wantShares(t, map[string]int{"b": n[0]})
				b.stop(t)
				// If b takes its single shard after c has taken a shard, the shards of c count as unheld.
				if shares := s.shares(); shares["c"]+shares["d"] != n[1] || s.longest > retryTime && n[0] > 1 {
					t.Errorf("shares %v, and nobody held one for %v", shares, s.longest)
				}
				for _, name := range s.names() {
					if strings.HasPrefix(name, fmt.Sprintf("lease-%d-", n[0])) {
						t.Errorf("%s is left", name)
					}
				}
				c.stop(t)
				d.stop(t)
			})
		})
	}
}

// Two groups of replicas with different numbers of shards start at the same time. One of them works, on all of its
// shards.
// Requirements: SHD-05
func TestOneNumberOfShardsWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseServer()
		all := []*sharer{s.join("a", 6, 0), s.join("b", 4, 0), s.join("c", 4, 0)}
		pass(time.Minute)
		// The group that holds shards before the other one reads the Leases keeps them.
		if shares := s.shares(); !maps.Equal(shares, map[string]int{"b": 2, "c": 2}) && !maps.Equal(shares, map[string]int{"a": 6}) {
			t.Errorf("shares %v", shares)
		}
		for _, r := range all {
			r.stop(t)
		}
	})
}

// If groups with different numbers of shards each hold some, the group with fewer shards continues: two groups that
// wait for each other would leave namespaces without a holder. A number that no controller can have is not a group, and
// does not hide one.
// Requirements: SHD-05
func TestFewerShardsContinue(t *testing.T) {
	for _, c := range []struct {
		own  int
		held []int
		want int
	}{
		{6, nil, 0},
		{6, []int{6}, 0},
		{6, []int{4}, 4},
		{4, []int{6}, 6},
		{6, []int{6, 4}, 4},
		{4, []int{6, 4}, 0},
		{4, []int{8, 6}, 6},
		{6, []int{6, 1}, 1},
		{6, []int{4, -5}, 4},
		{6, []int{0, 4}, 4},
		{6, []int{65}, 0},
		{6, []int{6, 0}, 0},
	} {
		r := &replicas{sharding: &Sharding{Shards: c.own, Clock: clock.RealClock{}}, seen: map[string]seenLease{}}
		for i, count := range c.held {
			r.seen[strconv.Itoa(i)] = seenLease{&coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Labels: leaseLabels("lease", count, "0")},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("a"), LeaseDurationSeconds: ptr.To[int32](15)},
			}, time.Now()}
		}
		if r.noteOthers(t.Context()); r.others != c.want {
			t.Errorf("one of %d shards waits for %d if %v are held, want %d", c.own, r.others, c.held, c.want)
		}
	}
}

// Replicas wait for a leader without shards, and a leader that starts ends the work of the replicas.
// Requirements: SHD-05
func TestPlainLeaderExcludesShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseServer()
		plain := func() context.CancelFunc {
			ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
			r := &sharer{leaseServer: s}
			go func() {
				_ = r.election("plain").Run(ctx, func(ctx context.Context) error {
					s.begin("plain", "plain")
					defer s.end("plain", "plain")
					<-ctx.Done()
					return nil
				})
			}()
			return cancel
		}
		stop := plain()
		pass(time.Second)
		a := s.join("a", 3, 0)
		pass(time.Minute)
		s.wantShares(t, map[string]int{"plain": 1})
		stop()
		pass(retryTime)
		s.wantShares(t, map[string]int{"a": 3})
		stop = plain()
		pass(retryTime)
		s.wantShares(t, map[string]int{"plain": 1})
		stop()
		pass(time.Minute)
		a.stop(t)
	})
}

// Replicas join, leave, and die, at random, one at a time. No shard is without a worker for longer than the duration of
// a Lease plus the time to see its expiry, and finally the shares are fair.
// Requirements: SHD-02, SHD-04
func TestShardsSurviveAStorm(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			s := newLeaseServer()
			live := []*sharer{s.join("first", 8, 0)}
			pass(retryTime)
			for n := range 60 {
				i := rng.IntN(len(live))
				switch what := rng.IntN(4); {
				case what == 0 && len(live) > 1:
					live[i].die()
					live = append(live[:i], live[i+1:]...)
				case what == 1 && len(live) > 1:
					live[i].cancel()
					live = append(live[:i], live[i+1:]...)
				case what == 2 && len(live) < 6:
					live = append(live, s.join(fmt.Sprintf("replica-%d", n), 8, time.Duration(rng.IntN(3))*time.Second))
				}
				pass(time.Duration(20+rng.IntN(40)) * time.Second)
			}
			pass(2 * time.Minute)
			for identity, share := range s.shares() {
				if share < 8/len(live) || share > (8+len(live)-1)/len(live) {
					t.Errorf("seed %d: %s has %d of 8 shards, of %d replicas", seed, identity, share, len(live))
				}
			}
			assert.Equalf(t, len(s.names()), 8+len(live), "seed %d: Leases for %d replicas: %q", seed, len(live), s.names())
			t.Logf("seed %d: a shard had no worker for %v at most, and %d were taken", seed, s.longest, s.moved)
			if s.longest > 15*time.Second+3*2*time.Second {
				t.Errorf("seed %d: a shard had no worker for %v", seed, s.longest)
			}
			for _, r := range live {
				r.stop(t)
			}
		})
	}
}

// An error of the work on one shard ends the replica, and its Leases are released.
// Requirements: SHD-03
func TestFailedShardEndsTheReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, broken := newLeaseServer(), errors.New("broken")
		r := &sharer{leaseServer: s}
		sharding := &Sharding{Election: r.election("a"), Shards: 3}
		err := sharding.Run(logr.NewContext(t.Context(), logr.Discard()), func(ctx context.Context, shard int) error {
			if shard == 1 {
				time.Sleep(time.Second)
				return broken
			}
			<-ctx.Done()
			return nil
		})
		if holding := strings.Join(s.holding(), " "); !errors.Is(err, broken) || holding != "lease-3-0= lease-3-1= lease-3-2=" {
			t.Errorf("%v, and the Leases are %s", err, holding)
		}
	})
}

// A replica that ends deletes its own Lease, even if the first try gets no response.
// Requirements: SHD-03
func TestLeavingIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		r := newReplicas(&Sharding{Election: store.candidate("a"), Shards: 2, Clock: clock.RealClock{}})
		assert.NoError(t, r.renew(t.Context()))
		deletions := 0
		store.failing(func(verb, _ string) error {
			if verb == "delete" {
				if deletions++; deletions == 1 {
					return context.DeadlineExceeded
				}
			}
			return nil
		})
		r.leave(t.Context())
		list, err := r.leases.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 || deletions != 2 {
			t.Errorf("%d deletions, and %d Leases are left, %v", deletions, len(list.Items), err)
		}
	})
}
