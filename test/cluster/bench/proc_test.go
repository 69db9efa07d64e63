//go:build unix

package main

import (
	"context"
	"maps"
	"os/exec"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func TestParseStat(t *testing.T) {
	got, err := parseStat("42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 150 50 7 7 20 0 9 0 100 1 2")
	if err != nil || got != 2 {
		t.Errorf("got %v, %v; want 2", got, err)
	}
	for _, text := range []string{"", "42 (x) S 1", "42 (x) S 1 42 42 0 -1 4194560 100 0 0 0 a b"} {
		if got, err := parseStat(text); err == nil {
			t.Errorf("%q: no error, got %v", text, got)
		}
	}
}

func TestParseBusy(t *testing.T) {
	// user nice system idle iowait irq softirq steal guest guest_nice
	got, err := parseBusy("cpu  100 10 20 9999 999 3 4 500 60 7\ncpu0 1 1 1 1\n")
	if err != nil || got != 1.37 {
		t.Errorf("got %v, %v; want 1.37", got, err)
	}
	for _, text := range []string{"", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8"} {
		if got, err := parseBusy(text); err == nil {
			t.Errorf("%q: no error, got %v", text, got)
		}
	}
}

func TestParsePeak(t *testing.T) {
	got, err := parsePeak("Name:\tx\nVmPeak:\t  99 kB\nVmHWM:\t    1234 kB\nVmRSS:\t 10 kB\n")
	if err != nil || got != 1234*1024 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"", "VmHWM: many kB\n"} {
		if got, err := parsePeak(text); err == nil {
			t.Errorf("%q: no error, got %v", text, got)
		}
	}
}

func TestUsageSince(t *testing.T) {
	before := usage{cpu: map[string]float64{"a": 1, "b": 2}, busy: 10}
	after := usage{cpu: map[string]float64{"a": 3, "b": 2.5}, peak: map[string]int64{"a": 7}, busy: 14}
	d := after.since(before)
	if want := map[string]float64{"a": 2, "b": 0.5}; !maps.Equal(d.cpu, want) {
		t.Errorf("got %v, want %v", d.cpu, want)
	}
	if d.peak["a"] != 7 || d.others() != 1.5 {
		t.Errorf("peak %v, others %v; want 7, 1.5", d.peak["a"], d.others())
	}
	assert.Equal(t, after.cpu["a"], 3, "its argument changed")
}

func TestLimitsLifted(t *testing.T) {
	for _, c := range []struct {
		args   []string
		lifted bool
	}{
		{[]string{"kube-controller-manager", "--kube-api-qps=5000", "--kube-api-burst=10000"}, true},
		{[]string{"kube-controller-manager", "--kube-api-qps=-1", "--kube-api-burst=10000"}, true},
		{[]string{"kube-controller-manager"}, false},
		{[]string{"kube-controller-manager", "--kube-api-qps=20", "--kube-api-burst=10000"}, false},
		{[]string{"kube-controller-manager", "--kube-api-qps=5000", "--kube-api-burst=30"}, false},
	} {
		assert.Equal(t, (limitsLifted(c.args) == nil), c.lifted, c.args)
	}
}

// kube-controller-manager gets new values of flags, and keeps the others.
func TestManagerKeepsItsOtherFlags(t *testing.T) {
	manager := []string{"--bind-address=127.0.0.1", "--kube-api-qps=5000", "--secure-port=29970", "--kube-api-burst=10000"}
	want := []string{"--bind-address=127.0.0.1", "--secure-port=29970", "--leader-elect=false", "--kube-api-qps=50", "--kube-api-burst=50"}
	assert.SlicesEqual(t, managerArgs(manager, "--kube-api-qps=50", "--kube-api-burst=50"), want)
}

// A process that ends by itself is reported; a stopped one is not.
func TestProcessThatEndsUnaskedIsReported(t *testing.T) {
	ends := make(chan *child, 1)
	c, err := startChild("sleeper", exec.CommandContext(context.Background(), "sleep", "60"), func(c *child) { ends <- c })
	if err != nil {
		t.Skipf("there is no sleep here: %v", err)
	}
	assert.NoError(t, c.stop())
	short, err := startChild("short", exec.CommandContext(context.Background(), "sleep", "0"), func(c *child) { ends <- c })
	assert.NoError(t, err)
	if got := <-ends; got != short {
		t.Errorf("%s is reported", got.name)
	}
	assert.NoError(t, (*child)(nil).stop())
}
