package leader

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/shard"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// leasesFor returns the names of the Leases that Leases finds for a namespace, and the number of Leases that it selects
// for all controllers.
func (s *leaseServer) leasesFor(t *testing.T, managedBy, namespace string) (names []string, selected int) {
	t.Helper()
	selector, err := labels.Parse(Leases{}.Selector())
	assert.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, l := range s.leases {
		if !selector.Matches(labels.Set(l.Labels)) {
			continue
		}
		selected++
		if (Leases{}).IsFor(l, managedBy, namespace) {
			names = append(names, name)
		}
	}
	return names, selected
}

// A namespace has the Lease of its shard, and no other: no Leases of replicas or of other controllers.
// Requirements: CLI-06, SHD-01
func TestLeaseOfAShardIsFound(t *testing.T) {
	const managedBy = "example.com/jobs"
	for _, shards := range []int{1, 6} {
		synctest.Test(t, func(t *testing.T) {
			s := newLeaseServer()
			a := s.joinAs(LeaseName(managedBy), "a", shards, 0)
			other := s.joinAs(LeaseName("example.com/others"), "b", shards, 0)
			pass(time.Minute)
			for i := range 40 {
				namespace, of := fmt.Sprintf("%02d-team", i), 0
				for !shard.Of(of, shards).Contains(namespace) {
					of++
				}
				names, selected := s.leasesFor(t, managedBy, namespace)
				if want := a.leaseName(fmt.Sprint(of)); len(names) != 1 || names[0] != want || selected != 2*shards {
					t.Errorf("%s of %d shards: %q of %d Leases, want %s", namespace, shards, names, selected, want)
				}
			}
			a.stop(t)
			other.stop(t)
		})
	}
}

// A controller without shards has one Lease, which is found for all namespaces.
// Requirements: CLI-06
func TestLeaseOfTheLeaderIsFound(t *testing.T) {
	const managedBy = "example.com/jobs"
	synctest.Test(t, func(t *testing.T) {
		store := newLeaseStore()
		e := store.candidate("me")
		e.Name = LeaseName(managedBy)
		r := start(e, nil)
		l, err := store.CoordinationV1().Leases("ns").Get(t.Context(), e.Name, metav1.GetOptions{})
		assert.NoError(t, err)
		selector, err := labels.Parse(Leases{}.Selector())
		if err != nil || !selector.Matches(labels.Set(l.Labels)) || !(Leases{}).IsFor(l, managedBy, "ns1") || !(Leases{}).IsFor(l, managedBy, "00-team") {
			t.Errorf("not found: %v, %v", l.Labels, err)
		}
		r.end(t)
	})
}

// Labels written by other clients must not cause a panic.
// Requirements: CLI-06
func TestLabelsOfOthersAreForNoNamespace(t *testing.T) {
	for _, is := range [][2]string{{"6", "6"}, {"-1", "6"}, {"0", "0"}, {"0", "-1"}, {"x", "6"}, {"0", ""}, {"0", "65"}, {"", "1"}} {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			groupLabel: hashOf(LeaseName("example.com/jobs")), shardLabel: is[0], countLabel: is[1],
		}}}
		if (Leases{}).IsFor(l, "example.com/jobs", "ns1") {
			t.Errorf("shard %q of %q has a namespace", is[0], is[1])
		}
	}
}

// A controller that runs the Jobs of one namespace has a Lease of its own name.
// Requirements: CLI-06
func TestLeaseForOneNamespaceIsFound(t *testing.T) {
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Labels: leaseLabels(LeaseName("example.com/jobs", "ns1"), 1, "0")}}
	for _, is := range []struct {
		managedBy, namespace string
		want                 bool
	}{{"example.com/jobs", "ns1", true}, {"example.com/jobs", "ns2", false}, {"example.com/others", "ns1", false}} {
		assert.Equal(t, (Leases{}).IsFor(l, is.managedBy, is.namespace), is.want, is)
	}
}
