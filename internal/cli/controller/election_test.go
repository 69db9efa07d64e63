package controller

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// JOB-56: invalid election flags are usage errors, reported before any connection is made.
func TestWrongElectionFlagsAreWrongUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args     []string
		wantText []string
	}{
		"lease as short as the deadline": {[]string{"--leader-elect-lease-duration=10s"}, []string{"--leader-elect", "10s"}},
		"lease of less than a second":    {[]string{"--leader-elect-lease-duration=900ms", "--leader-elect-renew-deadline=500ms", "--leader-elect-retry-period=100ms"}, []string{"whole seconds", "900ms"}},
		"lease with half a second":       {[]string{"--leader-elect-lease-duration=15500ms"}, []string{"whole seconds", "15.5s"}},
		"deadline after one try":         {[]string{"--leader-elect-renew-deadline=2s"}, []string{"renew deadline", "retry period"}},
		"no retries":                     {[]string{"--leader-elect-retry-period=0s"}, []string{"retry period", "0s"}},
		"no duration":                    {[]string{"--leader-elect-lease-duration=soon"}, []string{"soon"}},
		"not a name":                     {[]string{"--leader-elect-resource-name=A b"}, []string{"lease name", `"A b"`}},
		"not a namespace":                {[]string{"--leader-elect-resource-namespace=A b"}, []string{"lease namespace", `"A b"`}},
		"another kind of lock":           {[]string{"--leader-elect-resource-lock=configmaps"}, []string{"leases", "configmaps"}},
		"no shards":                      {[]string{"--shards=0"}, []string{"--shards", "1 to 64", "0"}},
		"too many shards":                {[]string{"--shards=65"}, []string{"--shards", "1 to 64", "65"}},
		"shards without an election":     {[]string{"--shards=2", "--leader-elect=false"}, []string{"--shards", "--leader-elect"}},
	} {
		got := program.Run(t, clitest.NewAPI(t), append([]string{"controller", "--leader-elect"}, c.args...)...)
		got.Want(t, cmdutil.ExitUsage, "")
		for _, text := range append(c.wantText, "--help") {
			assert.Contains(t, got.ErrOut, text, name)
		}
	}
}

// completed returns the completed options for these flags.
func completed(t *testing.T, args ...string) *Options {
	t.Helper()
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))
	o := validated(t, args...)
	config := &rest.Config{Host: "127.0.0.1:1"}
	assert.NoError(t, o.completeElection(config))
	assert.NoError(t, o.completeServing(config))
	return o
}

// --shards divides the same election; one shard is the same as no shards.
// Requirements: SHD-07
func TestFlagsMakeTheShards(t *testing.T) {
	if o := completed(t, "--leader-elect", "--shards=1"); o.sharding != nil || o.runningConfig().Shards != 1 {
		t.Errorf("one shard is divided: %+v", o.sharding)
	}
	o := completed(t, "--leader-elect", "--shards=6", "--managed-by=example.com/jobs")
	if s := o.sharding; s.Shards != 6 || s.Name != leader.LeaseName("example.com/jobs") || s.Client == nil || s.Identity != o.election.Identity || o.runningConfig().Shards != 6 {
		t.Errorf("the shards are %+v", s)
	}
	if got := o.leaseRule(); !slices.Contains(got.Verbs, "list") || !slices.Contains(got.Verbs, "delete") {
		t.Errorf("the permissions are %v", got)
	}
}

// JOB-56: the flags determine the election; without --leader-elect there is none.
func TestFlagsMakeTheElection(t *testing.T) {
	if o := completed(t); o.election != nil || o.leaseNamespace() != "" {
		t.Errorf("an election without being asked for: %+v", o.election)
	}
	host, err := os.Hostname()
	assert.NoError(t, err)
	for name, c := range map[string]struct {
		args      []string
		namespace string
		name      string
		times     [3]time.Duration
	}{
		"defaults":      {nil, "ns1", leader.LeaseName(controller.DefaultManagedBy), [3]time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}},
		"own Jobs":      {[]string{"--managed-by=example.com/jobs"}, "ns1", leader.LeaseName("example.com/jobs"), [3]time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}},
		"one namespace": {[]string{"-n=ns2"}, "ns2", leader.LeaseName(controller.DefaultManagedBy, "ns2"), [3]time.Duration{15 * time.Second, 10 * time.Second, 2 * time.Second}},
		"own names and times": {[]string{
			"--leader-elect-resource-namespace=ns3", "--leader-elect-resource-name=mine",
			"--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms",
		}, "ns3", "mine", [3]time.Duration{3 * time.Second, 2 * time.Second, 500 * time.Millisecond}},
	} {
		o := completed(t, append([]string{"--leader-elect"}, c.args...)...)
		e := o.election
		if e.Namespace != c.namespace || e.Name != c.name || o.leaseNamespace() != c.namespace {
			t.Errorf("%s: the Lease is %s/%s", name, e.Namespace, e.Name)
		}
		assert.Equal(t, [3]time.Duration{e.LeaseDuration, e.RenewDeadline, e.RetryPeriod}, c.times, name)
		if e.Client == nil || e.Watchdog == nil || !strings.HasPrefix(e.Identity, host+"_") {
			t.Errorf("%s: %+v", name, e)
		}
		if other := completed(t, "--leader-elect").election.Identity; other == e.Identity {
			t.Errorf("%s: two processes are %s", name, other)
		}
	}
}
