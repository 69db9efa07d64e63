package soak

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// size is the resource usage of an idle controller.
type size struct{ goroutines, alloc, inuse, resident float64 }

// Increases that are not growth: a connection, and memory allocated between two collections.
const (
	moreGoroutines = 5
	moreHeap       = 1.2
	moreBytes      = 5 << 20
)

// growth describes the controller's growth, or returns "".
func (z size) growth(before size) (text string) {
	if z.goroutines > before.goroutines+moreGoroutines {
		text += fmt.Sprintf("the controller had %g goroutines, and has %g; ", before.goroutines, z.goroutines)
	}
	if z.alloc > before.alloc*moreHeap+moreBytes || z.inuse > before.inuse*moreHeap+moreBytes {
		text += fmt.Sprintf("it was %v, and is %v", before, z)
	}
	return text
}

// keptFor is a little longer than the controller remembers deleted Jobs: their events, and that they were its own. It
// removes these records when it adds new ones, so they are not growth.
const keptFor = 11 * time.Minute

// noGrowth measures the controller, and if it has grown, measures again after its records of deleted Jobs have expired
// and it has processed a Job.
func (s *soak) noGrowth(before size) size {
	after := s.measure("the end")
	if after.growth(before) == "" {
		return after
	}
	s.say("is that what it remembers for a while? %v will tell", keptFor)
	<-time.After(keptFor)
	job := newJob("last-", "last")
	_, err := client.BatchV1().Jobs(s.current().name).Create(s.t.Context(), job, metav1.CreateOptions{})
	assert.NoError(s.t, err)
	s.finish()
	after = s.measure("the very end")
	assert.Equal(s.t, after.growth(before), "")
	return after
}

func (z size) String() string {
	return fmt.Sprintf("%g goroutines, heap %.1f MB, %.1f MB in use, resident %.1f MB", z.goroutines, z.alloc/1e6, z.inuse/1e6, z.resident/1e6)
}

// measure waits until the controller that is never killed has been idle for a while, and has since collected its garbage
// several times, and returns its smallest size. The reading itself produces the garbage.
func (s *soak) measure(when string) size {
	<-time.After(quiet)
	least, first := s.size(), metrics(s.t, s.steady)["go_gc_duration_seconds_count"]
	deadline := time.Now().Add(5 * time.Minute)
	for metrics(s.t, s.steady)["go_gc_duration_seconds_count"] < first+4 {
		z := s.size()
		least = size{min(least.goroutines, z.goroutines), min(least.alloc, z.alloc), min(least.inuse, z.inuse), min(least.resident, z.resident)}
		if time.Now().After(deadline) {
			s.t.Fatal("the controller collects no garbage")
		}
	}
	s.say("%s: %v", when, least)
	return least
}

func (s *soak) size() size {
	m := metrics(s.t, s.steady)
	return size{m["go_goroutines"], m["go_memstats_heap_alloc_bytes"], m["go_memstats_heap_inuse_bytes"], m["process_resident_memory_bytes"]}
}

// metrics returns a controller's metrics, summed over labels.
func metrics(t *testing.T, p *testcluster.Process) map[string]float64 {
	code, text := testcluster.Fetch(t, p.URL(t, "Metrics")+"/metrics")
	if code != http.StatusOK {
		t.Errorf("reading metrics: %d %s", code, text)
		return nil
	}
	sums := map[string]float64{}
	for series, value := range testcluster.Series(text) {
		name, _, _ := strings.Cut(series, "{")
		sums[name] += value
	}
	return sums
}
