package leader

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	clienttesting "k8s.io/client-go/testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-56: the controllers of one managedBy value share a Lease; controllers of different values do not.
func TestControllersOfOneNameShareALease(t *testing.T) {
	if LeaseName(controller.DefaultManagedBy, "a") == LeaseName(controller.DefaultManagedBy, "b") || LeaseName(controller.DefaultManagedBy, "a") == LeaseName(controller.DefaultManagedBy) {
		t.Error("controllers of different namespaces would wait for each other")
	}
	assert.Equal(t, LeaseName(controller.DefaultManagedBy), "batchjob-batchjob-dev-controller", "the default")
	seen := map[string]string{}
	for _, managedBy := range []string{
		controller.DefaultManagedBy, "batchjob-dev/controller", "example.com/a.b", "example.com/a-b", "example.com/a_b", "example.com/A-B",
		"example.com/trailing_", "e.x/" + strings.Repeat("y", 59),
	} {
		name := LeaseName(managedBy)
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			t.Errorf("%s of %s: %v", name, managedBy, problems)
		}
		if other, is := seen[name]; is {
			t.Errorf("%s and %s share %s", other, managedBy, name)
		}
		if seen[name] = managedBy; LeaseName(managedBy) != name {
			t.Errorf("%s has two names", managedBy)
		}
	}
}

// JOB-56
func TestImpossibleElectionsAreRejected(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Election)
		text   string
	}{
		"as it is": {func(*Election) {}, ""},
		"the shortest": {func(e *Election) {
			e.LeaseDuration, e.RenewDeadline, e.RetryPeriod = time.Second, 900*time.Millisecond, 700*time.Millisecond
		}, ""},
		"lease as long as the deadline":     {func(e *Election) { e.LeaseDuration = e.RenewDeadline }, "lease duration"},
		"lease shorter than a second":       {func(e *Election) { e.LeaseDuration, e.RenewDeadline, e.RetryPeriod = 900, 800, 100 }, "whole seconds"},
		"no lease duration":                 {func(e *Election) { e.LeaseDuration, e.RenewDeadline, e.RetryPeriod = 0, -2, -3 }, "whole seconds"},
		"lease with a fraction of a second": {func(e *Election) { e.LeaseDuration, e.RenewDeadline = 2900*time.Millisecond, 2800*time.Millisecond }, "whole seconds"},
		"deadline and retry too close":      {func(e *Election) { e.RetryPeriod = 9 * time.Second }, "1.2 times"},
		"no retry period":                   {func(e *Election) { e.RetryPeriod = 0 }, "longer than 0"},
		"negative retry period":             {func(e *Election) { e.RetryPeriod = -1 }, "longer than 0"},
		"no deadline":                       {func(e *Election) { e.RenewDeadline = 0 }, "renew deadline"},
		"no name":                           {func(e *Election) { e.Name = "" }, "lease name"},
		"not a name":                        {func(e *Election) { e.Name = "A b" }, `"A b"`},
		"no namespace":                      {func(e *Election) { e.Namespace = "" }, "namespace"},
		"not a namespace":                   {func(e *Election) { e.Namespace = "a.b" }, `"a.b"`},
	} {
		e := (&leaseStore{}).candidate("a")
		c.change(&e)
		switch err := e.Validate(); {
		case c.text == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.text != "" && (err == nil || !strings.Contains(err.Error(), c.text)):
			t.Errorf("%s: %v, want %q", name, err, c.text)
		}
	}
}

// JOB-56: one process leads and the others wait; the Lease outlasts the work that it protects, and is released right
// after it, so that the next leader need not wait until it expires.
func TestLeaseIsGivenBackAfterTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		a := start(store.candidate("a"), slowly(40*time.Second))
		b := start(store.candidate("b"), nil)
		pass(time.Minute)
		if !a.now().leading || b.now().led != 0 {
			t.Fatalf("a leads: %v, b has led %d times", a.now().leading, b.now().led)
		}
		a.cancel()
		pass(39 * time.Second)
		if !a.now().leading || b.now().led != 0 || store.holder(t) != "a" || time.Since(store.lease(t).Spec.RenewTime.Time) > retryTime {
			t.Fatalf("a works on, and the Lease is %+v; b has led %d times", store.lease(t).Spec, b.now().led)
		}
		pass(time.Second)
		if a.now().leading || !a.now().ended || a.now().err != nil || store.holder(t) != "" {
			t.Fatalf("a is done, and the Lease is %+v", store.lease(t).Spec)
		}
		pass(retryTime)
		if !b.now().leading || a.now().led != 1 {
			t.Errorf("b does not lead, or a has led %d times", a.now().led)
		}
		b.end(t)
		assert.SlicesEqual(t, store.holders(), []string{"a", "", "b", ""}, "the holders")
	})
}

// JOB-56: a leader that dies is replaced when its Lease has expired.
func TestSilentLeaderIsReplacedWhenItsLeaseExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := time.Duration(0)
		for range 10 {
			store := newLeaseStore()
			a, b := start(store.candidate("a"), nil), start(store.candidate("b"), nil)
			pass(time.Minute)
			// No write of a arrives, not even the release of its Lease.
			store.failing(func(verb, holder string) error {
				if verb != "get" && holder != "b" {
					return errAway
				}
				return nil
			})
			died := time.Now()
			a.cancel()
			passUntil(t, 100*time.Millisecond, func() bool { return b.now().leading })
			longest = max(longest, b.now().tookOver.Sub(died))
			store.failing(nil)
			b.end(t)
		}
		t.Logf("longest fail-over: %v", longest)
		// The other process may see the last renewal late, and so also the expiry.
		if e := newLeaseStore().candidate(""); longest > e.LeaseDuration+2*retryTime {
			t.Errorf("the fail-over took %v", longest)
		}
	})
}

// JOB-56: ctx ends before the election is won: no process leads, and no Lease is written.
func TestCandidateEndsWithoutTouchingTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		lead := func(context.Context) error { t.Error("it leads"); return nil }
		if err := store.candidate("a").Run(ended, lead); err != nil || store.calls() != 0 {
			t.Errorf("%v, and %d calls", err, store.calls())
		}
		a := start(store.candidate("a"), nil)
		b := start(store.candidate("b"), nil)
		pass(time.Minute)
		b.end(t)
		if b.now().led != 0 || !a.now().leading || !slices.Equal(store.holders(), []string{"a"}) {
			t.Errorf("b has led %d times, a leads: %v, the holders were %q", b.now().led, a.now().leading, store.holders())
		}
		a.end(t)
	})
}

// JOB-56: ctx ends at the moment at which the election is won. The lead begins at most once, ends at once, and the
// Lease is free in the end.
func TestCandidateEndsWhenItWins(t *testing.T) {
	led := map[int]int{}
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			store := newLeaseStore()
			ctx, cancel := context.WithCancel(logr.NewContext(t.Context(), logr.Discard()))
			store.failing(func(verb, _ string) error {
				if verb == "create" {
					cancel()
				}
				return nil
			})
			n, returned := 0, false
			err := store.candidate("a").Run(ctx, func(ctx context.Context) error {
				if n++; returned {
					t.Error("it leads when the election is over")
				}
				<-ctx.Done()
				return nil
			})
			returned = true
			synctest.Wait()
			if led[n]++; err != nil || n > 1 || store.holder(t) != "" {
				t.Errorf("%v, led %d times, the holder is %q", err, n, store.holder(t))
			}
		})
	}
	t.Logf("how often it led, and how many times that was: %v", led)
}

// JOB-56: ctx ends while the write that wins the election is in flight. It is stored, so the Lease is released,
// although this process never saw that it was the holder.
// Requirements: SHD-03
func TestCandidateEndsWithoutTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		ctx, cancel := context.WithCancel(logr.NewContext(t.Context(), logr.Discard()))
		store.PrependReactor("create", "leases", func(action clienttesting.Action) (bool, runtime.Object, error) {
			create := action.(clienttesting.CreateAction)
			cancel()
			assert.NoError(t, store.Tracker().Create(create.GetResource(), create.GetObject(), create.GetNamespace()))
			return true, nil, context.Canceled
		})
		lead := func(context.Context) error { t.Error("it leads"); return nil }
		if err := store.candidate("a").Run(ctx, lead); err != nil || store.holder(t) != "" {
			t.Errorf("%v, the holder is %q", err, store.holder(t))
		}
	})
}

// JOB-56: an error of the lead ends the election, and the Lease is released.
func TestFailedLeadGivesTheLeaseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		broken := errors.New("broken")
		a := start(store.candidate("a"), func(context.Context) error {
			time.Sleep(time.Minute)
			return broken
		})
		pass(2 * time.Minute)
		if !a.now().ended || !errors.Is(a.now().err, broken) || a.now().led != 1 || store.holder(t) != "" {
			t.Errorf("ended: %v, with %v, led %d times, the holder is %q", a.now().ended, a.now().err, a.now().led, store.holder(t))
		}
	})
}
