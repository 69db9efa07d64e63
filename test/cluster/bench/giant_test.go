//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: SCL-03
func TestGiantIsHeldAgainstItsGoals(t *testing.T) {
	half := 0.5
	slow := 1.2
	g := giant{
		Pods: 100_000, JobBytes: 4500, SyncP50: &half, SyncP99: &slow,
		Floor: bulk{Side: floor, Seconds: 100, CPU: map[string]float64{procServer: 50}},
		Ours: bulk{
			Side: ours, Seconds: 102, CPU: map[string]float64{procOurs: 9}, Peak: map[string]int64{procOurs: 260e6},
			Requests: requestCounts{{Verb: "POST", Resource: "pods"}: 100_000, {Verb: "PATCH", Resource: "pods"}: 100_000},
		},
	}
	met := map[string]string{}
	for _, row := range newReport(results{Giant: &g}).Rows {
		met[strings.TrimPrefix(row.What, "100000 indexes: ")] = row.verdict()
	}
	for what, want := range map[string]string{
		"time / floor (100.00 s)": "yes", "requests about pods, per pod": "yes", "sync, p99, ms": "missed",
		"peak RSS of the controller, MB": "missed",
	} {
		assert.Equal(t, met[what], want, what)
	}
}

// Measurements before an error are reported: they may have taken an hour. A missing measurement is not reported as 0,
// which would meet every target.
func TestPartOfAGiantIsReported(t *testing.T) {
	measured := bulk{Side: floor, Seconds: 3, CPU: map[string]float64{procServer: 2}}
	for _, g := range []giant{{Pods: 5}, {Pods: 5, Floor: measured}} {
		rows := newReport(results{Giant: &g}).Rows
		for _, row := range rows {
			if row.Ours != nil {
				t.Errorf("%s was not measured, and is %s", row.What, number(row.Ours, row.digits))
			}
		}
		assert.Equal(t, strings.Contains(renderTable(rows), "time / floor (3.00 s)"), (g.Floor.Seconds > 0), g.Floor.Seconds)
	}
}

// Each part prints its figures when it ends.
func TestOnlyNewFiguresArePrinted(t *testing.T) {
	a := results{Pods: 5, Latency: []latency{{Side: ours, Shape: "1 pod", MS: 3}}}
	b := a
	b.Giant = &giant{Pods: 7, Floor: bulk{Side: floor, Seconds: 3, CPU: map[string]float64{procServer: 2}}}
	c := b
	with := *b.Giant
	with.Ours = bulk{Side: ours, Seconds: 4, CPU: map[string]float64{procOurs: 1}, Peak: map[string]int64{procOurs: 77e6}}
	c.Giant = &with
	for _, test := range []struct {
		before, after results
		has, hasNot   string
	}{{results{}, a, "1 pod", "7 indexes"}, {a, b, "7 indexes", "1 pod"}, {b, c, "peak RSS", "1 pod"}} {
		rows := renderTable(newRows(newReport(test.before).Rows, newReport(test.after).Rows))
		if !strings.Contains(rows, test.has) || strings.Contains(rows, test.hasNot) {
			t.Errorf("%q is missing, or %q is there:\n%s", test.has, test.hasNot, rows)
		}
	}
	if rows := newRows(newReport(b).Rows, newReport(b).Rows); len(rows) > 0 {
		t.Errorf("nothing new: %v", rows)
	}
}
