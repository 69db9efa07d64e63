//go:build unix

package main

import (
	"context"
	"os/exec"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// kube-controller-manager gets new values of flags, and keeps the others.
func TestManagerKeepsItsOtherFlags(t *testing.T) {
	manager := []string{"--bind-address=127.0.0.1", "--kube-api-qps=5000", "--secure-port=29970", "--kube-api-burst=10000"}
	want := []string{"--bind-address=127.0.0.1", "--secure-port=29970", "--leader-elect=false", "--kube-api-qps=50", "--kube-api-burst=50"}
	assert.SlicesEqual(t, managerArgs(manager, "--kube-api-qps=50", "--kube-api-burst=50"), want)
	assert.Equal(t, managerMetrics(manager), "https://127.0.0.1:29970/metrics")
	assert.Equal(t, managerMetrics(nil), "")
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
	if err := (*child)(nil).stop(); err != nil {
		t.Error(err)
	}
}
