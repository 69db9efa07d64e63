package controller

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	componentconfig "k8s.io/component-base/config"
	componentoptions "k8s.io/component-base/config/options"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
)

// electionOptions are the --leader-elect flags and --shards, and the election made from them.
type electionOptions struct {
	leader   componentconfig.LeaderElectionConfiguration
	shards   int
	election *leader.Election
	// sharding is nil unless there are several shards.
	sharding *leader.Sharding
	watchdog *leader.Watchdog
}

// watchdogGrace is how long a leader may keep working after its lease has expired before it is unhealthy. After it
// loses the lead, calls without a response may take 30 s to end, and an API server that hangs is no reason for a
// restart.
const watchdogGrace = time.Minute

// leasesLock is the only kind of lock that Kubernetes still supports.
const leasesLock = "leases"

// leaseQPS is the rate limit for a replica with one lease; each shard adds 2. Lease requests never wait for other
// requests.
const leaseQPS = 10

func (o *electionOptions) addFlags(flags *pflag.FlagSet) {
	o.leader = componentconfig.LeaderElectionConfiguration{
		LeaseDuration: metav1.Duration{Duration: 15 * time.Second},
		RenewDeadline: metav1.Duration{Duration: 10 * time.Second},
		RetryPeriod:   metav1.Duration{Duration: 2 * time.Second},
		ResourceLock:  leasesLock,
	}
	componentoptions.BindLeaderElectionFlags(&o.leader, flags)
	flags.Lookup("leader-elect").Usage = "Work only while holding a Lease, so that one of several replicas works and the others wait."
	flags.Lookup("leader-elect-resource-name").Usage = "Name of the Lease. Default: derived from --managed-by and --namespaces."
	flags.Lookup("leader-elect-resource-namespace").Usage = "Namespace of the Lease. Default: that of -n, of the pod, or of the current context."
	if err := flags.MarkHidden("leader-elect-resource-lock"); err != nil { // There is only one kind.
		panic(err)
	}
	flags.IntVar(&o.shards, "shards", 1, "Number of shards to divide the namespaces into, by a hash of their names. Above 1, it requires --leader-elect, and all replicas work, each on its fair share of the shards.")
}

// completeElection creates the election; it leaves it nil without --leader-elect.
func (o *Options) completeElection(config *rest.Config) error {
	if !o.leader.LeaderElect {
		if o.shards > 1 {
			return cmdutil.UsageErrorf("--shards requires --leader-elect")
		}
		return nil
	}
	if o.leader.ResourceLock != leasesLock {
		return cmdutil.UsageErrorf("--leader-elect-resource-lock must be %s, not %s", leasesLock, o.leader.ResourceLock)
	}
	if o.leader.ResourceName == "" {
		o.leader.ResourceName = leader.LeaseName(o.config.ManagedBy, o.config.Namespaces...)
	}
	if o.leader.ResourceNamespace == "" {
		namespace, _, err := o.kube.Loader().Namespace()
		if err != nil {
			return cmdutil.ExplainConfigError(err)
		}
		o.leader.ResourceNamespace = namespace
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("reading the host name for leader election: %w", err)
	}
	o.watchdog = leader.NewWatchdog(watchdogGrace)
	o.election = &leader.Election{
		Namespace: o.leader.ResourceNamespace, Name: o.leader.ResourceName, Identity: host + "_" + string(uuid.NewUUID()),
		LeaseDuration: o.leader.LeaseDuration.Duration, RenewDeadline: o.leader.RenewDeadline.Duration, RetryPeriod: o.leader.RetryPeriod.Duration,
		Watchdog: o.watchdog,
	}
	if err := o.election.Validate(); err != nil {
		return cmdutil.UsageErrorf("--leader-elect: %v", err)
	}
	leases := leaseQPS + 2*o.shards
	o.election.Client, err = newControllerClient(config, float32(leases), leases, o.leader.RenewDeadline.Duration/2)
	if o.shards > 1 {
		o.sharding = &leader.Sharding{Election: *o.election, Shards: o.shards, Grace: watchdogGrace}
	}
	return err
}

// leaseRule returns the permission that the Leases require.
func (o *electionOptions) leaseRule() rbacv1.PolicyRule {
	if o.shards > 1 {
		return shardRule
	}
	return leaseRule
}

// leaseNamespace returns the namespace of the Lease, or "" without an election.
func (o *electionOptions) leaseNamespace() string {
	if o.election == nil {
		return ""
	}
	return o.election.Namespace
}
