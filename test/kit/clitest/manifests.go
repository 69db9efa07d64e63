package clitest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// PlainJob is the manifest of the smallest valid Job.
const PlainJob = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}\n"

// WriteManifest writes a manifest to a file, and returns its path.
func WriteManifest(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "job.yaml")
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// WriteRecording writes a recording that shows the report on a Job, and returns its path.
func WriteRecording(t *testing.T, report explain.Report) string {
	t.Helper()
	line, err := json.Marshal(snapshot.Snapshot{Seq: 1, Job: &snapshot.Job{Report: &report}})
	assert.NoError(t, err)
	return WriteManifest(t, `{"kind":"WatchRecording","apiVersion":"batchjob.dev/v1alpha1"}`+"\n"+string(line)+"\n")
}

// WriteKustomization writes a folder with a kustomization of these manifests that prefixes names with "prod-", and
// returns the folder's path.
func WriteKustomization(t *testing.T, text string) string {
	t.Helper()
	folder := filepath.Dir(WriteManifest(t, text))
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte("resources: [job.yaml]\nnamePrefix: prod-\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// JobSet is the manifest of a JobSet with one Job of one kind and four of another.
const JobSet = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: driver
    template: {spec: {backoffLimit: 0, template: {spec: {containers: [{name: main, image: i}]}}}}
  - name: workers
    replicas: 4
    template:
      spec:
        completions: 2
        parallelism: 2
        backoffLimit: 0
        podFailurePolicy: {rules: [{name: Broken, action: FailJob, onExitCodes: {operator: In, values: [2]}}]}
        template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}
`
