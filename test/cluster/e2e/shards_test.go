package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

const shards = 6

// sharers are replicas that share the Jobs of all namespaces. Their Leases are in the first one.
type sharers struct {
	t          *testing.T
	namespaces []string
	user       string
}

// newSharers creates namespaces, and an account with the permissions of a Deployment with --shards.
func newSharers(t *testing.T, namespaces int) *sharers {
	t.Helper()
	s := &sharers{t: t}
	for range namespaces {
		s.namespaces = append(s.namespaces, namespace(t))
	}
	first := s.namespaces[0]
	s.user = "system:serviceaccount:" + first + ":sharer"
	account := tenant.Account(first, "sharer")
	leases := tenant.Allow("coordination.k8s.io", "leases", "get", "list", "create", "update", "delete")
	assert.NoError(t, tenant.Grant(t.Context(), client, first, "sharer", account, leases))
	everywhere := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "sharer-" + first}, Subjects: []rbacv1.Subject{account},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: testcluster.SystemAccount},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(t.Context(), everywhere, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.RbacV1().ClusterRoleBindings().Delete(context.Background(), everywhere.Name, metav1.DeleteOptions{})
	})
	untilAllowed(t, first, s.user, testcluster.Permission{Verb: "delete", Group: "coordination.k8s.io", Resource: "leases", Namespace: first}, true)
	untilAllowed(t, "", s.user, testcluster.Permission{Verb: "list", Resource: "pods"}, true)
	return s
}

func (s *sharers) start() *testcluster.Process {
	s.t.Helper()
	return startController(s.t, append([]string{
		"--kubeconfig", kubeconfig, "--as", s.user, "--as-group", "system:serviceaccounts",
		"--managed-by", ownManager(s.namespaces[0]), "--shards", fmt.Sprint(shards), "--leader-elect-resource-namespace", s.namespaces[0],
	}, leaseArgs...)...)
}

// leases returns the number of shards that each replica holds, and the number of replicas with a Lease.
func (s *sharers) leases(ctx context.Context) (shares map[string]int, replicas int, err error) {
	list, err := client.CoordinationV1().Leases(s.namespaces[0]).List(ctx, metav1.ListOptions{LabelSelector: "batchjob.dev/leases"})
	if err != nil {
		return nil, 0, err
	}
	shares = map[string]int{}
	for i := range list.Items {
		if l := &list.Items[i]; l.Labels["batchjob.dev/shard"] == "" {
			replicas++
		} else {
			shares[ptr.Deref(l.Spec.HolderIdentity, "")]++
		}
	}
	return shares, replicas, nil
}

func (s *sharers) untilShares(want ...int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("the shares %v", want), func(ctx context.Context) (bool, error) {
		shares, replicas, err := s.leases(ctx)
		return err == nil && replicas == len(want) && shares[""] == 0 && slices.Equal(slices.Sorted(maps.Values(shares)), want), nil
	})
}

// Three replicas share six shards. One of them is killed while Jobs run in several namespaces: the others take over its
// shards, a new replica gets its share, and nothing is lost or counted twice. The API server of this cluster does not
// filter by shard.
// Requirements: SHD-02, SHD-04, SHD-06, TRK-03
func TestKilledReplicaOfThree(t *testing.T) {
	t.Parallel()
	s := newSharers(t, 4)
	first := s.start()
	s.untilShares(6)
	second, third := s.start(), s.start()
	s.untilShares(2, 2, 2)
	own := managedBy(s.namespaces[0])
	for _, ns := range s.namespaces {
		apply(t, ns, "indexed-10.yaml", own)
		apply(t, ns, "index-3-retries.yaml", own)
	}
	eventually(t, "progress", func(ctx context.Context) (bool, error) {
		job, err := client.BatchV1().Jobs(s.namespaces[3]).Get(ctx, "indexed-ten", metav1.GetOptions{})
		return err == nil && job.Status.Succeeded+job.Status.Active > 0, err
	})
	killed := time.Now()
	first.Kill()
	s.untilShares(3, 3)
	t.Logf("taken over after %v, with a lease of %v", time.Since(killed), leaseDuration)
	fourth := s.start()
	s.untilShares(2, 2, 2)
	for _, ns := range s.namespaces {
		if job, reason := finished(t, ns, "indexed-ten"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 10 || job.Status.Failed != 0 {
			t.Errorf("indexed-ten: %s %+v", reason, job.Status)
		}
		if job, reason := finished(t, ns, "index-three-retries"); reason != "Complete/CompletionsReached" || job.Status.Succeeded != 5 || job.Status.Failed != 2 {
			t.Errorf("index-three-retries: %s %+v", reason, job.Status)
		}
		noFinalizers(t, ns, "indexed-ten")
		noFinalizers(t, ns, "index-three-retries")
		var r explain.Report
		if err := json.Unmarshal([]byte(explainFailure(t, ns, "indexed-ten", "-o", "json")), &r); err != nil || r.Reconciler.Sign != explain.SignLeaseHeld {
			t.Errorf("the Lease of the shard of %s is not found: %v, %+v", ns, err, r.Reconciler)
		}
	}
	held := 0
	for _, p := range []*testcluster.Process{second, third, fourth} {
		_, body := testcluster.Fetch(t, p.URL(t, "Metrics")+"/metrics")
		for line := range strings.Lines(body) {
			if strings.HasPrefix(line, "job_controller_shard_held{") && strings.HasSuffix(line, " 1\n") {
				held++
			}
		}
	}
	assert.Equal(t, held, shards, "the metrics say that")
	for _, p := range []*testcluster.Process{second, third, fourth} {
		assert.Equal(t, stop(t, p), 0, "SIGTERM ends a replica with")
		assert.Equal(t, strings.Count(p.Stderr.String(), "The API server does not filter by shard"), 1, "a replica says")
	}
	if shares, replicas, err := s.leases(t.Context()); err != nil || replicas != 0 || shares[""] != shards {
		t.Errorf("%d replicas are left, and the shares are %v, %v", replicas, shares, err)
	}
}
