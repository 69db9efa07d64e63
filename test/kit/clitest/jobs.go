package clitest

import (
	_ "embed"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// WithCondition returns a copy of the Job with one more condition, which became true 32 seconds after the Job's start.
func WithCondition(job *unstructured.Unstructured, kind, reason, message string) *unstructured.Unstructured {
	job = job.DeepCopy()
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	conditions = append(conditions, map[string]any{
		"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": "2026-03-01T11:55:32Z",
	})
	_ = unstructured.SetNestedSlice(job.Object, conditions, "status", "conditions")
	if kind == "Complete" {
		_ = unstructured.SetNestedField(job.Object, "2026-03-01T11:55:32Z", "status", "completionTime")
	}
	return job
}

// CompleteJob returns a completed Job in ns1.
func CompleteJob(name string) *unstructured.Unstructured {
	return WithCondition(SimpleJob("ns1", name, 10), "Complete", "", "")
}

// FailedJob returns a Job in ns1 that failed by a named rule. The condition's message contains an escape sequence.
func FailedJob(name string) *unstructured.Unstructured {
	return WithCondition(SimpleJob("ns1", name, 1), "Failed", "PodFailurePolicy_OOM", "out of \x1b[1mmemory")
}

//go:embed testdata/jobs.yaml
var jobsYAML string

// LoadJobs returns the Jobs of testdata/jobs.yaml.
func LoadJobs(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var jobs []*unstructured.Unstructured
	for _, document := range strings.Split(jobsYAML, "\n---\n") {
		jobs = append(jobs, jobFromYAML(t, document))
	}
	return jobs
}

func jobFromYAML(t *testing.T, document string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("apiVersion: batch/v1\nkind: Job\n" + document))
	if err != nil {
		t.Fatal(err)
	}
	job := &unstructured.Unstructured{}
	assert.NoError(t, job.UnmarshalJSON(data))
	return job
}

// SimpleJob returns a running Job with the given number of succeeded pods out of 10.
func SimpleJob(namespace, name string, succeeded int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{
			"namespace": namespace, "name": name, "uid": namespace + "-" + name, "creationTimestamp": "2026-03-01T11:55:00Z",
			"labels": map[string]any{"app": name},
		},
		"spec":   map[string]any{"completions": int64(10), "parallelism": int64(2)},
		"status": map[string]any{"succeeded": succeeded, "startTime": "2026-03-01T11:55:00Z"},
	}}
}
