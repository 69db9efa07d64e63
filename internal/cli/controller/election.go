package controller

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/rest"
	componentconfig "k8s.io/component-base/config"
	componentoptions "k8s.io/component-base/config/options"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
)

// electionOptions are the --leader-elect flags and --shards, and the election that they ask for.
type electionOptions struct {
	leader   componentconfig.LeaderElectionConfiguration
	shards   int
	election *leader.Election
	// sharding is nil unless there are several shards.
	sharding *leader.Sharding
	watchdog *leader.Watchdog
}

// watchdogGrace is how long a leader may hold on to an expired lease before it is
// unhealthy. When it has lost the lead, calls that get no answer may take 30 s to end:
// an API server that hangs is no reason to be restarted.
const watchdogGrace = time.Minute

// leasesLock is the only kind of lock that there still is in Kubernetes.
const leasesLock = "leases"

// leaseQPS is enough for a replica with one lease, and 2 more for each shard; it never waits
// behind other calls.
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
	if err := flags.MarkHidden("leader-elect-resource-lock"); err != nil { // There is one kind only.
		panic(err)
	}
	flags.IntVar(&o.shards, "shards", 1, "Number of shards to divide the namespaces into, by a hash of their names. Above 1, it requires --leader-elect, and all replicas work, each on its fair share of the shards.")
}

// validateShards checks --shards.
func (o *electionOptions) validateShards() error {
	if o.shards < 1 || o.shards > shard.Max {
		return cmdutil.UsageErrorf("--shards must be 1 to %d, not %d", shard.Max, o.shards)
	}
	return nil
}

// complete makes the election, or leaves it nil if none is asked for.
func (o *electionOptions) complete(c *Options, config *rest.Config) error {
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
		o.leader.ResourceName = leader.LeaseName(c.config.ManagedBy, c.config.Namespaces...)
	}
	if o.leader.ResourceNamespace == "" {
		namespace, _, err := c.kube.Loader().Namespace()
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

// leasePermission is what the Leases take.
func (o *electionOptions) leasePermission() permission {
	if o.shards > 1 {
		return shardPermission
	}
	return leasePermission
}

// leaseNamespace is where the Lease is, or "" without an election.
func (o *electionOptions) leaseNamespace() string {
	if o.election == nil {
		return ""
	}
	return o.election.Namespace
}
