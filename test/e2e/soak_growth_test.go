//go:build soak

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// size is how large a controller is when it has nothing to do.
type size struct{ goroutines, alloc, inuse, resident float64 }

// What may be more at the end than at the beginning, and is no growth: a connection, and
// memory that lies between two collections.
const (
	moreGoroutines = 5
	moreHeap       = 1.2
	moreBytes      = 5 << 20
)

func (z size) wantNoMoreThan(t *testing.T, before size) {
	if z.goroutines > before.goroutines+moreGoroutines {
		t.Errorf("the controller had %g goroutines, and has %g", before.goroutines, z.goroutines)
	}
	for what, heap := range map[string][2]float64{"allocated": {before.alloc, z.alloc}, "in use": {before.inuse, z.inuse}} {
		if heap[1] > heap[0]*moreHeap+moreBytes {
			t.Errorf("the heap %s was %.1f MB, and is %.1f MB", what, heap[0]/1e6, heap[1]/1e6)
		}
	}
}

func (z size) String() string {
	return fmt.Sprintf("%g goroutines, heap %.1f MB, %.1f MB in use, resident %.1f MB", z.goroutines, z.alloc/1e6, z.inuse/1e6, z.resident/1e6)
}

// measure waits until the controller that is never killed has been idle for a while, and
// has collected its garbage several times since, and returns the least that it needed.
// The reading itself makes the garbage that is collected.
func (s *soak) measure(when string) size {
	<-time.After(quiet)
	least, first := s.size(), s.steady.metric(s.t, "go_gc_duration_seconds_count")
	deadline := time.Now().Add(5 * time.Minute)
	for s.steady.metric(s.t, "go_gc_duration_seconds_count") < first+4 {
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
	m := s.steady.metrics(s.t)
	return size{m["go_goroutines"], m["go_memstats_heap_alloc_bytes"], m["go_memstats_heap_inuse_bytes"], m["process_resident_memory_bytes"]}
}

// metrics reads what a controller serves, summed over labels.
func (p *process) metrics(t *testing.T) map[string]float64 {
	code, text := fetch(t, p.url(t, "Metrics")+"/metrics")
	if code != http.StatusOK {
		t.Errorf("reading metrics: %d %s", code, text)
		return nil
	}
	sums := map[string]float64{}
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.Fields(line)[0], "{")
		value := 0.0
		if _, err := fmt.Sscanf(line[strings.LastIndex(strings.TrimSpace(line), " "):], "%g", &value); err == nil {
			sums[name] += value
		}
	}
	return sums
}

func (p *process) metric(t *testing.T, name string) float64 { return p.metrics(t)[name] }
