//go:build unix

package main

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestPercentile(t *testing.T) {
	ten := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for _, c := range []struct {
		values  []float64
		percent float64
		want    float64
	}{
		{ten, 50, 5}, {ten, 90, 9}, {ten, 91, 10}, {ten, 100, 10}, {ten, 0, 1},
		{[]float64{3}, 50, 3}, {[]float64{3, 4}, 50, 3}, {[]float64{3, 4}, 51, 4},
	} {
		if got := percentile(c.values, c.percent); got == nil || *got != c.want {
			t.Errorf("p%v of %v: got %v, want %v", c.percent, c.values, got, c.want)
		}
	}
	if got := percentile(nil, 50); got != nil {
		t.Errorf("of nothing: got %v", *got)
	}
	assert.Equal(t, ten[0], 10, "its argument changed")
}

func TestTurns(t *testing.T) {
	if got, want := turns(3, ours, builtIn), []side{ours, builtIn, builtIn, ours, ours, builtIn}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := turns(2, ours, builtIn, floor), []side{ours, builtIn, floor, floor, builtIn, ours}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// large returns a throughput run with the given numbers of POST and status requests per 100 pods.
func large(s side, seconds float64, post, status int) bulk {
	counts := requestCounts{
		{Verb: "POST", Resource: "pods"}:                       post,
		{Verb: "PATCH", Resource: "pods"}:                      100,
		{Verb: "PUT", Resource: "jobs", Subresource: "status"}: status,
		{Verb: "POST", Resource: "jobs"}:                       1,
		{Verb: "GET", Resource: "jobs"}:                        1,
	}
	return bulk{
		Side: s, Seconds: seconds, Requests: counts,
		CPU:  map[string]float64{procOurs: 0.5, procManager: 1.25, procServer: 7},
		Peak: map[string]int64{procOurs: 50e6, procManager: 100e6},
	}
}

func sample() results {
	return results{
		Machine: "A machine", Pods: 100,
		Latency: []latency{
			{ours, "1 pod", 40}, {builtIn, "1 pod", 1000}, {builtIn, "1 pod", 1100}, {ours, "1 pod", 150.5},
		},
		Bulk: []bulk{
			large(ours, 2, 100, 1), large(builtIn, 3, 101, 2), large(floor, 2, 100, 0),
			large(floor, 2, 100, 0), large(builtIn, 4, 101, 2), large(ours, 3, 100, 2),
		},
	}
}

func TestReportTable(t *testing.T) {
	var out bytes.Buffer
	assert.NoError(t, newReport(sample()).print(&out))
	const want = `
|                                    |  ours | built-in | ours/built-in | target |    met |     id |
| ---------------------------------- | ----: | -------: | ------------: | -----: | -----: | -----: |
| 1 pod, create to Complete: p50, ms |    40 |     1000 |          0.04 |  < 150 |    yes |        |
| 1 pod, create to Complete: p90, ms |   150 |     1100 |          0.14 |        |        |        |
| 1 pod, create to Complete: max, ms |   150 |     1100 |          0.14 |        |        |        |
| 100 indexes, create to Complete, s |  2.50 |     3.50 |          0.71 |        |        |        |
| pods: POST, per pod                | 1.000 |    1.010 |          0.99 |   <= 1 |    yes | SCL-03 |
| pods: PATCH (finalizer), per pod   | 1.000 |    1.000 |          1.00 |   <= 1 |    yes | SCL-03 |
| pods: DELETE                       |   0.0 |      0.0 |             - |      0 |    yes | SCL-03 |
| all but status and events, per pod | 2.010 |    2.020 |          1.00 |   <= 2 | missed | SCL-03 |
| jobs/status: PUT                   |   1.5 |      2.0 |          0.75 |        |        |        |
| jobs/status: PUT, % of pods        |  1.50 |     2.00 |          0.75 |   <= 1 | missed | SCL-03 |
| events: writes                     |   0.0 |      0.0 |             - |        |        |        |
| CPU of the controller, s           |  0.50 |     1.25 |          0.40 |        |        |        |
| CPU of kube-controller-manager, s  |  1.25 |     1.25 |          1.00 |        |        |        |
| CPU of kube-apiserver, s           |  7.00 |     7.00 |          1.00 |        |        |        |
| peak RSS of the controller, MB     |    50 |      100 |          0.50 |        |        |        |
| 100 indexes: time / floor (2.00 s) |  1.25 |     1.75 |          0.71 |        |        |        |

`
	if got := "\n" + out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, note := range []string{
		"Other requests about pods and Jobs, ours, 2 Jobs together: GET jobs 2.",
		"kube-apiserver used 7.00 s of CPU for that.",
	} {
		assert.Contains(t, out.String(), note, "no note")
	}
	assert.NotContains(t, out.String(), "not quiet", "it complains about noise")
}

// SCL-03, SCL-04, SCL-11: the table shows the measured values beside the targets.
func TestHugeTableHasTargets(t *testing.T) {
	huge := func(s side, seconds float64, status int) bulk {
		b := large(s, seconds, 100, status)
		b.CPU[procOurs], b.Peak[procOurs] = 10, 120e6
		return b
	}
	const want = `
|                                                      |   ours | built-in | ours/built-in |  target |    met |     id |
| ---------------------------------------------------- | -----: | -------: | ------------: | ------: | -----: | -----: |
| 100 indexes: create to Complete, s                   |    2.1 |      3.0 |          0.69 |         |        | SCL-04 |
| 100 indexes: time / floor (2.00 s)                   |  1.030 |    1.500 |          0.69 | <= 1.03 |    yes | SCL-04 |
| 100 indexes: requests per pod, status and events too | 2.0100 |   2.0300 |          0.99 | <= 2.01 |    yes | SCL-03 |
| 100 indexes: CPU of the controller, s                |  10.00 |     1.25 |          8.00 |    < 10 | missed | SCL-04 |
| 100 indexes: CPU of kube-controller-manager, s       |   1.25 |     1.25 |          1.00 |         |        |        |
| 100 indexes: CPU of kube-apiserver, s                |   7.00 |     7.00 |          1.00 |         |        |        |
| 100 indexes: peak RSS of the controller, MB          |    120 |      100 |          1.20 |   < 120 | missed | SCL-11 |
`
	r := newReport(results{HugePods: 100, Huge: bulks{huge(ours, 2.06, 0), huge(builtIn, 3, 2), huge(floor, 2, 0)}})
	assert.Equal(t, "\n"+renderTable(r.Rows), want)
}

// A part that was not run has no row; a ratio that needs it is shown as a dash.
func TestReportOfParts(t *testing.T) {
	all := sample()
	var floors []bulk
	for _, b := range all.Bulk {
		if b.Side == floor {
			floors = append(floors, b)
		}
	}
	for name, c := range map[string]struct {
		results results
		rows    int
		last    string
	}{
		"nothing":    {results{}, 0, ""},
		"latency":    {results{Latency: all.Latency}, 3, "| 1 pod, create to Complete: max, ms |  150 |     1100 |          0.14 |        |     |    |"},
		"throughput": {results{Pods: 100, Bulk: all.Bulk[:2]}, 12, "| peak RSS of the controller, MB     |    50 |      100 |          0.50 |        |        |        |"},
		"floor":      {results{Pods: 100, Bulk: floors}, 1, "| 100 indexes: time / floor (2.00 s) |    - |        - |             - |        |     |    |"},
	} {
		rows := newReport(c.results).Rows
		lines := strings.Split(strings.TrimSpace(renderTable(rows)), "\n")
		if len(rows) != c.rows || c.last != "" && lines[len(lines)-1] != c.last {
			t.Errorf("%s: %d rows, want %d; the last is\n%s", name, len(rows), c.rows, lines[len(lines)-1])
		}
	}
}

func TestReportNoise(t *testing.T) {
	r := sample()
	r.Bulk[0].OthersCPU = 20
	notes := strings.Join(newReport(r).Notes, "\n")
	assert.Contains(t, notes, "not quiet: 28 % of the CPU time")
}

func TestTarget(t *testing.T) {
	for _, c := range []struct {
		target target
		value  float64
		met    bool
	}{
		{target{Limit: 1}, 1, true}, {target{Limit: 1}, 1.001, false}, {target{Limit: 1}, 0, true},
		{target{Limit: 150, Below: true}, 150, false}, {target{Limit: 150, Below: true}, 149, true},
		{target{Limit: 1}, math.NaN(), false}, {target{}, 0, true},
		{target{Limit: 2500, Least: true}, 2500, true}, {target{Limit: 2500, Least: true}, 2499.9, false},
	} {
		assert.Equalf(t, c.target.metBy(c.value), c.met, "%+v by %v", c.target, c.value)
	}
}

func TestLatencyIsHeldAgainstTheFloor(t *testing.T) {
	r := results{Latency: []latency{{ours, "1 pod", 30}, {builtIn, "1 pod", 1000}, {floor, "1 pod", 20}, {floor, "1 pod", 25}, {floor, "1 pod", 20}}}
	rows := newReport(r).Rows
	i := slices.IndexFunc(rows, func(r row) bool { return r.What == "1 pod: p50 / floor (20 ms)" })
	if i < 0 || *rows[i].Ours != 1.5 || *rows[i].BuiltIn != 50 || rows[i].verdict() != "yes" {
		t.Errorf("%d of %+v", i, rows)
	}
}

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
