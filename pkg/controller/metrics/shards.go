package metrics

import (
	"strconv"
	"sync"

	"k8s.io/component-base/metrics"
)

// shards holds the shards that this process works on.
type shards struct {
	mu    sync.Mutex
	count int
	// pods holds functions that count the pods of each shard.
	pods  map[int]func() int
	taken *metrics.Counter
}

func newShards(r registrar) *shards {
	s := &shards{pods: map[int]func() int{}, taken: r.single("shards_taken_total",
		"How often this replica began to work on a shard.")}
	r.gauges("shard_held",
		"1 for each shard that this replica works on, 0 for the others. Without --shards there is no series.", "shard", s.held)
	r.gauges("shard_pods",
		"Pods of Jobs, and pods without a controller, in each shard that this replica works on.", "shard", s.podCounts)
	return s
}

func (s *shards) held() map[string]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(map[string]float64, s.count)
	for i := range s.count {
		held[strconv.Itoa(i)] = 0
		if s.pods[i] != nil {
			held[strconv.Itoa(i)] = 1
		}
	}
	return held
}

func (s *shards) podCounts() map[string]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := make(map[string]float64, len(s.pods))
	for i, pods := range s.pods {
		counts[strconv.Itoa(i)] = float64(pods())
	}
	return counts
}

// SetShards sets the total number of shards.
func (m *Metrics) SetShards(count int) {
	m.shards.mu.Lock()
	defer m.shards.mu.Unlock()
	m.shards.count = count
}

// ShardTaken records that this process works on a shard until released is called. pods counts the pods of the shard.
func (m *Metrics) ShardTaken(shard int, pods func() int) (released func()) {
	m.shards.taken.Inc()
	m.shards.mu.Lock()
	defer m.shards.mu.Unlock()
	m.shards.pods[shard] = pods
	return func() {
		m.shards.mu.Lock()
		defer m.shards.mu.Unlock()
		delete(m.shards.pods, shard)
	}
}
