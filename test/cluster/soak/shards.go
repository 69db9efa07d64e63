package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

// moveShards starts more replicas for a while: shards move to them, and back.
func (d *disturber) moveShards(ctx context.Context, lasts time.Duration, dice *rand.Rand) (moved int, err error) {
	c := d.controllers
	before := c.failovers()
	joined := 1 + dice.IntN(2)
	for range joined {
		c.launch()
	}
	pause(ctx, lasts)
	for range joined {
		if p := c.leader(); p != nil {
			politely := dice.IntN(2) == 0
			c.end(p, politely)
			c.count(politely)
		}
	}
	// The shards of a replica that was killed move only when its Leases have expired.
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, testcluster.Patience, true, func(context.Context) (bool, error) {
		moved = c.failovers() - before
		return moved > 0, nil
	})
	return moved, err
}

// failovers returns how often the leader, or the holder of a shard, has changed.
func (c *controllers) failovers() (n int) {
	leases, err := shardLeases(c.t.Context())
	if err != nil && c.calm() {
		c.t.Errorf("reading the Leases: %v", err)
	}
	for _, lease := range leases {
		n += int(ptr.Deref(lease.Spec.LeaseTransitions, 0))
	}
	return n
}

// shardLeases returns the shard Leases of the controllers that are killed.
func shardLeases(ctx context.Context) ([]coordinationv1.Lease, error) {
	leases, err := client.CoordinationV1().Leases(testcluster.SystemNamespace).List(ctx, metav1.ListOptions{LabelSelector: "batchjob.dev/shard"})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(leases.Items, func(l coordinationv1.Lease) bool {
		return !strings.HasPrefix(l.Name, leader.LeaseName(soakName))
	}), nil
}

// watchHolders records the holders of the shards until ctx ends.
func (s *soak) watchHolders(ctx context.Context) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		excused := !s.ledger.Calm()
		if leases, err := shardLeases(ctx); err == nil {
			s.holders.Observe(time.Now(), leases, excused)
		}
	}, 200*time.Millisecond)
}

// untilHeld waits until every shard has a holder, as it must after each outage (SOK-02).
func (s *soak) untilHeld() {
	testcluster.Eventually(s.t, fmt.Sprintf("holders of %d shards", s.controllers.shards), func(context.Context) (bool, error) {
		return s.holders.Held() >= s.controllers.shards, nil
	})
}

// checkHolders checks that no shard was without a holder for longer than a Lease lasts, except
// during outages (SOK-02).
func (s *soak) checkHolders() {
	if longest := s.holders.Longest(); longest > soakLease {
		s.t.Errorf("SOK-02: a shard had no holder for %v, and a Lease lasts %v", longest, soakLease)
	}
}

// allowShards lets the account write the Leases of shards, for which config/default has no permission.
func allowShards(ctx context.Context) error {
	account := tenant.Account(testcluster.SystemNamespace, testcluster.SystemAccount)
	leases := tenant.Allow("coordination.k8s.io", "leases", "get", "list", "create", "update", "delete")
	return tenant.Grant(ctx, client, testcluster.SystemNamespace, "shards", account, leases)
}
