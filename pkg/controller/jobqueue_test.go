package controller

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// Ending Jobs come first, each once, including Jobs that began to end while they waited.
func TestJobsThatEndComeFirst_SCL_17(t *testing.T) {
	ending := map[types.UID]bool{"c": true}
	config := Config{}
	config.setDefaults()
	queue := newJobQueue(config, func(job types.UID) bool { return ending[job] })
	defer queue.ShutDown()
	for _, job := range []types.UID{"a", "b", "c", "d", "e", "c"} {
		queue.Add(job)
	}
	ending["d"] = true
	for _, job := range []types.UID{"d", "b", "d"} {
		queue.Add(job)
	}
	var order []types.UID
	for queue.Len() > 0 && len(order) < 10 {
		job, _ := queue.Get()
		order = append(order, job)
		if job == "a" && !ending["a"] {
			ending["a"] = true
			queue.Add("a") // The Job is being synced: another sync follows.
		}
		queue.Done(job)
	}
	if want := []types.UID{"c", "d", "a", "a", "b", "e"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}
