package fidelity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// releaseDifference is a difference between releases and the virtual API server, which follows the newest release.
type releaseDifference struct {
	name, reason string
	// before is the first minor release without the difference, or noRelease.
	before int
	// calls show the difference.
	calls string
	// is reports whether a difference found after a call is this one.
	is func(c call, found difference) bool
}

// noRelease is later than all releases.
const noRelease = math.MaxInt

var releaseDifferences = []releaseDifference{
	{
		name:   "panic",
		reason: "the API server panics when it validates a success policy of an Indexed Job without completions",
		before: noRelease,
		calls:  "create job0 mode=Indexed parallelism=1 success=indexes:0-1",
		is: func(_ call, found difference) bool {
			return strings.Contains(found.actual, "INTERNAL_ERROR") && strings.Contains(found.virtual, "FieldValueRequired spec.completions")
		},
	},
	{
		name:   "labels of the template",
		reason: "before 1.37, an update was validated as a creation, too: labels that the API server added could not be changed",
		before: 37,
		calls:  "create job0 suspend=true\nedit job0 templateLabel=job-name:x",
		is: func(c call, found difference) bool {
			return c.verb == "edit" && strings.Contains(found.actual, "spec.template.metadata.labels")
		},
	},
	{
		name:   "startTime",
		reason: "before 1.36, a changed startTime was reported as a missing one",
		before: 36,
		calls:  "create job0\nstatus job0 start=t10\nstatus job0 start=t11",
		is: func(_ call, found difference) bool {
			return slices.Equal(causes(strings.Replace(found.virtual, "FieldValueInvalid status.startTime", "FieldValueRequired status.startTime", 1)), causes(found.actual))
		},
	},
	{
		name:   "template of a suspended Job",
		reason: "before 1.36, resources could not change (MutablePodResourcesForSuspendedJobs), and scheduling only until the first start",
		before: 36,
		calls:  "create job0 suspend=true\nedit job0 image=other",
		is: func(c call, found difference) bool {
			return c.verb == "edit" && hasCause(found.virtual, "spec.template") != hasCause(found.actual, "spec.template")
		},
	},
}

func causes(answer string) []string {
	return slices.Compact(slices.Sorted(slices.Values(strings.Split(answer, ", "))))
}

// hasCause reports whether an answer has a cause about exactly this field.
func hasCause(answer, field string) bool {
	return slices.ContainsFunc(causes(answer), func(cause string) bool { return strings.HasSuffix(cause, " "+field) })
}

// knownDifference returns the listed difference that was found, if this release has it, or nil.
func knownDifference(calls []call, found difference) *releaseDifference {
	for i := range releaseDifferences {
		d := &releaseDifferences[i]
		if minor < d.before && found.at < len(calls) && d.is(calls[found.at], found) {
			return d
		}
	}
	return nil
}

// Each listed difference exists in exactly the releases for which it is listed.
// Requirements: FID-05
func TestReleaseDifferencesStillExist(t *testing.T) {
	l := realLane(t.Context())
	for _, d := range releaseDifferences {
		calls, err := parseCalls(d.calls)
		assert.NoError(t, err)
		found, err := l.compare(calls)
		assert.NoError(t, err)
		known := knownDifference(calls, found)
		if minor < d.before && (known == nil || known.name != d.name) {
			t.Errorf("%s: 1.%d does not differ as listed (%s):\n%s%s", d.name, minor, d.reason, d.calls, strings.Join(found.lines, "\n"))
		}
		if minor >= d.before && len(found.lines) > 0 {
			t.Errorf("%s: 1.%d differs, too:\n%s%s", d.name, minor, d.calls, strings.Join(found.lines, "\n"))
		}
	}
}
