package history

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Watch events of Jobs and pods, including deletions, become versions (STV-25); other events are errors.
func TestEventsBecomeVersions(t *testing.T) {
	t.Parallel()
	seen := time.Unix(7, 0)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "12"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "18446744073709551615"}}
	for what, c := range map[string]struct {
		event watch.Event
		want  Version
		fails bool
	}{
		"a Job":           {watch.Event{Type: watch.Added, Object: job}, Version{Revision: 12, Seen: seen, Job: job}, false},
		"the end of one":  {watch.Event{Type: watch.Deleted, Object: job}, Version{Revision: 12, Seen: seen, Job: job, Gone: true}, false},
		"a pod":           {watch.Event{Type: watch.Modified, Object: pod}, Version{Revision: 18446744073709551615, Seen: seen, Pod: pod}, false},
		"an error":        {watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "too old"}}, Version{}, true},
		"something else":  {watch.Event{Type: watch.Added, Object: &corev1.Node{}}, Version{}, true},
		"without version": {watch.Event{Type: watch.Added, Object: runtime.Object(&batchv1.Job{})}, Version{}, true},
	} {
		got, err := FromEvent(c.event, seen)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
}

// Versions are sorted by number, and the input is unchanged.
func TestVersionsAreSortedByNumber(t *testing.T) {
	t.Parallel()
	given := []Version{{Revision: 10}, {Revision: 9}, {Revision: 100}}
	got := Sorted(given)
	if got[0].Revision != 9 || got[1].Revision != 10 || got[2].Revision != 100 || given[0].Revision != 10 {
		t.Errorf("%v of %v", got, given)
	}
}
