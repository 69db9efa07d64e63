package view

import (
	"slices"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// On a terminal, why opens the view, where advice quotes what-if, too.
// Requirements: WIF-01
func TestLiveAdviceQuotesWhatIf(t *testing.T) {
	c, err := recorded.Load("../../../../pkg/explain/analysis/testdata/recorded/backoff-limit.yaml")
	assert.NoError(t, err)
	job := c.Jobs[0]
	job.SetNamespace("ns1")
	api := newFakeLive(t, job)
	for i := range c.Pods {
		c.Pods[i].Status.ContainerStatuses[0].State.Terminated.ExitCode = 3 // No rule is advised for exit code 1.
		api.pods.Put(&c.Pods[i])
	}
	s := startLive(t, api)
	s.open(job.GetName())
	s.until("advice quotes what-if", func(got *snapshot.Snapshot) bool {
		return got.Job != nil && slices.ContainsFunc(got.Job.Report.Advice, func(a explain.Advice) bool { return a.WhatIf != nil })
	})
	s.end()
}
