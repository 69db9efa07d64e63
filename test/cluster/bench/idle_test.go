//go:build unix

package main

import (
	"slices"
	"strings"
	"testing"
)

// idleSample returns a run with two Jobs of the built-in controller.
func idleSample() []idle {
	use := func(phase string, pods int, seconds, cpu float64, peak int64) idle {
		return idle{phase, pods, seconds, map[string]float64{procOurs: cpu, procManager: 10 * cpu}, map[string]int64{procOurs: peak, procManager: 10 * peak}}
	}
	return []idle{
		use(idleAlone, 0, 10, 0.01, 30e6), use(idleJob, 3000, 30, 0.25, 39e6), use(idleJob, 3000, 30, 0.35, 38e6),
		use(idleArriving, 100, 10, 0.02, 31e6), use(idleRunning, 100, 10, 0.2, 41e6),
	}
}

func TestIdleFiguresArePerPodOfJobsOfOthersAndPerCore(t *testing.T) {
	got := renderTable(newReport(results{Idle: idleSample()}).Rows)
	const want = `
|                                                                                 |  ours | built-in | ours/built-in | target |    met |     id |
| ------------------------------------------------------------------------------- | ----: | -------: | ------------: | -----: | -----: | -----: |
| idle without pods of others: CPU, % of a core                                   |  0.10 |     1.00 |          0.10 |   <= 1 |    yes | IDL-01 |
| idle without pods of others: peak memory, MB                                    |    30 |      300 |          0.10 |  <= 40 |    yes | IDL-01 |
| idle beside 100 pods of others, arriving: CPU, % of a core                      |  0.20 |     2.00 |          0.10 |   <= 1 |    yes | IDL-01 |
| idle beside 100 pods of others, arriving: peak memory, MB                       |    31 |      310 |          0.10 |  <= 40 |    yes | IDL-01 |
| idle beside 100 pods of others, running: CPU, % of a core                       |  2.00 |    20.00 |          0.10 |   <= 1 | missed | IDL-01 |
| idle beside 100 pods of others, running: peak memory, MB                        |    41 |      410 |          0.10 |  <= 40 | missed | IDL-01 |
| idle beside Jobs of others, 6000 pods: CPU, ms per pod                          | 0.100 |    1.000 |          0.10 | <= 0.1 |    yes | IDL-01 |
| idle beside Jobs of others, 6000 pods: peak memory, MB                          |    39 |      390 |          0.10 |        |        | IDL-01 |
| idle beside Jobs of others, 6000 pods: peak memory beyond that without pods, MB |   9.0 |     90.0 |          0.10 |        |        |        |
`
	if got = strings.TrimSpace(got); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// The report of an interrupted run contains the phases that were measured.
func TestIdleFiguresOfPhasesThatWereMeasured(t *testing.T) {
	for name, c := range map[string]struct {
		phases []idle
		want   string
	}{
		"none":         {nil, ""},
		"without pods": {idleSample()[:1], "without pods of others"},
		"one Job":      {idleSample()[1:2], "Jobs of others, 3000 pods"},
	} {
		r := newReport(results{Idle: c.phases})
		if (len(r.Rows) > 0) != (c.want != "") || slices.ContainsFunc(r.Rows, func(r row) bool { return !strings.Contains(r.What, c.want) }) {
			t.Errorf("%s: %+v", name, r.Rows)
		}
	}
}
