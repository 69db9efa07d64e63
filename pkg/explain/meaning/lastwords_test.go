package meaning

import (
	"strings"
	"testing"
)

// The end of an error is its cause, and the beginning of a report with several sentences is its subject.
func TestGistKeepsWhatIsMostSpecific(t *testing.T) {
	long := strings.Repeat("x", 90)
	for message, want := range map[string]string{
		"short. Enough.": "short. Enough",
		"failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: no cgroup: unknown": "no cgroup",
		"The node was low on resource: memory. Threshold quantity: 100Mi, available: 92140Ki. Container etl was using 9421Mi, request is 1Gi":                                "The node was low on resource: memory. Threshold quantity: 100Mi, available: 92140Ki",
		"calling " + long + ": Get \"http://a: b\": refused":        `Get "http://a: b": refused`,
		"container cannot run (pod: " + long + ", container: main)": "container cannot run (pod:…",
		"calling " + long + ": wrong (a: b":                         "wrong (a: b",
	} {
		if got := Gist(message, 100); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", message, got, want)
		}
	}
}

func FuzzGist(f *testing.F) {
	f.Add(`rpc error: code = Unknown desc = a: "b: c" (d: e`)
	f.Fuzz(func(t *testing.T, message string) {
		if got := []rune(Gist(message, 100)); len(got) > 101 {
			t.Errorf("%q: %d characters", message, len(got))
		}
	})
}
