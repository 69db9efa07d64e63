package troubles

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A shard has no holder from the release or expiry of its Lease until a replica acquires it (SOK-02).
func TestShardsWithoutHolder(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	lease := func(version, holder string) coordinationv1.Lease {
		l := coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: "a", ResourceVersion: version}}
		l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = ptr.To(holder), ptr.To[int32](3)
		return l
	}
	type look struct {
		ms              int
		version, holder string
	}
	for what, c := range map[string]struct {
		looks   []look
		longest time.Duration
		held    int
	}{
		"renewed in time":     {[]look{{0, "1", "x"}, {2900, "2", "x"}, {5800, "3", "x"}}, 0, 1},
		"released and taken":  {[]look{{0, "1", "x"}, {100, "2", ""}, {900, "2", ""}, {1000, "3", "y"}}, 800 * time.Millisecond, 1},
		"released for good":   {[]look{{0, "1", ""}, {7000, "1", ""}}, 7 * time.Second, 0},
		"expired and taken":   {[]look{{0, "1", "x"}, {3500, "1", "x"}, {4000, "2", "y"}}, 500 * time.Millisecond, 1},
		"expired and renewed": {[]look{{0, "1", "x"}, {4000, "1", "x"}, {4100, "2", "x"}, {7000, "2", "x"}}, time.Second, 1},
		"expired for good":    {[]look{{0, "1", "x"}, {4000, "1", "x"}, {9000, "1", "x"}}, 6 * time.Second, 0},
	} {
		h := NewHolders()
		for _, l := range c.looks {
			h.Observe(at(l.ms), []coordinationv1.Lease{lease(l.version, l.holder)}, false)
		}
		if h.Longest() != c.longest || h.Held() != c.held {
			t.Errorf("%s: free for %v at most, %d held now, want %v and %d", what, h.Longest(), h.Held(), c.longest, c.held)
		}
	}
}

// During an outage and its consequences, the time without a holder does not count.
// Requirements: SOK-02
func TestOutagesAreNotCounted(t *testing.T) {
	t.Parallel()
	h, l := NewHolders(), coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{UID: "a", ResourceVersion: "1"}}
	l.Spec.HolderIdentity, l.Spec.LeaseDurationSeconds = ptr.To("x"), ptr.To[int32](3)
	h.Observe(time.Unix(1000, 0), []coordinationv1.Lease{l}, false)
	h.Observe(time.Unix(1060, 0), []coordinationv1.Lease{l}, true)
	if h.Longest() != 0 || h.Held() != 0 {
		t.Errorf("%v, %d held", h.Longest(), h.Held())
	}
	h.Observe(time.Unix(1070, 0), []coordinationv1.Lease{l}, false)
	assert.Equal(t, h.Longest(), 10*time.Second, "nobody came back, and that counts as")
}
