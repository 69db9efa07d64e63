//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// SHD-06: the memory for pods in the largest replica, without the memory of an empty process.
func TestMemoryOfReplicas(t *testing.T) {
	const mb = 1_000_000
	r := newReport(results{Shards: &sharded{
		Pods: 30_000, Empty: 40 * mb, Single: 70 * mb,
		Replicas: []replica{{Shards: 2, Pods: 9000, Bytes: 49 * mb}, {Shards: 2, Pods: 11_000, Bytes: 52 * mb}, {Shards: 2, Pods: 10_000, Bytes: 50 * mb}},
	}})
	table := renderTable(r.Rows)
	for _, want := range []string{"replica 2 with 2 of 6 shards and 11000 pods, MB", "largest replica / one process"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if got := number(r.Rows[len(r.Rows)-1].Ours, 2); got != "0.40" {
		t.Errorf("the largest replica takes %s of what one process takes for pods, want 0.40", got)
	}
}

// Measurements before an error are reported, and nothing else.
func TestPartOfShardsIsReported(t *testing.T) {
	for _, c := range []struct {
		sharded
		rows int
	}{
		{sharded{}, 0}, {sharded{Empty: 40}, 1}, {sharded{Empty: 40, Single: 70}, 2},
		{sharded{Empty: 40, Single: 70, Replicas: []replica{{Bytes: 50}, {Bytes: 50}}}, 4},
		{sharded{Empty: 40, Single: 70, Replicas: []replica{{Bytes: 50}, {Bytes: 50}, {}}}, 4},
	} {
		if rows := newReport(results{Shards: &c.sharded}).Rows; len(rows) != c.rows {
			t.Errorf("%+v: got\n%s\nwant %d rows", c.sharded, renderTable(rows), c.rows)
		}
	}
}

func TestReplicaHasTheShardsOfItsMetrics(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# TYPE job_controller_shard_pods gauge\njob_controller_shard_pods{shard=\"0\"} 7\njob_controller_shard_pods{shard=\"4\"} 5\n"))
	}))
	r := replica{metrics: server.URL}
	r.look(t.Context())
	if r.Shards != 2 || r.Pods != 12 {
		t.Errorf("got %+v, want two shards with 12 pods", r)
	}
	server.Close()
	if r.look(t.Context()); r.Shards != 0 {
		t.Errorf("got %+v, want nothing of a replica that does not answer", r)
	}
}
