// Package leader elects one of several processes of a controller to work.
package leader

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
)

// Election elects one of several processes to work (JOB-56), with a Lease. A new leader
// starts like a restarted process: all persistent state is in Jobs and pods, and every
// status write is conditional, so that even two leaders at once count nothing twice.
type Election struct {
	// Client reads and writes the Lease. A separate one keeps other calls from delaying it.
	Client kubernetes.Interface
	// Namespace and Name are the Lease's; LeaseName returns a suitable name.
	Namespace, Name string
	// Identity is the unique identity of this process.
	Identity string
	// LeaseDuration is how long the others wait after the last renewal, RenewDeadline when
	// a leader that cannot renew gives up, RetryPeriod the time between two tries.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Watchdog, if set, watches the elector, and reports a stuck leader as unhealthy.
	Watchdog *leaderelection.HealthzAdaptor
	// labels are the Lease's; nil for those of the only shard.
	labels map[string]string
}

// Validate checks the election. Errors make sense to users of the flags.
func (e Election) Validate() error {
	switch {
	case e.LeaseDuration < time.Second || e.LeaseDuration%time.Second != 0:
		// A Lease stores whole seconds: the others would take over sooner than the leader expects.
		return fmt.Errorf("the lease duration must be whole seconds, not %v", e.LeaseDuration)
	case e.LeaseDuration <= e.RenewDeadline:
		return fmt.Errorf("the lease duration, %v, must be longer than the renew deadline, %v", e.LeaseDuration, e.RenewDeadline)
	case float64(e.RenewDeadline) <= leaderelection.JitterFactor*float64(e.RetryPeriod):
		return fmt.Errorf("the renew deadline, %v, must be longer than %g times the retry period, %v", e.RenewDeadline, leaderelection.JitterFactor, e.RetryPeriod)
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

// LeaseName returns the name of the Lease for controllers of a managedBy value and
// namespaces (none for all), so that controllers of different Jobs do not wait for each
// other.
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
	// Different values may look the same by now.
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(managedBy + " " + strings.Join(namespaces, ",")))
	return fmt.Sprintf("%s-%08x", strings.TrimRight(name, "-"), hash.Sum32())
}

// Run calls lead whenever this process becomes the leader, until ctx is done or lead
// returns an error. The context of lead is canceled when leadership is lost, and lead must
// return soon then; the Lease is released once it has. A process that lost its leadership
// becomes a candidate again.
func (e Election) Run(ctx context.Context, lead func(context.Context) error) error {
	for ctx.Err() == nil {
		if err := e.term(ctx, lead); err != nil {
			return err
		}
	}
	return nil
}

// term runs one candidacy and, if it is won, one leadership.
func (e Election) term(ctx context.Context, lead func(context.Context) error) error {
	// The Lease must outlast the work that it protects, even when ctx ends.
	holding, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	t := &term{ctx: ctx, lead: lead, release: release, done: make(chan struct{})}
	defer context.AfterFunc(ctx, t.stopCandidacy)()
	lock := &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: e.Namespace, Name: e.Name}, Client: e.Client.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: e.Identity}, Labels: e.labels,
	}
	if lock.Labels == nil {
		lock.Labels = leaseLabels(e.Name, 1, "0")
	}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:          lock,
		LeaseDuration: e.LeaseDuration, RenewDeadline: e.RenewDeadline, RetryPeriod: e.RetryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: t.work, OnStoppedLeading: func() {}, OnNewLeader: func(identity string) {
			klog.FromContext(ctx).Info("Leader", "identity", identity, "self", identity == e.Identity)
		}},
		WatchDog: e.Watchdog, Name: e.Name,
		// The elector would release a Lease that it cannot renew before it ends the work.
		ReleaseOnCancel: false,
	})
	if err != nil {
		return fmt.Errorf("leader election: %w", err)
	}
	if e.Watchdog != nil {
		e.Watchdog.SetLeaderElection(elector)
	}
	elector.Run(holding)
	err = t.end()
	if elector.IsLeader() {
		e.giveBack(context.WithoutCancel(ctx), lock)
	}
	return err
}

// giveBack releases the Lease, if it is still ours, so that others need not wait until it
// expires. If that fails, they wait.
func (e Election) giveBack(ctx context.Context, lock *resourcelock.LeaseLock) {
	ctx, cancel := context.WithTimeout(ctx, e.RenewDeadline)
	defer cancel()
	// A last renewal that was not waited for may be stored in between.
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		held, _, err := lock.Get(ctx)
		if err != nil || held.HolderIdentity != e.Identity {
			return err
		}
		now := metav1.Now()
		return lock.Update(ctx, resourcelock.LeaderElectionRecord{
			LeaderTransitions: held.LeaderTransitions, LeaseDurationSeconds: 1, RenewTime: now, AcquireTime: now,
		})
	})
	if err != nil {
		klog.FromContext(ctx).Error(err, "Cannot release the Lease, the next leader has to wait until it expires")
	}
}

// term is the state of one candidacy and leadership.
type term struct {
	ctx     context.Context
	lead    func(context.Context) error
	release context.CancelFunc

	mu             sync.Mutex
	started, ended bool
	done           chan struct{}
	err            error
}

// stopCandidacy ends an election that has not been won. Leadership ends by itself.
func (t *term) stopCandidacy() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.started {
		t.release()
	}
}

// work is called, in a goroutine of its own, once this process is the leader.
func (t *term) work(leading context.Context) {
	t.mu.Lock()
	if t.ended || leading.Err() != nil {
		t.mu.Unlock()
		return
	}
	t.started = true
	t.mu.Unlock()
	defer close(t.done)
	defer t.release()
	ctx, cancel := context.WithCancel(leading)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	t.err = t.lead(ctx)
}

// end waits for the work, which continues for a moment after leadership is lost.
func (t *term) end() error {
	t.mu.Lock()
	t.ended = true
	started := t.started
	t.mu.Unlock()
	if !started {
		return nil
	}
	<-t.done
	if t.err == nil && t.ctx.Err() == nil {
		klog.FromContext(t.ctx).Info("Lost leadership, becoming a candidate again")
	}
	return t.err
}
