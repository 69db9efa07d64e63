//go:build unix

package main

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"
)

// loadResults returns measurements of the parts huge, sizes, rate and reference.
func loadResults() results {
	huge := func(s side, seconds float64, status int) bulk {
		b := large(s, seconds, 100, status)
		b.CPU[procOurs], b.Peak[procOurs] = 10, 120e6
		return b
	}
	limited := func(s side, qps, pods int, seconds float64, deleting syncTimes) rate {
		return rate{
			Side: s, QPS: qps, Pods: pods, Seconds: seconds, Sync: syncTimes{ptr.To(1.5), ptr.To(0.0)}, Deleting: deleting,
			counts: requestCounts{
				{Verb: "POST", Resource: "pods"}: pods, {Verb: "PATCH", Resource: "pods"}: pods, {Verb: "POST", Resource: "jobs"}: 50,
				{Verb: "PUT", Resource: "jobs", Subresource: "status"}: pods / 5,
			},
		}
	}
	return results{
		Machine: "A machine", HugePods: 100,
		Huge:  bulks{huge(ours, 2.06, 0), huge(builtIn, 3, 2), huge(floor, 2, 0)},
		Sizes: []size{{"lists", 19_000, 20_000}},
		Rates: []rate{
			limited(ours, 50, 1500, 72, syncTimes{ptr.To(16.0), ptr.To(1.0)}), limited(builtIn, 50, 1500, 72.1, syncTimes{}),
			limited(ours, 100, 3000, 60, syncTimes{ptr.To(2.0), ptr.To(2.0)}),
		},
		Reference: []timing{
			{ours, "1000 indexes succeed", 19.9, 19.4, "SCL-07", ""},
			{builtIn, "1000 indexes succeed", 20.1, 19.4, "SCL-07", ""},
			{builtIn, "1000 indexes succeed, limit per index", 20.1, 19.4, "SCL-07", "1000 indexes succeed"},
			{ours, "1000 indexes succeed, limit per index", 20.895, 19.4, "SCL-07", "1000 indexes succeed"},
			{ours, "7 indexes succeed", 1, 0, "SCL-07", ""},
			{ours, "101 Jobs", 35, 33.4, "SCL-08", ""},
		},
	}
}

// SCL-01, SCL-02, SCL-03, SCL-04, SCL-05, SCL-06, SCL-07, SCL-08: the table shows the measured values beside the
// targets.
func TestLoadTableHasTargets(t *testing.T) {
	const want = `
|                                                         |   ours | built-in | ours/built-in |    target |    met |     id |
|---------------------------------------------------------|-------:|---------:|--------------:|----------:|-------:|-------:|
| 100 indexes: create to Complete, s                      |    2.1 |      3.0 |          0.69 |           |        | SCL-04 |
| 100 indexes: time / floor (2.00 s)                      |  1.030 |    1.500 |          0.69 |   <= 1.03 |    yes | SCL-04 |
| 100 indexes: requests per pod, status and events too    | 2.0100 |   2.0300 |          0.99 |   <= 2.01 |    yes | SCL-03 |
| 100 indexes: CPU of the controller, s                   |  10.00 |     1.25 |          8.00 |      < 10 | missed | SCL-04 |
| 100 indexes: CPU of kube-controller-manager, s          |   1.25 |     1.25 |          1.00 |           |        |        |
| 100 indexes: CPU of kube-apiserver, s                   |   7.00 |     7.00 |          1.00 |           |        |        |
| 100 indexes: peak RSS of the controller, MB             |    120 |      100 |          1.20 |     < 120 | missed | SCL-11 |
| lists, bytes                                            |  19000 |        - |             - |   < 20000 |    yes | SCL-10 |
| 50 requests/s: pods created and accounted, per minute   |   2500 |     2497 |          1.00 |   >= 2500 |    yes | SCL-01 |
| 50 requests/s: requests per pod, status too             |  2.200 |    2.200 |          1.00 |    <= 2.2 |    yes | SCL-03 |
| 50 requests/s: p99 of syncs, s                          |   1.50 |     1.50 |          1.00 |     <= 15 |    yes | SCL-05 |
| 50 requests/s: p99 of syncs that delete pods, s         |  16.00 |        - |             - |     <= 15 | missed | SCL-05 |
| 50 requests/s: syncs with an error, %                   |   0.00 |     0.00 |             - |      <= 1 |    yes | SCL-06 |
| 50 requests/s: syncs that delete pods with an error, %  |   1.00 |        - |             - |      <= 1 |    yes | SCL-06 |
| 100 requests/s: pods created and accounted, per minute  |   6000 |        - |             - |   >= 5000 |    yes | SCL-02 |
| 100 requests/s: requests per pod, status too            |  2.200 |        - |             - |    <= 2.2 |    yes | SCL-03 |
| 100 requests/s: p99 of syncs, s                         |   1.50 |        - |             - |     <= 15 |    yes | SCL-05 |
| 100 requests/s: p99 of syncs that delete pods, s        |   2.00 |        - |             - |     <= 15 |    yes | SCL-05 |
| 100 requests/s: syncs with an error, %                  |   0.00 |        - |             - |      <= 1 |    yes | SCL-06 |
| 100 requests/s: syncs that delete pods with an error, % |   2.00 |        - |             - |      <= 1 | missed | SCL-06 |
| 1000 indexes succeed, s                                 |   19.9 |     20.1 |          0.99 | <= 19.982 |    yes | SCL-07 |
| 1000 indexes succeed, limit per index, s                |   20.9 |     20.1 |          1.04 | <= 19.982 | missed | SCL-07 |
| 1000 indexes succeed, limit per index / without         |  1.050 |    1.000 |          1.05 |           |        | SCL-07 |
| 7 indexes succeed, s                                    |    1.0 |        - |             - |           |        | SCL-07 |
| 101 Jobs, s                                             |   35.0 |        - |             - | <= 34.402 | missed | SCL-08 |
`
	r := newReport(loadResults())
	if got := "\n" + renderTable(r.Rows); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, note := range []string{
		"50 requests/s: 1500 pods per controller, of Jobs of 30, 10 at a time",
		"targets are the KEPs' times, and 3 % for their being rounded",
	} {
		if !strings.Contains(notes, note) {
			t.Errorf("no note %q in\n%s", note, notes)
		}
	}
}
