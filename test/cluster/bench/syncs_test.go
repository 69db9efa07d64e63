//go:build unix

package main

import (
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
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

func TestSyncsAreReadFromMetrics(t *testing.T) {
	families, err := parseMetrics(strings.NewReader(syncsText))
	assert.NoError(t, err)
	all := syncsIn(families)
	if want := (syncs{1: 80, 2: 96, math.Inf(1): 100}); !maps.Equal(all, want) {
		t.Errorf("durations %v, want %v", all, want)
	}
	// 90 %: the tenth of sixteen syncs in the second bucket. 99 %: beyond the last bound.
	assert.Equal(t, *all.percentile(90), 1.625, "p90")
	assert.Equal(t, *all.percentile(99), 2, "p99")
	if all.since(all).percentile(99) != nil || (syncs{}).percentile(50) != nil {
		t.Error("there are syncs in no time")
	}
}

func TestSyncsSince(t *testing.T) {
	before, after := syncs{1: 5}, syncs{1: 8, 2: 9}
	if d := after.since(before); !maps.Equal(d, syncs{1: 3, 2: 9}) || after[1] != 8 {
		t.Errorf("got %v of %v", d, after)
	}
}

func TestReadSyncs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(syncsText))
	}))
	defer server.Close()
	if all, err := readSyncs(t.Context(), server.URL+"/metrics"); err != nil || all[1] != 80 {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := readSyncs(t.Context(), server.URL); err == nil {
		t.Error("no error although there are no metrics")
	}
}
