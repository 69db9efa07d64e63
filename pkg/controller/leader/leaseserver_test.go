package leader

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// leaseServer is an API server for Leases, with resourceVersions. Every replica has its own client, which can be
// disconnected.
type leaseServer struct {
	mu      sync.Mutex
	version int
	leases  map[string]*coordinationv1.Lease
	// workers holds the replicas that work on each shard, as NUMBER OF SHARDS/SHARD.
	workers map[string][]string
	// idle is the time since which a shard has had no worker, and longest the longest such time.
	idle    map[string]time.Time
	longest time.Duration
	// twice holds the shards that two replicas worked on at the same time, and moved is how often a replica began to
	// work on a shard.
	twice []string
	moved int
	// calls is the number of calls.
	calls int
}

func newLeaseServer() *leaseServer {
	return &leaseServer{leases: map[string]*coordinationv1.Lease{}, workers: map[string][]string{}, idle: map[string]time.Time{}}
}

func (s *leaseServer) answer(action clienttesting.Action) (runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	resource := coordinationv1.Resource("leases")
	switch a := action.(type) {
	case clienttesting.ListActionImpl:
		list := &coordinationv1.LeaseList{}
		for _, l := range s.leases {
			if a.ListRestrictions.Labels.Matches(labels.Set(l.Labels)) {
				list.Items = append(list.Items, *l.DeepCopy())
			}
		}
		return list, nil
	case clienttesting.CreateActionImpl:
		l := a.Object.(*coordinationv1.Lease).DeepCopy()
		if s.leases[l.Name] != nil {
			return nil, apierrors.NewAlreadyExists(resource, l.Name)
		}
		if err := validate(l); err != nil {
			return nil, err
		}
		l.UID = types.UID(strconv.Itoa(s.version))
		return s.store(l), nil
	case clienttesting.UpdateActionImpl:
		l := a.Object.(*coordinationv1.Lease).DeepCopy()
		if err := s.expect(l.Name, &l.ResourceVersion); err != nil {
			return nil, err
		}
		if err := validate(l); err != nil {
			return nil, err
		}
		return s.store(l), nil
	case clienttesting.DeleteActionImpl:
		version := (*string)(nil)
		if a.DeleteOptions.Preconditions != nil {
			version = a.DeleteOptions.Preconditions.ResourceVersion
		}
		err := s.expect(a.Name, version)
		if err == nil {
			delete(s.leases, a.Name)
		}
		return &coordinationv1.Lease{}, err
	case clienttesting.GetActionImpl:
		if err := s.expect(a.Name, nil); err != nil {
			return nil, err
		}
		return s.leases[a.Name].DeepCopy(), nil
	}
	return nil, fmt.Errorf("unexpected %T", action)
}

// validate checks the rules of ValidateLeaseSpec of the API server.
func validate(l *coordinationv1.Lease) error {
	var invalid field.ErrorList
	if n := l.Spec.LeaseDurationSeconds; n != nil && *n <= 0 {
		invalid = append(invalid, field.Invalid(field.NewPath("spec", "leaseDurationSeconds"), *n, "must be greater than 0"))
	}
	if n := l.Spec.LeaseTransitions; n != nil && *n < 0 {
		invalid = append(invalid, field.Invalid(field.NewPath("spec", "leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	if len(invalid) == 0 {
		return nil
	}
	return apierrors.NewInvalid(coordinationv1.SchemeGroupVersion.WithKind("Lease").GroupKind(), l.Name, invalid)
}

func (s *leaseServer) store(l *coordinationv1.Lease) *coordinationv1.Lease {
	s.version++
	l.ResourceVersion = strconv.Itoa(s.version)
	s.leases[l.Name] = l
	return l.DeepCopy()
}

func (s *leaseServer) expect(name string, version *string) error {
	switch l := s.leases[name]; {
	case l == nil:
		return apierrors.NewNotFound(coordinationv1.Resource("leases"), name)
	case version != nil && l.ResourceVersion != *version:
		return apierrors.NewConflict(coordinationv1.Resource("leases"), name, errAway)
	}
	return nil
}

// names returns the names of all Leases.
func (s *leaseServer) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.leases))
}

func (s *leaseServer) begin(shard, replica string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.workers[shard] = append(s.workers[shard], replica); len(s.workers[shard]) > 1 {
		s.twice = append(s.twice, shard)
	}
	if since := s.idle[shard]; !since.IsZero() {
		s.longest = max(s.longest, time.Since(since))
	}
	s.moved++
}

func (s *leaseServer) end(shard, replica string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.workers[shard], replica)
	if s.workers[shard] = slices.Delete(s.workers[shard], i, i+1); len(s.workers[shard]) == 0 {
		s.idle[shard] = time.Now()
	}
}

// sharer is a replica with shards.
type sharer struct {
	*leaseServer
	Sharding
	cancel context.CancelFunc
	mu     sync.Mutex
	away   bool
	ended  bool
	err    error
}

// join starts a replica with a number of shards. slow is how long its work on a shard takes to end.
func (s *leaseServer) join(identity string, shards int, slow time.Duration) *sharer {
	return s.joinAs("lease", identity, shards, slow)
}

// joinAs is like join, for the controller whose Leases have this name.
func (s *leaseServer) joinAs(lease, identity string, shards int, slow time.Duration) *sharer {
	r := &sharer{leaseServer: s}
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
	r.cancel = cancel
	r.Sharding = Sharding{Election: r.election(identity), Shards: shards, Grace: time.Minute}
	r.Name = lease
	go func() {
		err := r.Run(ctx, func(ctx context.Context, shard int) error {
			name := fmt.Sprintf("%d/%d", shards, shard)
			s.begin(name, identity)
			defer s.end(name, identity)
			<-ctx.Done()
			time.Sleep(slow)
			return nil
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended, r.err = true, err
	}()
	return r
}

// election returns an Election whose client can be disconnected.
func (r *sharer) election(identity string) Election {
	client := &fake.Clientset{}
	client.AddReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if r.isAway() {
			return true, nil, errAway
		}
		object, err := r.answer(action)
		return true, object, err
	})
	return Election{
		Client: kubefake.Client(client), Namespace: "ns", Name: "lease", Identity: identity,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
	}
}

func (r *sharer) isAway() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.away
}

func (r *sharer) setAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

// die ends the replica, and none of its writes arrives anymore.
func (r *sharer) die() {
	r.setAway(true)
	r.cancel()
}

// stop ends the replica as SIGTERM does.
func (r *sharer) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	pass(time.Minute)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended || r.err != nil {
		t.Errorf("ended: %v, with %v", r.ended, r.err)
	}
}

// shares returns the number of shards that each replica works on.
func (s *leaseServer) shares() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	shares := map[string]int{}
	for _, workers := range s.workers {
		for _, w := range workers {
			shares[w]++
		}
	}
	return shares
}

func (s *leaseServer) wantShares(t *testing.T, want map[string]int) {
	t.Helper()
	if got := s.shares(); !maps.Equal(got, want) {
		t.Fatalf("shares %v, want %v; Leases %q", got, want, s.holding())
	}
}

func (s *leaseServer) holding() (text []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.leases)) {
		text = append(text, name+"="+ptr.Deref(s.leases[name].Spec.HolderIdentity, ""))
	}
	return text
}
