package meaning

import "testing"

func BenchmarkPatterns(b *testing.B) {
	pattern := Patterns("nightly-report")
	const message = `MountVolume.SetUp failed for volume "config" : configmap "nightly-report-config" not found: pod nightly-report-17-x7b2q_ml(5a0c7d3e-0b1f-4b7e-9d59-0a8c9b1d2e3f), retry in 1m30s, dial tcp 10.1.2.3:41234`
	for b.Loop() {
		pattern(message)
	}
}

func FuzzPatterns(f *testing.F) {
	f.Add(`(combined from similar events): 1.2.3.4:80 2h30m`)
	f.Fuzz(func(t *testing.T, message string) {
		if pattern := Patterns(message); len(pattern(message)) > len(message) {
			t.Errorf("%q is longer as %q", message, pattern(message))
		}
	})
}
