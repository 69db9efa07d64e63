package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// eventsOf returns the events of a timeline.
func eventsOf(r explain.Report) []explain.Moment {
	return slices.DeleteFunc(slices.Clone(r.Timeline), func(m explain.Moment) bool { return m.Kind != explain.MomentEvent })
}

// Messages that differ only in a port, a pod name, or a time are one entry, with all their events (CLI-04).
func TestMessagesThatDifferOnlyInNamesAreOneEntry(t *testing.T) {
	for name, tc := range map[string]struct {
		messages []string
		want     int
	}{
		"pods":                  {[]string{`Error creating: pods "train-x7b2q" is forbidden: exceeded quota: a`, `Error creating: pods "train-zz9lm" is forbidden: exceeded quota: a`, `(combined from similar events): Error creating: pods "train-4c8fw" is forbidden: exceeded quota: a`}, 1},
		"pods of indexes":       {[]string{`Error creating: pods "train-0-x7b2q" is forbidden: no`, `Error creating: pods "train-17-zz9lm" is forbidden: no`}, 1},
		"other quotas":          {[]string{`Error creating: pods "train-x7b2q" is forbidden: exceeded quota: a`, `Error creating: pods "train-x7b2q" is forbidden: exceeded quota: b`}, 2},
		"back-off":              {[]string{"Back-off 10s restarting failed container=main pod=train-x7b2q_ns(5a0c7d3e-0b1f-4b7e-9d59-0a8c9b1d2e3f)", "Back-off 5m0s restarting failed container=main pod=train-zz9lm_ns(6b1d8e4f-1c2a-4c8f-8e60-1b9d0c2e3f40)"}, 1},
		"other containers":      {[]string{"Back-off 10s restarting failed container=main", "Back-off 10s restarting failed container=side"}, 2},
		"ports":                 {[]string{"dial udp 10.1.2.3:41234->10.96.0.10:53: i/o timeout", "dial udp 10.1.2.3:52345->10.96.0.10:53: i/o timeout"}, 1},
		"ports of IPv6 and URL": {[]string{`Post "https://[fd00::1]:8443/x": dial tcp [fd00::1]:8443`, `Post "https://[fd00::1]:9443/x": dial tcp [fd00::1]:9443`, `Post "https://[fd00::1]:7443/x": dial tcp [fd00::1]:7443`}, 1},
		"hosts":                 {[]string{`Post "https://a.ns.svc:443/x": EOF`, `Post "https://b.ns.svc:443/x": EOF`}, 2},
		"addresses":             {[]string{"dial tcp 10.1.2.3:80", "dial tcp 10.1.2.4:80"}, 2},
		"moments":               {[]string{"expired at 2026-03-01T11:00:00Z", "expired at 2026-03-01T12:30:45.123+01:00"}, 1},
		"durations":             {[]string{"timed out after 1m30s", "timed out after 250ms", "timed out after 1.5s"}, 1},
		"amounts":               {[]string{"maximum cpu usage per Pod is 500m, but limit is 2", "maximum cpu usage per Pod is 600m, but limit is 2"}, 2},
		"exit codes and tags":   {[]string{"image app:1 exited with 1", "image app:2 exited with 1", "image app:1 exited with 2"}, 3},
		"other objects":         {[]string{`configmap "train-config" not found`, `configmap "train-hosts" not found`, `configmap "train-00007" not found`}, 3},
	} {
		f := explaintest.InputOf(explaintest.JobWith(nil))
		for i, message := range tc.messages {
			f.Events = append(f.Events, explaintest.JobEvent("FailedThing", message, int32(i+1), time.Duration(20-i)*time.Minute))
		}
		got := eventsOf(explaintest.Report(f))
		n := int32(len(tc.messages))
		if len(got) != tc.want || tc.want == 1 && (got[0].Count != n*(n+1)/2 || !got[0].Similar || !got[0].Time.Time.Equal(explaintest.Noon.Add(-21*time.Minute)) || !got[0].Until.Time.Equal(explaintest.Noon.Add(-time.Duration(21-n)*time.Minute))) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// For any messages, folding loses no event and no moment (CLI-04).
func TestFoldingLosesNoEvent(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"train-x7b2q", "train-3-zz9lm", "10.0.0.1:53", "[::1]:80", "5m0s", "2026-03-01T11:00:00Z", `pods "`, "\x1b[31m", "\u202e", "\n", "…", "%s", "$1", "a"}), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom([]string{"train", "a.b", strings.Repeat("long-", 12) + "x"}).Draw(rt, "job")
		f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Name = name }))
		total, first, last := int32(0), explaintest.Noon, time.Time{}
		for i := range rapid.IntRange(1, 30).Draw(rt, "events") {
			message := strings.Join(rapid.SliceOfN(part, 0, 4).Draw(rt, "message"), " ")
			e := explaintest.JobEvent("FailedThing", message, rapid.Int32Range(0, 5).Draw(rt, "count"), time.Duration(rapid.IntRange(0, 50).Draw(rt, "ago"))*time.Minute)
			if rapid.Bool().Draw(rt, "of a pod") {
				e.Pod = fmt.Sprintf("%s-%d", name, i)
			}
			f.Events = append(f.Events, e)
			total += max(e.Count, 1)
			if e.First.Before(first) {
				first = e.First
			}
			if e.Last.After(last) {
				last = e.Last
			}
		}
		r := explaintest.Report(f)
		var count int32
		from, until := explaintest.Noon, time.Time{}
		for _, m := range eventsOf(r) {
			count += m.Count
			if m.Time.Time.Before(from) {
				from = m.Time.Time
			}
			if m.Until.After(until) {
				until = m.Until.Time
			}
			if !slices.ContainsFunc(f.Events, func(e input.Event) bool { return e.Message == m.Message }) {
				rt.Errorf("nobody wrote %q", m.Message)
			}
		}
		if count != total || !from.Equal(first) || !until.Equal(last) {
			rt.Fatalf("%d of %d events, from %v to %v: %+v", count, total, first, last, r.Timeline)
		}
		slices.Reverse(f.Events)
		if again := explaintest.Report(f); fmt.Sprint(again.Timeline) != fmt.Sprint(r.Timeline) {
			rt.Fatalf("in another order:\n%+v\n%+v", again.Timeline, r.Timeline)
		}
	})
}

// CLI-06: the back-off starts with failed pods; when they no longer exist, its end is unknown.
func TestBackoffWithoutPodsHasNoEnd(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(func(j *batchv1.Job) { j.Status.Failed = 2 }))
	explaintest.WantText(t, explaintest.Report(f), "at most 10 minutes after the last failure")
	explaintest.WantWithout(t, explaintest.Report(f), "2 pods are created")
	f = explaintest.InputOf(explaintest.JobWith(nil))
	explaintest.WantText(t, explaintest.Report(f), "2 pods are created")
}

// CLI-03: a Job with a failed index cannot become complete, except by its successPolicy.
func TestFailedIndexDoomsTheJob(t *testing.T) {
	lost := func(j *batchv1.Job) { j.Status.FailedIndexes, j.Status.Failed = ptr.To("1"), 4 }
	r := explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(5, lost), explaintest.PodOf("a", explaintest.OnIndex(0, 1, nil))))
	explaintest.WantText(t, r, "it will eventually fail, because 1 index has failed", "the Job fails (FailedIndexes) once its other indexes have ended")
	r = explaintest.Report(explaintest.InputOf(explaintest.IndexedJob(5, func(j *batchv1.Job) {
		lost(j)
		j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
	}), explaintest.PodOf("a", explaintest.OnIndex(0, 1, nil))))
	explaintest.WantWithout(t, r, "will fail in the end", "FailedIndexes")
}

// The event about the preemption of a pod that no longer exists is its only trace.
// Requirements: CLI-04
func TestThePreemptionOfAGonePodIsAMoment(t *testing.T) {
	f := explaintest.InputOf(explaintest.JobWith(nil))
	f.Events = []input.Event{{Pod: "train-a", Reason: "Preempted", Source: "default-scheduler", Message: "Preempted by pod 0f3a on node n1", Count: 1, First: explaintest.Noon, Last: explaintest.Noon}}
	if got := eventsOf(explaintest.Report(f)); len(got) != 1 || got[0].Reason != "Preempted" {
		t.Errorf("%+v", got)
	}
}
