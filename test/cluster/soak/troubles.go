package soak

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/etcd"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// disturber causes troubles in the cluster.
type disturber struct {
	*soak
	components  *troubles.Components
	store       etcd.Store
	certificate *troubles.Certificate
	// kubeconfig is the kubeconfig of the controllers that are killed.
	kubeconfig string
	// wrongClock is the folder of a cluster.Binary whose clock can be wrong.
	wrongClock string
	// chosen holds the troubles in SOAK_TROUBLES.
	chosen []troubles.Trouble
}

// newDisturber restarts the API server with flags that permit all troubles: kwokctl's flags disable priority and
// fairness, and clients should reconnect now and then.
func newDisturber(s *soak) *disturber {
	dir, ctx := cluster.Dir, s.t.Context()
	d := &disturber{soak: s, wrongClock: s.t.TempDir()}
	var err error
	if d.components, err = components(dir); err != nil {
		s.t.Fatal(err)
	}
	d.store = etcd.Store{URL: d.components.Flag(troubles.APIServer, "etcd-servers")}
	if d.certificate, d.kubeconfig, err = newCertificate(dir); err != nil {
		s.t.Fatal(err)
	}
	if d.chosen, err = troubles.Choose(d.all(), os.Getenv("SOAK_TROUBLES")); err != nil {
		s.t.Fatalf("SOAK_TROUBLES: %v", err)
	}
	if slices.ContainsFunc(d.chosen, func(t troubles.Trouble) bool { return t.Name == controllerClock }) {
		assert.NoError(s.t, d.buildWithClock())
	}
	if shardCount(s.t) > 0 {
		assert.NoError(s.t, allowShards(ctx))
		go s.watchHolders(ctx)
	}
	cluster.Disturbed = s.ledger.Disturbed
	go d.components.Keep(ctx, func(name string) { s.say("%s has ended, and is started again", name) })
	s.live(troubles.Event{Trouble: troubles.Trouble{Name: "preparation", Outage: true, Run: d.prepare}})
	return d
}

// controllerClock is the name of the trouble that needs a separate cluster.Binary.
const controllerClock = "controller-clock"

// all returns all troubles; docs/internals/proof/soak.md describes them.
func (d *disturber) all() []troubles.Trouble {
	all := []troubles.Trouble{
		{Name: "api-server-ends", Outage: true, Run: d.endServer},
		{Name: "api-server-killed", Outage: true, Run: d.killServer},
		{Name: "compaction", Outage: true, Run: d.compact},
		{Name: "full-disk", Outage: true, Run: d.fillDisk},
		{Name: "node-clocks", Run: d.setNodeClocks},
		{Name: controllerClock, Run: d.setControllerClock},
		{Name: "hanging-webhook", Outage: true, Run: d.hangWebhook},
		{Name: "throttling", Outage: true, Run: d.throttle},
		{Name: "expired-certificate", Outage: true, Run: d.expireCertificate},
	}
	if shardCount(d.t) > 0 {
		all = append(all, troubles.Trouble{Name: "moving-shards", Run: d.moveShards})
	}
	return all
}

// disturb causes one trouble after the other for a duration.
func (d *disturber) disturb(lasts time.Duration) {
	over := time.After(lasts)
	for len(d.chosen) > 0 {
		for _, e := range troubles.Round(d.chosen, d.dice, troublePause, troubleLasts) {
			select {
			case <-over:
				return
			case <-time.After(e.Pause):
			}
			d.live(e)
		}
	}
	<-over
}

// live carries out a trouble.
func (s *soak) live(e troubles.Event) {
	s.say("%s", e.Name)
	s.ledger.Begin(e.Trouble)
	felt, err := e.Run(s.t.Context(), e.Lasts, s.dice)
	s.ledger.End(felt)
	if err != nil && s.t.Context().Err() == nil {
		s.t.Errorf("%s: %v", e.Name, err)
	}
}

// pause waits for a duration, or until ctx ends.
func pause(ctx context.Context, lasts time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(lasts):
	}
}
