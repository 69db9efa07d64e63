package leader

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Watchdog reports a leader as unhealthy that still holds its Lease although the Lease has expired.
type Watchdog struct {
	grace time.Duration
	mu    sync.Mutex
	lease *lease
}

// NewWatchdog returns a Watchdog that reports a leader whose Lease has been expired for longer than grace.
func NewWatchdog(grace time.Duration) *Watchdog { return &Watchdog{grace: grace} }

func (w *Watchdog) watch(l *lease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lease = l
}

// Check returns an error if the leader is stuck.
func (w *Watchdog) Check() error {
	w.mu.Lock()
	l := w.lease
	w.mu.Unlock()
	if l == nil || !l.isOurs() {
		return nil
	}
	if _, at := l.last(); l.clock.Since(at) > l.LeaseDuration+w.grace {
		return fmt.Errorf("the Lease %s has expired, and the work that it protects has not ended", l.Name)
	}
	return nil
}

// masterStatus has the name and help of the client-go metric, so that existing dashboards work.
var masterStatus = sync.OnceValue(func() *metrics.GaugeVec {
	gauge := metrics.NewGaugeVec(&metrics.GaugeOpts{
		Name:           "leader_election_master_status",
		StabilityLevel: metrics.ALPHA,
		Help:           "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
	}, []string{"name"})
	legacyregistry.MustRegister(gauge)
	return gauge
})
