//go:build unix

package main

import (
	"strings"
	"testing"
	"time"
)

func TestCreationsAfterAnEditAreCounted(t *testing.T) {
	log := logged("create", "jobs", 0, 5) + logged("create", "pods", 10, 20) + // before the edit
		logged("create", "pods", 90, 150) + logged("create", "pods", 120, 140) +
		strings.Replace(logged("create", "pods", 200, 210), "200", "403", 1) + logged("delete", "pods", 300, 310)
	before, last := creationsAfter(mustParseCalls(t, log), noon.Add(100*time.Millisecond))
	if before != 1 || last != (lastCreations{Count: 2, SentMS: 20, AnsweredMS: 50}) {
		t.Errorf("%d creations before, %+v", before, last)
	}
	if _, last := creationsAfter(mustParseCalls(t, log), noon.Add(time.Second)); last != (lastCreations{}) {
		t.Errorf("without creations after the edit: %+v", last)
	}
}

func TestStopHasItsGoal(t *testing.T) {
	r := newReport(results{Stops: []stopped{
		{ours, 1000, "suspended", lastCreations{8, 190, 260}},
		{builtIn, 1000, "suspended", lastCreations{500, 800, 900}},
		{ours, 1000, "scaled down to 1 pod", lastCreations{}},
	}})
	const want = `
|                                                               | ours | built-in | ours/built-in | target |    met | id |
|---------------------------------------------------------------|-----:|---------:|--------------:|-------:|-------:|---:|
| 1000 indexes, suspended: last pod created, ms                 |  260 |      900 |          0.29 | <= 250 | missed |    |
| 1000 indexes, suspended: last creation sent, ms               |  190 |      800 |          0.24 |        |        |    |
| 1000 indexes, suspended: pods created after the edit          |    8 |      500 |          0.02 |        |        |    |
| 1000 indexes, scaled down to 1 pod: last pod created, ms      |    0 |        - |             - | <= 250 |    yes |    |
| 1000 indexes, scaled down to 1 pod: last creation sent, ms    |    0 |        - |             - |        |        |    |
| 1000 indexes, scaled down to 1 pod: pods created after the edit |    0 |      - |             - |        |        |    |
`
	if got := "\n" + renderTable(r.Rows); squeeze(got) != squeeze(want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
