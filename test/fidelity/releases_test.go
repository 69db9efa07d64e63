package fidelity

import (
	"strings"
	"testing"
)

// releaseDifference is where older releases differ from the newest, which the virtual API server follows.
type releaseDifference struct {
	name, reason string
	// before is the first minor release that does not differ.
	before int
	// calls show it.
	calls string
	// is reports whether a difference found after a call is this one.
	is func(c call, found difference) bool
}

var releaseDifferences = []releaseDifference{}

// knownDifference returns the one that was found, if the release has it, or nil.
func knownDifference(calls []call, found difference) *releaseDifference {
	for i := range releaseDifferences {
		d := &releaseDifferences[i]
		if minor < d.before && found.at < len(calls) && d.is(calls[found.at], found) {
			return d
		}
	}
	return nil
}

// Each listed difference exists in the releases that it is listed for, and in no other.
func TestReleaseDifferencesStillExist_FID_05(t *testing.T) {
	l := realLane(t.Context())
	for _, d := range releaseDifferences {
		calls, err := parseCalls(d.calls)
		if err != nil {
			t.Fatal(err)
		}
		found, err := l.compare(calls)
		if err != nil {
			t.Fatal(err)
		}
		known := knownDifference(calls, found)
		if minor < d.before && (known == nil || known.name != d.name) {
			t.Errorf("%s: 1.%d does not differ as listed (%s):\n%s%s", d.name, minor, d.reason, d.calls, strings.Join(found.lines, "\n"))
		}
		if minor >= d.before && len(found.lines) > 0 {
			t.Errorf("%s: 1.%d differs, too:\n%s%s", d.name, minor, d.calls, strings.Join(found.lines, "\n"))
		}
	}
}
