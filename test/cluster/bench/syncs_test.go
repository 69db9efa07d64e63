//go:build unix

package main

import (
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const syncsText = `# TYPE job_controller_job_syncs_total counter
job_controller_job_syncs_total{action="tracking",completion_mode="Indexed",result="success"} 90
job_controller_job_syncs_total{action="tracking",completion_mode="Indexed",result="error"} 2
job_controller_job_syncs_total{action="pods_deleted",completion_mode="NonIndexed",result="success"} 8
# TYPE job_controller_job_sync_duration_seconds histogram
job_controller_job_sync_duration_seconds_bucket{action="tracking",completion_mode="Indexed",result="success",le="1"} 80
job_controller_job_sync_duration_seconds_bucket{action="tracking",completion_mode="Indexed",result="success",le="2"} 92
job_controller_job_sync_duration_seconds_bucket{action="tracking",completion_mode="Indexed",result="success",le="+Inf"} 92
job_controller_job_sync_duration_seconds_sum{action="tracking",completion_mode="Indexed",result="success"} 60
job_controller_job_sync_duration_seconds_count{action="tracking",completion_mode="Indexed",result="success"} 92
job_controller_job_sync_duration_seconds_bucket{action="pods_deleted",completion_mode="NonIndexed",result="success",le="1"} 0
job_controller_job_sync_duration_seconds_bucket{action="pods_deleted",completion_mode="NonIndexed",result="success",le="2"} 4
job_controller_job_sync_duration_seconds_bucket{action="pods_deleted",completion_mode="NonIndexed",result="success",le="+Inf"} 8
job_controller_job_sync_duration_seconds_sum{action="pods_deleted",completion_mode="NonIndexed",result="success"} 30
job_controller_job_sync_duration_seconds_count{action="pods_deleted",completion_mode="NonIndexed",result="success"} 8
`

// SCL-05, SCL-06: the syncs of both controllers are read in the same way, in total and by action.
func TestSyncsOfBothControllersAreReadAlike(t *testing.T) {
	families, err := parseMetrics(strings.NewReader(syncsText))
	if err != nil {
		t.Fatal(err)
	}
	all := syncsIn(families)
	inf := math.Inf(1)
	if got, want := all[""].took, (map[float64]float64{1: 80, 2: 96, inf: 100}); !maps.Equal(got, want) {
		t.Errorf("durations %v, want %v", got, want)
	}
	if got := *all[""].errorPercent(); got != 2 {
		t.Errorf("%v %% errors, want 2", got)
	}
	if got := *all[actionDeleted].errorPercent(); got != 0 {
		t.Errorf("%v %% errors of those that delete, want 0", got)
	}
	// 90 %: the tenth of sixteen syncs in the second bucket. 99 %: beyond the last bound.
	if got := *all[""].percentile(90); got != 1.625 {
		t.Errorf("p90 %v, want 1.625", got)
	}
	if got := *all[""].percentile(99); got != 2 {
		t.Errorf("p99 %v, want 2", got)
	}
	if got := *all[actionDeleted].percentile(50); got != 2 {
		t.Errorf("p50 of those that delete %v, want 2", got)
	}
	nothing := all.since(all)
	if nothing[""].errorPercent() != nil || nothing[""].percentile(99) != nil || (syncs{}).percentile(50) != nil {
		t.Error("there are syncs in no time")
	}
}

func TestSyncsSince(t *testing.T) {
	before := syncsByAction{"": {ok: 5, took: map[float64]float64{1: 5}}}
	after := syncsByAction{"": {ok: 7, failed: 2, took: map[float64]float64{1: 8, 2: 9}}, "x": {ok: 1}}
	d := after.since(before)
	if got := d[""]; got.ok != 2 || got.failed != 2 || !maps.Equal(got.took, map[float64]float64{1: 3, 2: 9}) {
		t.Errorf("got %+v", got)
	}
	if d["x"].ok != 1 || after[""].took[1] != 8 {
		t.Errorf("got %+v; %+v has changed", d, after)
	}
}

func FuzzParseSyncs(f *testing.F) {
	f.Add(syncsText)
	f.Fuzz(func(t *testing.T, text string) {
		families, err := parseMetrics(strings.NewReader(text))
		if err != nil {
			return
		}
		all := syncsIn(families)
		for action, s := range all {
			if _, ok := all[""]; !ok {
				t.Errorf("%q is there, and not all together", action)
			}
			s.percentile(99)
			s.errorPercent()
		}
	})
}

func TestReadSyncs(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(syncsText))
	}))
	defer server.Close()
	if all, err := readSyncs(t.Context(), server.URL+"/metrics"); err != nil || all[""].ok != 98 {
		t.Errorf("got %v, %v", all[""], err)
	}
	if _, err := readSyncs(t.Context(), server.URL); err == nil {
		t.Error("no error although there are no metrics")
	}
}
