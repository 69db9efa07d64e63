//go:build unix

package main

import (
	"strings"
	"testing"
)

func TestManyJobsAreHeldAgainstTheBuiltInController(t *testing.T) {
	load := func(s side, syncs int, seconds float64, times ...float64) many {
		return many{
			bulk: bulk{Side: s, Seconds: seconds, CPU: map[string]float64{procOurs: 1, procManager: 2, procServer: 7}, OthersCPU: 30},
			Load: "100 Jobs of 1 pod", Jobs: 100, Syncs: syncs, Times: times,
		}
	}
	const want = `
|                                                                       | ours | built-in | ours/built-in |      target |    met | id |
| --------------------------------------------------------------------- | ---: | -------: | ------------: | ----------: | -----: | -: |
| 100 Jobs of 1 pod: until all are Complete, s                          | 4.00 |     8.00 |          0.50 |  < built-in |    yes |    |
| 100 Jobs of 1 pod: Jobs per second                                    | 25.0 |     12.5 |          2.00 | >= built-in |    yes |    |
| 100 Jobs of 1 pod: a Job's time, p50, ms                              |   10 |     1000 |          0.01 |  < built-in |    yes |    |
| 100 Jobs of 1 pod: a Job's time, p99, ms                              | 2000 |     3000 |          0.67 |  < built-in |    yes |    |
| 100 Jobs of 1 pod: CPU of the controller, s                           | 1.00 |     2.00 |          0.50 |  < built-in |    yes |    |
| 100 Jobs of 1 pod: CPU of kube-apiserver, s                           | 7.00 |     7.00 |          1.00 |  < built-in | missed |    |
| 100 Jobs of 1 pod, built-in with 50 syncs: until all are Complete, s  | 4.00 |     2.00 |          2.00 |  < built-in | missed |    |
| 100 Jobs of 1 pod, built-in with 50 syncs: Jobs per second            | 25.0 |     50.0 |          0.50 | >= built-in | missed |    |
| 100 Jobs of 1 pod, built-in with 50 syncs: a Job's time, p50, ms      |   10 |      900 |          0.01 |  < built-in |    yes |    |
| 100 Jobs of 1 pod, built-in with 50 syncs: a Job's time, p99, ms      | 2000 |      900 |          2.22 |  < built-in | missed |    |
| 100 Jobs of 1 pod, built-in with 50 syncs: CPU of the controller, s   | 1.00 |     2.00 |          0.50 |  < built-in |    yes |    |
| 100 Jobs of 1 pod, built-in with 50 syncs: CPU of kube-apiserver, s   | 7.00 |     7.00 |          1.00 |  < built-in | missed |    |
`
	r := newReport(results{Many: []many{load(ours, 0, 4, 10, 2000), load(builtIn, defaultSyncs, 8, 1000, 3000), load(builtIn, manySyncs, 2, 900)}})
	if got := "\n" + renderTable(r.Rows); squeeze(got) != squeeze(want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "--concurrent-job-syncs, which is 5") || !strings.Contains(notes, "not quiet") {
		t.Errorf("notes: %s", notes)
	}
}

// squeeze removes the alignment of a table.
func squeeze(table string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(table, "-", "")), " ")
}
