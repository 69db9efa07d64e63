package beside

import (
	"fmt"
	"testing"
)

// A seed always tells the same story, and stories have every action.
func TestSeedRepeatsAStory(t *testing.T) {
	t.Parallel()
	seen := map[action]int{}
	for seed := range uint64(500) {
		a, b := newStory(seed), newStory(seed)
		if fmt.Sprint(a.steps, a.runner, a.ownNode) != fmt.Sprint(b.steps, b.runner, b.ownNode) {
			t.Fatalf("seed %d: %v and %v", seed, a.steps, b.steps)
		}
		for _, s := range a.steps {
			seen[s.action]++
		}
	}
	for _, a := range []action{
		startPods, startPod, endPod, endAll, succeedAll, failAll, disruptPod, restartPod, deletePod, forceDelete, deleteAndEnd,
		evictPod, terminatePods, cleanPods, orphanPod, editJob, deleteJob, recreateJob, deleteNode, crash, handOver, setClock,
	} {
		if seen[a] == 0 {
			t.Errorf("no story has the step %q", a)
		}
	}
}
