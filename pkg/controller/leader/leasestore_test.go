package leader

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
)

// leaseStore is an API server with one Lease, which can fail.
type leaseStore struct {
	*fake.Clientset
	mu sync.Mutex
	// fails, if set, handles a call instead of the store. holder is the holder that the call writes, if it is a write.
	fails func(verb, holder string) error
	// stored holds all past holders, without repetitions.
	stored []string
	made   int
}

var errAway = errors.New("the API server is away")

func newLeaseStore() *leaseStore {
	s := &leaseStore{Clientset: fake.NewClientset()}
	s.PrependReactor("*", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
		holder := ""
		if write, is := action.(interface{ GetObject() runtime.Object }); is {
			holder = ptr.Deref(write.GetObject().(*coordinationv1.Lease).Spec.HolderIdentity, "")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made++
		if s.fails != nil {
			if err := s.fails(action.GetVerb(), holder); err != nil {
				return true, nil, err
			}
		}
		if action.GetVerb() != "get" && (len(s.stored) == 0 || s.stored[len(s.stored)-1] != holder) {
			s.stored = append(s.stored, holder)
		}
		return false, nil, nil
	})
	return s
}

func (s *leaseStore) failing(how func(verb, holder string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = how
}

// holders returns all past holders, without repetitions.
func (s *leaseStore) holders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stored)
}

// calls returns the number of calls.
func (s *leaseStore) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made
}

func (s *leaseStore) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	stored, err := s.Tracker().Get(coordinationv1.SchemeGroupVersion.WithResource("leases"), "ns", "lease")
	assert.NoError(t, err)
	return stored.(*coordinationv1.Lease)
}

func (s *leaseStore) holder(t *testing.T) string {
	t.Helper()
	return ptr.Deref(s.lease(t).Spec.HolderIdentity, "")
}

// steal makes another process the holder, as an edit of the Lease does.
func (s *leaseStore) steal(t *testing.T, thief string) {
	t.Helper()
	stolen := s.lease(t).DeepCopy()
	stolen.Spec.HolderIdentity, stolen.Spec.RenewTime = &thief, &metav1.MicroTime{Time: time.Now()}
	assert.NoError(t, s.Tracker().Update(coordinationv1.SchemeGroupVersion.WithResource("leases"), stolen, "ns"))
}

// candidate returns an election with the default times.
func (s *leaseStore) candidate(identity string) Election {
	return Election{
		Client: kubefake.Client(s), Namespace: "ns", Name: "lease", Identity: identity,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
	}
}

// replica is a candidate that runs.
type replica struct {
	cancel context.CancelFunc
	mu     sync.Mutex
	state  replicaState
}

// replicaState is the state of a candidate so far.
type replicaState struct {
	// led is how often it became the leader, leading whether its work continues.
	led     int
	leading bool
	// tookOver and lost are the times at which it last became the leader, and at which its context was canceled.
	tookOver, lost time.Time
	ended          bool
	err            error
}

func (r *replica) now() replicaState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

func (r *replica) set(change func(*replicaState)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.state)
}

// start runs the election in a bubble of testing/synctest, whose time advances when all goroutines wait. work is the
// work of a lead, besides waiting for its end.
func start(e Election, work func(context.Context) error) *replica {
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), logr.Discard()))
	r := &replica{cancel: cancel}
	go func() {
		err := e.Run(ctx, func(ctx context.Context) error {
			r.set(func(s *replicaState) { s.led, s.leading, s.tookOver = s.led+1, true, time.Now() })
			defer r.set(func(s *replicaState) { s.leading = false })
			context.AfterFunc(ctx, func() { r.set(func(s *replicaState) { s.lost = time.Now() }) })
			if work == nil {
				<-ctx.Done()
				return nil
			}
			return work(ctx)
		})
		r.set(func(s *replicaState) { s.ended, s.err = true, err })
	}()
	synctest.Wait()
	return r
}

// pass advances the time in the bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// passUntil advances the time until a condition holds, at most by an hour.
func passUntil(t *testing.T, step time.Duration, condition func() bool) {
	t.Helper()
	for begun := time.Now(); !condition(); pass(step) {
		if time.Since(begun) > time.Hour {
			t.Fatal("it did not happen in an hour")
		}
	}
}

// slowly ends a lead some time after its context was canceled.
func slowly(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(d)
		return nil
	}
}

// end stops the replica, which must end without an error.
func (r *replica) end(t *testing.T) {
	t.Helper()
	r.cancel()
	pass(time.Minute)
	if now := r.now(); !now.ended || now.err != nil {
		t.Errorf("ended: %v, with %v", now.ended, now.err)
	}
}

// retryTime is the longest time between two tries: client-go adds up to 120 %.
const retryTime = 4400 * time.Millisecond
