package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// sharer is a replica that works on some shards of all namespaces.
type sharer struct {
	*process
	// foreign counts the objects of other shards that it received.
	foreign atomic.Int64

	mu      sync.Mutex
	working []int
}

// startSharer runs a replica for Jobs with one managedBy value. Its Leases are in the fixture's namespace.
func (f *fixture) startSharer(at *rest.Config, identity, managedBy string, shards int) *sharer {
	f.t.Helper()
	r := &sharer{process: newProcess(f.t)}
	at = rest.CopyConfig(at)
	at.Wrap(r.wire.wrap)
	config := controller.Config{Client: newControllerClient(f.t, at, controller.FieldManager), ManagedBy: managedBy, Unfiltered: func() { r.foreign.Add(1) }}
	quick(&config)
	sharding := &leader.Sharding{Shards: shards, Grace: time.Minute, Election: leader.Election{
		Client: config.Client, Namespace: f.namespace, Name: "lease", Identity: identity,
		LeaseDuration: briefLease.lease, RenewDeadline: briefLease.renew, RetryPeriod: briefLease.retry,
	}}
	assert.NoError(f.t, sharding.Validate())
	r.run(func(ctx context.Context) error {
		return sharding.Run(ctx, func(ctx context.Context, i int) error {
			config := config
			config.Shard = shard.Of(i, shards)
			runtime, err := controller.New(config)
			if err != nil {
				return err
			}
			r.set(i, true)
			defer r.set(i, false)
			return runtime.Run(ctx)
		})
	})
	f.t.Cleanup(r.stop)
	return r
}

func (r *sharer) set(i int, works bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working = slices.DeleteFunc(r.working, func(other int) bool { return other == i }); works {
		r.working = append(r.working, i)
	}
}

func (r *sharer) share() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.working)
}

// unfilteredTransport simulates an API server without the feature: it ignores the selector.
func unfilteredTransport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if query := request.URL.Query(); query.Has("shardSelector") {
			query.Del("shardSelector")
			request = request.Clone(request.Context())
			request.URL.RawQuery = query.Encode()
		}
		return next.RoundTrip(request)
	})
}

// inAllShards returns fixtures whose namespaces cover all shards.
func inAllShards(t *testing.T, shards int) (all []*fixture) {
	t.Helper()
	used := map[int]bool{}
	for len(used) < shards {
		f := newFixture(t)
		for i := range shards {
			if shard.Of(i, shards).Contains(f.namespace) && !used[i] {
				used[i] = true
				all = append(all, f)
			}
		}
	}
	return all
}

// Two replicas share four shards, with Jobs in each. One of them crashes; the other one takes over, and every Job has
// exact counts. An API server that filters sends no object of another shard; without filtering, only that differs.
//
// They watch all namespaces, so this does not run in parallel with other tests.
// Requirements: SHD-06, SHD-04, SHD-02
func TestReplicasShareAllNamespaces(t *testing.T) {
	for _, filtered := range []bool{true, false} {
		t.Run(fmt.Sprintf("filtered %v", filtered), func(t *testing.T) {
			const shards = 4
			at := rest.CopyConfig(apiServer.Config)
			if !filtered {
				at.Wrap(unfilteredTransport)
			}
			all := inAllShards(t, shards)
			f, own := all[0], "example.com/"+all[0].namespace
			first := f.startSharer(at, "first", own, shards)
			f.until("the first works on all shards", func() bool { return first.share() == shards })
			second := f.startSharer(at, "second", own, shards)
			f.until("they share the work", func() bool { return first.share() == 2 && second.share() == 2 })
			for _, f := range all {
				f.ours = func(job *batchv1.Job) bool { return whose(job) == own }
				f.create(newJob(indexed(3), perIndexLimit(1), managedBy(own)))
				f.kubelet.play(firstFails)
			}
			for _, f := range all {
				f.wantIndexes(f.untilComplete("a", 3, 1), "0-2", "")
			}
			died := time.Now()
			first.crash()
			f.until("the second works on all shards", func() bool { return second.share() == shards })
			t.Logf("taken over after %v, with a lease of %v", time.Since(died), briefLease.lease)
			for _, f := range all {
				f.create(named("b", newJob(completions(2), managedBy(own))))
			}
			for _, f := range all {
				f.untilComplete("b", 2, 0)
				f.untilReleased()
			}
			assert.Equal(t, (second.foreign.Load() == 0), filtered)
			assert.Contains(t, second.log.String(), "Watching", second.log)
		})
	}
}

// With a list of namespaces, a shard has the namespaces in its range, and makes no requests for others.
// Requirements: SHD-07
func TestShardOfSomeNamespaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var processes []*process
	for i := range 2 {
		processes = append(processes, f.startController(func(c *controller.Config) { c.Shard = shard.Of(i, 2) }))
	}
	f.create(newJob(completions(2)))
	f.kubelet.play(everySucceeds)
	f.untilComplete("a", 2, 0)
	for i, p := range processes {
		p.stop()
		assert.Equal(t, (len(p.wire.recorded(everyCall)) > 0), shard.Of(i, 2).Contains(f.namespace), i)
	}
}
