package shard

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/sharding"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Every namespace is in exactly one shard, the shard that the API server computes.
// Requirements: SHD-01
func TestNamespaceIsInOneShard(t *testing.T) {
	for count := range Max + 1 {
		for n := range 40 {
			namespace, in := fmt.Sprintf("%d-team", n), 0
			for i := range max(count, 1) {
				r := Of(i, count)
				if r.Contains(namespace) {
					in++
				}
				if got := matches(t, r, namespace); got != r.Contains(namespace) {
					t.Fatalf("shard %d of %d, namespace %s: the API server says %v", i, count, namespace, got)
				}
			}
			if in != 1 {
				t.Fatalf("%s is in %d of %d shards", namespace, in, count)
			}
		}
	}
}

var selectorFormat = regexp.MustCompile(`^shardRange\((object\.metadata\.namespace), '(0x[0-9a-f]{16})', '(0x[0-9a-f]{16,17})'\)$`)

// matches evaluates the selector of a shard as kube-apiserver does.
func matches(t *testing.T, r Range, namespace string) bool {
	t.Helper()
	if r.IsWhole() {
		return r.Selector() == ""
	}
	parts := selectorFormat.FindStringSubmatch(r.Selector())
	if parts == nil {
		t.Fatalf("the selector is %q", r.Selector())
	}
	s := sharding.NewSelector(sharding.ShardRangeRequirement{Key: parts[1], Start: parts[2], End: parts[3]})
	matches, err := s.Matches(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}})
	assert.NoError(t, err)
	return matches
}

// The claim of docs/scaling.md about names: the last two characters hardly matter.
// Requirements: SHD-01
func TestNamesThatDifferAtTheEndShareAShard(t *testing.T) {
	for format, spread := range map[string]bool{"team-%02d": false, "%02d-team": true, "team-%02d-prod": true} {
		var sizes [6]int
		for n := range 100 {
			for i := range sizes {
				if Of(i, len(sizes)).Contains(fmt.Sprintf(format, n)) {
					sizes[i]++
				}
			}
		}
		if slices.Min(sizes[:]) > 8 != spread || slices.Max(sizes[:]) == 100 == spread {
			t.Errorf("%s: %v", format, sizes)
		}
	}
}
