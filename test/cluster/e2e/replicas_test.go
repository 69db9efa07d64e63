package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
)

// replica is one of several controllers, with its identity in the Lease.
type replica struct {
	*testcluster.Process
	identity string
}

// leaseDuration is long enough that a leader on a busy machine does not lose its Lease.
const leaseDuration = 8 * time.Second

var leaseArgs = []string{"--leader-elect", "--leader-elect-lease-duration", leaseDuration.String(), "--leader-elect-renew-deadline=5s", "--leader-elect-retry-period=500ms"}

// startReplica runs a controller of the namespace's Jobs that works while it leads, and waits until it is ready, as
// leader or standby.
func startReplica(t *testing.T, ns string) replica {
	t.Helper()
	r := replica{Process: startController(t, append([]string{
		"--namespaces", ns, "--managed-by", ownManager(ns),
		"--leader-elect-resource-namespace", testcluster.SystemNamespace, "--leader-elect-resource-name", ns,
	}, leaseArgs...)...)}
	for _, path := range []string{"/healthz", "/readyz"} {
		eventually(t, path, func(context.Context) (bool, error) {
			code, _ := testcluster.Fetch(t, r.URL(t, "Health probes")+path)
			return code == http.StatusOK, nil
		})
	}
	code, body := testcluster.Fetch(t, r.URL(t, "Metrics")+"/configz")
	var config struct{ LeaderElection struct{ Identity string } }
	if err := json.Unmarshal([]byte(body), &config); err != nil || code != http.StatusOK || config.LeaderElection.Identity == "" {
		t.Fatalf("/configz: %d, %v: %s", code, err, body)
	}
	r.identity = config.LeaderElection.Identity
	return r
}

func holder(ctx context.Context, ns string) string {
	lease, err := client.CoordinationV1().Leases(testcluster.SystemNamespace).Get(ctx, ns, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

func untilHeld(t *testing.T, ns, by string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the Lease to be held by %q", by), func(ctx context.Context) (bool, error) { return holder(ctx, ns) == by, nil })
}

// wantMaster checks the election metric.
func (r replica) wantMaster(t *testing.T, ns string, leads bool) {
	t.Helper()
	want := fmt.Sprintf("leader_election_master_status{name=%q} 0\n", ns)
	if leads {
		want = strings.Replace(want, " 0\n", " 1\n", 1)
	}
	eventually(t, want, func(context.Context) (bool, error) {
		_, body := testcluster.Fetch(t, r.URL(t, "Metrics")+"/metrics")
		return strings.Contains(body, want), nil
	})
}

// The leader of two controllers is killed again and again while Jobs run: the other one continues, and nothing is lost
// or counted twice. A leader that gets SIGTERM releases the Lease.
// Requirements: JOB-56, TRK-03
func TestKilledLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	ns := namespace(t)
	leader := startReplica(t, ns)
	untilHeld(t, ns, leader.identity)
	standby := startReplica(t, ns)
	leader.wantMaster(t, ns, true)
	standby.wantMaster(t, ns, false)
	apply(t, ns, "indexed-10.yaml", managedBy(ns))
	apply(t, ns, "index-3-retries.yaml", managedBy(ns))
	var longest time.Duration
	for n := range 3 {
		eventually(t, "progress", func(ctx context.Context) (bool, error) {
			job, err := client.BatchV1().Jobs(ns).Get(ctx, "indexed-ten", metav1.GetOptions{})
			return err == nil && int(job.Status.Succeeded+job.Status.Active) > n, err
		})
		killed := time.Now()
		leader.Kill()
		untilHeld(t, ns, standby.identity)
		longest = max(longest, time.Since(killed))
		leader, standby = standby, startReplica(t, ns)
	}
	t.Logf("the longest fail-over took %v, with a lease of %v", longest, leaseDuration)
	if job, reason := finished(t, ns, "indexed-ten"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 10 || job.Status.Failed != 0 {
		t.Errorf("indexed-ten: %s %+v", reason, job.Status)
	}
	if job, reason := finished(t, ns, "index-three-retries"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 5 || job.Status.Failed != 2 {
		t.Errorf("index-three-retries: %s %+v", reason, job.Status)
	}
	noFinalizers(t, ns, "indexed-ten")
	noFinalizers(t, ns, "index-three-retries")

	if code := stop(t, standby.Process); code != 0 || holder(t.Context(), ns) != leader.identity {
		t.Errorf("SIGTERM ends a standby with %d, and the Lease is held by %q", code, holder(t.Context(), ns))
	}
	if code := stop(t, leader.Process); code != 0 || holder(t.Context(), ns) != "" {
		t.Errorf("SIGTERM ends a leader with %d, and the Lease is held by %q", code, holder(t.Context(), ns))
	}
}

// failToStart runs a controller that should end immediately.
func failToStart(t *testing.T, args ...string) command.Result {
	t.Helper()
	r := kubectlBatchjob(t, append([]string{"controller", "--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0"}, args...)...)
	if r.Code == 0 {
		t.Errorf("the controller ends with 0, %s", r.ErrOut)
	}
	return r
}
