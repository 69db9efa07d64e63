package integration

import (
	"context"
	"net/http"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// times are the durations of an election.
type times struct{ lease, renew, retry time.Duration }

var (
	// shortLease expires as soon as possible. On a busy machine a leader may lose it.
	shortLease = times{time.Second, 900 * time.Millisecond, 100 * time.Millisecond}
	// briefLease is for tests that work on if a leader loses it.
	briefLease = times{3 * time.Second, 2 * time.Second, 100 * time.Millisecond}
	// steadyLease is for tests in which a leader must keep its Lease until it is cut off, also on a busy machine.
	steadyLease = times{15 * time.Second, 12 * time.Second, 100 * time.Millisecond}
	// longLease does not expire during a test: another leader follows only if the Lease is released.
	longLease = times{4 * patience, 2 * patience, 100 * time.Millisecond}
)

// replica is a process that works only while it leads. The wire of its process is for its work.
type replica struct {
	*process
	identity string
	// lease is the wire for the election.
	lease *wire

	mu sync.Mutex
	// led counts how often it became the leader; working reports whether it is, and since is the time.
	led     int
	working bool
	since   time.Time
	// wrote is the number of its writes when it became the leader.
	wrote int
}

// startReplica runs a candidate for the namespace's Lease, until the test ends it.
func (f *fixture) startReplica(identity string, t times, options ...func(*controller.Config)) *replica {
	f.t.Helper()
	return f.startReplicaAt(apiServer.Config, identity, t, options...)
}

func (f *fixture) startReplicaAt(at *rest.Config, identity string, t times, options ...func(*controller.Config)) *replica {
	f.t.Helper()
	r := &replica{identity: identity, lease: &wire{}, process: newProcess(f.t)}
	lease := rest.CopyConfig(at)
	lease.Wrap(r.leaseTransport)
	lease.Timeout = t.renew / 2
	config := f.config(at, r.wire.wrap, options)
	election := leader.Election{
		Client: newControllerClient(f.t, lease, controller.FieldManager), Namespace: f.namespace, Name: "lease", Identity: identity,
		LeaseDuration: t.lease, RenewDeadline: t.renew, RetryPeriod: t.retry,
	}
	assert.NoError(f.t, election.Validate())
	r.run(func(ctx context.Context) error {
		return election.Run(ctx, func(ctx context.Context) error { return r.lead(ctx, config) })
	})
	f.processes = append(f.processes, r.process)
	return r
}

// leaseTransport is severed together with the work: a process crashes as a whole.
func (r *replica) leaseTransport(next http.RoundTripper) http.RoundTripper {
	next = r.lease.wrap(next)
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if r.wire.severed.Load() {
			return nil, errCut
		}
		return next.RoundTrip(request)
	})
}

func (r *replica) lead(ctx context.Context, config controller.Config) error {
	runtime, err := controller.New(config)
	if err != nil {
		return err
	}
	r.set(true)
	defer r.set(false)
	return runtime.Run(ctx)
}

func (r *replica) set(working bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working = working; working {
		r.led++
		r.since, r.wrote = time.Now(), len(r.wire.recorded(anyWrite))
	}
}

func (r *replica) isWorking() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.working
}

// leads returns how often the replica became the leader, and the last time.
func (r *replica) leads() (times int, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.led, r.since
}

func (f *fixture) untilLeading(r *replica) {
	f.t.Helper()
	f.until(r.identity+" leads", r.isWorking)
}

// startPair starts a leader and a standby.
func (f *fixture) startPair(t times, options ...func(*controller.Config)) (leader, standby *replica) {
	f.t.Helper()
	leader = f.startReplica("first", t, options...)
	f.untilLeading(leader)
	standby = f.startReplica("second", t, options...)
	f.until("the other one has seen the Lease", func() bool { return len(standby.lease.recorded(leaseGet)) > 0 })
	return leader, standby
}

var (
	leaseGet  = calls(http.MethodGet, "leases")
	leasePut  = calls(http.MethodPut, "leases")
	everyCall = match(func(call) bool { return true })
)

func (f *fixture) leaseNow() *coordinationv1.Lease {
	f.t.Helper()
	lease, err := f.client.CoordinationV1().Leases(f.namespace).Get(context.Background(), "lease", metav1.GetOptions{})
	assert.NoError(f.t, err, "reading the Lease")
	return lease
}

func (f *fixture) holder() string {
	f.t.Helper()
	return ptr.Deref(f.leaseNow().Spec.HolderIdentity, "")
}
