package view

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/recorded"
)

// On a terminal, explain-failure opens the view: advice quotes what-if there, too.
func TestLiveAdviceQuotesWhatIf_WIF_01(t *testing.T) {
	c, err := recorded.Load("../../../pkg/explain/analysis/testdata/recorded/backoff-limit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job := c.Inputs[0].Job.DeepCopy()
	job.APIVersion, job.Kind, job.Namespace = "batch/v1", "Job", "ns1"
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		t.Fatal(err)
	}
	api := newFakeLive(t, &unstructured.Unstructured{Object: content})
	for i := range c.Pods {
		api.pods.Put(&c.Pods[i])
	}
	s := startLive(t, api)
	s.open(job.Name)
	s.until("advice quotes what-if", func(got *snapshot.Snapshot) bool {
		return got.Job != nil && slices.ContainsFunc(got.Job.Report.Advice, func(a explain.Advice) bool { return a.WhatIf != nil })
	})
	s.end()
}
