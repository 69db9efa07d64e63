package leader

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// JOB-56, JOB-57: a leader that cannot renew its Lease ends its work before another process may take the Lease, and is
// a candidate again: it leads as soon as the API server is back.
func TestLeadIsLostAndFoundAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		a := start(store.candidate("a"), slowly(3*time.Second))
		pass(time.Minute)
		renewed := store.lease(t).Spec.RenewTime.Time
		store.failing(func(string, string) error { return errAway })
		pass(10 * time.Minute)
		if a.now().leading || a.now().ended || a.now().led != 1 || a.now().lost.Sub(renewed) >= 15*time.Second {
			t.Fatalf("leads: %v, ended: %v, has led %d times, the last %v after the renewal", a.now().leading, a.now().ended, a.now().led, a.now().lost.Sub(renewed))
		}
		store.failing(nil)
		pass(retryTime)
		if !a.now().leading || a.now().led != 2 {
			t.Errorf("leads: %v, has led %d times", a.now().leading, a.now().led)
		}
		a.end(t)
	})
}

// JOB-56: leadership is lost because renewals fail, while other calls succeed. The Lease is not released before the
// work has ended.
func TestLostLeaseOutlastsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		a := start(store.candidate("a"), slowly(30*time.Second))
		pass(time.Minute)
		store.failing(func(_, holder string) error {
			if holder == "a" {
				return errAway
			}
			return nil
		})
		passUntil(t, time.Second, func() bool { return !a.now().lost.IsZero() })
		pass(20 * time.Second)
		if !a.now().leading || slices.Contains(store.holders(), "") {
			t.Errorf("it works: %v, and the holders were %q", a.now().leading, store.holders())
		}
		pass(30 * time.Second)
		if a.now().leading || store.holder(t) != "" {
			t.Errorf("it works: %v, and the holder is %q", a.now().leading, store.holder(t))
		}
		a.end(t)
	})
}

// JOB-56: a client makes another process the holder. The lead ends as soon as the next renewal shows that, and the
// Lease is left to the other process.
func TestLeaseIsStolen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		a := start(store.candidate("a"), nil)
		pass(time.Minute)
		store.steal(t, "thief")
		// The fake stores any version; a real API server would return a conflict here.
		store.failing(func(verb, _ string) error {
			if verb == "update" {
				return apierrors.NewConflict(coordinationv1.Resource("leases"), "lease", errors.New("stolen"))
			}
			return nil
		})
		pass(retryTime)
		if a.now().leading || a.now().led != 1 || store.holder(t) != "thief" {
			t.Errorf("leads: %v, has led %d times, the holder is %q", a.now().leading, a.now().led, store.holder(t))
		}
		store.failing(nil)
		pass(15*time.Second + retryTime)
		if !a.now().leading || a.now().led != 2 || store.holder(t) != "a" {
			t.Errorf("the thief's Lease has expired; leads: %v, has led %d times, the holder is %q", a.now().leading, a.now().led, store.holder(t))
		}
		a.end(t)
	})
}

// The Lease is free, or its new holder has already expired: another process may have worked and ended. The lead ends,
// and a new one begins like a restarted process.
// Requirements: JOB-56
func TestLeadBeginsAnewAfterAnotherHolder(t *testing.T) {
	for _, holder := range []string{"", "thief"} {
		synctest.Test(t, func(t *testing.T) {
			store := newLeaseStore()
			a := start(store.candidate("a"), nil)
			pass(time.Minute)
			store.failing(func(verb, _ string) error {
				if verb == "update" {
					store.fails = nil
					return apierrors.NewConflict(coordinationv1.Resource("leases"), "lease", errors.New("stolen"))
				}
				return nil
			})
			store.steal(t, holder)
			pass(15*time.Second + 2*retryTime)
			if !a.now().leading || a.now().led != 2 || store.holder(t) != "a" {
				t.Errorf("after %q: leads %v, has led %d times, the holder is %q", holder, a.now().leading, a.now().led, store.holder(t))
			}
			a.end(t)
		})
	}
}

// JOB-56: the Lease gets another holder between the last renewal and the end: it is left to that holder.
func TestStolenLeaseIsNotGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		a := start(store.candidate("a"), nil)
		pass(time.Minute)
		store.steal(t, "thief")
		a.end(t)
		assert.Equal(t, store.holder(t), "thief", "the holder")
	})
}

// errLost is the error of a write that is stored.
var errLost = errors.New("the answer is lost")

// JOB-56: the first try to release the Lease fails: a renewal in flight caused a conflict, or there was no response,
// whether or not the write was stored. The second try succeeds.
func TestGivingBackIsRepeated(t *testing.T) {
	for what, failure := range map[string]error{
		"conflict":              apierrors.NewConflict(coordinationv1.Resource("leases"), "lease", errors.New("renewed")),
		"no answer":             context.DeadlineExceeded,
		"stored, but no answer": errLost,
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newLeaseStore()
				a := start(store.candidate("a"), nil)
				pass(time.Minute)
				failures := 0
				store.failing(func(verb, holder string) error {
					if failures == 0 && verb == "update" && holder == "" {
						if failures++; errors.Is(failure, errLost) {
							store.steal(t, "")
						}
						return failure
					}
					return nil
				})
				a.end(t)
				if failures != 1 || store.holder(t) != "" {
					t.Errorf("%d failures, and the holder is %q", failures, store.holder(t))
				}
			})
		})
	}
}

// JOB-56: a leader whose work does not end although leadership is lost becomes unhealthy after a while; a candidate or
// a healthy leader does not.
func TestStuckLeadIsUnhealthy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		watchdog := NewWatchdog(20 * time.Second)
		e := store.candidate("a")
		e.Watchdog = watchdog
		a := start(e, slowly(5*time.Minute))
		pass(time.Minute)
		healthy := func(want bool) {
			t.Helper()
			assert.Equal(t, watchdog.Check() == nil, want, "healthy")
		}
		healthy(true)
		store.failing(func(string, string) error { return errAway })
		pass(30 * time.Second)
		healthy(true)
		pass(10 * time.Second)
		healthy(false)
		pass(5 * time.Minute)
		healthy(true)
		a.cancel()
		pass(5 * time.Minute)
	})
}
