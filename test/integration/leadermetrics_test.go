package integration

import "testing"

// A process that has lost the lead knows nothing anymore of pods that wait to be counted:
// its metric must not grow forever while another one counts them.
func TestLostLeadForgetsUncountedPods_JOB_56(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	m := f.newMeter()
	first := f.startReplica("first", shortLease, m.counts)
	f.untilLeading(first)
	stuck := first.wire.reject(podPatch, 500)
	f.create(newJob(completions(1)))
	f.kubelet.succeed(f.untilActive(1)...)
	f.until("a pod waits to be counted", func() bool { return m.gauge("oldest_uncounted_pod_age_seconds") > 0 })
	first.lease.severed.Store(true)
	f.until("the lead is lost", func() bool { return !first.isWorking() })
	stuck.lift()
	next := f.startReplica("second", shortLease)
	f.untilLeading(next)
	f.untilComplete("a", 1, 0)
	if age := m.gauge("oldest_uncounted_pod_age_seconds"); age != 0 {
		t.Errorf("a pod is said to wait since %v s", age)
	}
}
