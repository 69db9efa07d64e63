// Package leader elects the process of a controller that does the work.
package leader

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Election elects, with a Lease, one of several processes to do the work (JOB-56). A new leader starts like a restarted
// process: all persistent state is in Jobs and pods, and every status write is conditional, so that even two concurrent
// leaders count nothing twice.
type Election struct {
	// Client reads and writes the Lease. A separate client keeps other calls from delaying it.
	Client kube.Interface
	// Namespace and Name identify the Lease; LeaseName returns a suitable name.
	Namespace, Name string
	// Identity is the unique identity of this process.
	Identity string
	// LeaseDuration is how long candidates wait after the last renewal, RenewDeadline is how long a leader tries to
	// renew before it gives up, and RetryPeriod is the time between two tries.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Watchdog, if set, watches the Lease, and reports a stuck leader as unhealthy.
	Watchdog *Watchdog
	// labels are the labels of the Lease; nil means the labels of the only shard.
	labels map[string]string
}

// jitterFactor is the factor, relative to the retry period, by which candidates wait longer, at random, so that they do
// not try at the same time.
const jitterFactor = 1.2

// Validate checks the election. Its errors are worded for users of the flags.
func (e Election) Validate() error {
	switch {
	case e.LeaseDuration < time.Second || e.LeaseDuration%time.Second != 0:
		// A Lease stores whole seconds: the others would take over sooner than the leader expects.
		return fmt.Errorf("the lease duration must be whole seconds, not %v", e.LeaseDuration)
	case e.LeaseDuration <= e.RenewDeadline:
		return fmt.Errorf("the lease duration, %v, must be longer than the renew deadline, %v", e.LeaseDuration, e.RenewDeadline)
	case float64(e.RenewDeadline) <= jitterFactor*float64(e.RetryPeriod):
		return fmt.Errorf("the renew deadline, %v, must be longer than %g times the retry period, %v", e.RenewDeadline, jitterFactor, e.RetryPeriod)
	case e.RetryPeriod <= 0:
		return fmt.Errorf("the retry period must be longer than 0, not %v", e.RetryPeriod)
	}
	if problems := validation.IsDNS1123Subdomain(e.Name); len(problems) > 0 {
		return fmt.Errorf("the lease name %q: %s", e.Name, strings.Join(problems, "; "))
	}
	if problems := validation.IsDNS1123Label(e.Namespace); len(problems) > 0 {
		return fmt.Errorf("the lease namespace %q: %s", e.Namespace, strings.Join(problems, "; "))
	}
	return nil
}

// LeaseName returns the name of the Lease for controllers of a managedBy value and namespaces (none means all), so that
// controllers of different Jobs do not wait for each other.
func LeaseName(managedBy string, namespaces ...string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(managedBy))
	if name = "batchjob-" + name; managedBy == controller.DefaultManagedBy && len(namespaces) == 0 {
		return name
	}
	// Different values may have become equal.
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(managedBy + " " + strings.Join(namespaces, ",")))
	return fmt.Sprintf("%s-%08x", strings.TrimRight(name, "-"), hash.Sum32())
}

// Run calls lead whenever this process becomes the leader, until ctx is done or lead returns an error. The context of
// lead is canceled when leadership is lost; lead must then return soon, and the Lease is released once it has. A
// process that lost its leadership becomes a candidate again.
func (e Election) Run(ctx context.Context, lead func(context.Context) error) error {
	for ctx.Err() == nil {
		if err := e.term(ctx, lead); err != nil {
			return err
		}
	}
	return nil
}

// term runs one candidacy and, if the process wins, one leadership.
func (e Election) term(ctx context.Context, lead func(context.Context) error) error {
	l := newLease(e)
	if e.Watchdog != nil {
		e.Watchdog.watch(l)
	}
	isLeader := masterStatus().WithLabelValues(e.Name)
	isLeader.Set(0)
	// The Lease must outlast the work that it protects, even when ctx ends.
	defer l.giveBack(context.WithoutCancel(ctx))
	if !l.await(ctx) {
		return nil
	}
	isLeader.Set(1)
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	working, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() {
		defer release()
		done <- lead(working)
	}()
	l.keep(holding)
	isLeader.Set(0)
	stop()
	// The work continues for a moment after leadership is lost.
	err := <-done
	if err == nil && ctx.Err() == nil {
		klog.FromContext(ctx).Info("Lost leadership, becoming a candidate again")
	}
	return err
}

// errTaken ends the renewals of a Lease that has another holder.
var errTaken = errors.New("the Lease has another holder")

// await tries to acquire the Lease until this process holds it. It reports whether it does; ctx may end first.
func (l *lease) await(ctx context.Context) (won bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait.JitterUntilWithContext(ctx, func(ctx context.Context) {
		if won = l.acquire(ctx); won {
			cancel()
		}
	}, l.RetryPeriod, jitterFactor, true)
	return won
}

// keep renews the Lease until ctx ends, renewals have failed for RenewDeadline, or the Lease has another holder: after
// a pause of this process, another process may already be working.
func (l *lease) keep(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		err := wait.PollUntilContextTimeout(ctx, l.RetryPeriod, l.RenewDeadline, true, func(ctx context.Context) (bool, error) {
			renewed := ctx.Err() == nil && l.acquire(ctx)
			if !renewed && !l.isOurs() {
				return false, errTaken
			}
			return renewed, nil
		})
		if err != nil {
			cancel()
		}
	}, l.RetryPeriod)
}
