package eventtext

import "testing"

func BenchmarkPatterns(b *testing.B) {
	pattern := Patterns("nightly-report")
	const message = `MountVolume.SetUp failed for volume "config" : configmap "nightly-report-config" not found: pod nightly-report-17-x7b2q_ml(5a0c7d3e-0b1f-4b7e-9d59-0a8c9b1d2e3f), retry in 1m30s, dial tcp 10.1.2.3:41234`
	for b.Loop() {
		pattern(message)
	}
}

// A webhook may write anything; the parsed refusal only contains text that it wrote (CLI-06).
func FuzzRefusalOf(f *testing.F) {
	f.Add(`Error creating: pods "a" is forbidden: exceeded quota: x, requested: pods=1`)
	f.Add(`(combined from similar events): Error creating: Internal error occurred: admission webhook "w" denied the request: $1`)
	f.Fuzz(func(t *testing.T, message string) {
		r := RefusalOf(message)
		if len(r.By)+len(r.Message) > len(message)*3 || r.Reason == "" {
			t.Errorf("%q: %+v", message, r)
		}
		if pattern := Patterns(message); len(pattern(message)) > len(message) {
			t.Errorf("%q is longer as %q", message, pattern(message))
		}
	})
}
