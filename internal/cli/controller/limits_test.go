package controller

import (
	"testing"

	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// withFlags parses the flags as the command does, without contacting the API server.
func withFlags(t *testing.T, args ...string) *Options {
	t.Helper()
	o := validated(t, append(args, "--kubeconfig", clitest.WriteKubeconfig(t, "http://127.0.0.1:1"))...)
	// The log configuration is global, and the same each time.
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	t.Cleanup(func() { logsapi.ReapplyHandling = logsapi.ReapplyHandlingError })
	assert.NoError(t, o.Complete())
	return o
}

// burstOf returns the number of requests that the client lets through at once, at most most.
func burstOf(client kube.Interface, most int) (n int) {
	limiter := client.CoreV1().RESTClient().GetRateLimiter()
	for n < most && (limiter == nil || limiter.TryAccept()) {
		n++
	}
	return n
}

// SCL-12, SCL-03: the limits and the number of workers come from the flags, and events have a limit of their own.
func TestLimitsAreThoseOfTheFlags(t *testing.T) {
	// A limiter as slow as this one lets only the burst through.
	o := withFlags(t, "--kube-api-qps=0.001", "--kube-api-burst=7", "--concurrent-job-syncs=3")
	assert.Equal(t, burstOf(o.config.Client, 100), 7, "calls at once")
	assert.Equal(t, o.config.Client.BatchV1().RESTClient().GetRateLimiter().QPS(), 0.001, "calls per second")
	if o.config.Client.BatchV1().RESTClient().GetRateLimiter().TryAccept() {
		t.Error("Jobs have another limit than pods")
	}
	assert.Equal(t, burstOf(o.config.EventClient, 2*eventQPS), 2*eventQPS, "events at once: other calls have used up the limit")
	if got := o.runningConfig(); got.KubeAPIQPS != 0.001 || got.KubeAPIBurst != 7 || got.ConcurrentJobSyncs != 3 || o.config.Workers != 3 {
		t.Errorf("got %+v", got)
	}
}

// SCL-12: the defaults, and no limit at all.
func TestLimitsHaveDefaults(t *testing.T) {
	o := withFlags(t)
	if qps := o.config.Client.CoreV1().RESTClient().GetRateLimiter().QPS(); qps != 500 || o.config.Workers != 50 {
		t.Errorf("%v calls per second, %d Jobs at once", qps, o.config.Workers)
	}
	o = withFlags(t, "--kube-api-qps=-1", "--kube-api-burst=1")
	assert.Equal(t, burstOf(o.config.Client, 2000), 2000, "calls at once without a limit")
}
