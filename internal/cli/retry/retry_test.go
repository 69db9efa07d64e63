package retry

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// Issue 18: usage errors are reported before any connection is made.
// Requirements: RTY-10
func TestRetryUsage(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	program.Rejects(t, nil, "retry", map[string]string{
		"":                                   "name one Job or CronJob to retry",
		"a b":                                "name one Job or CronJob to retry",
		"a cronjob/b":                        "name one Job or CronJob to retry",
		"pod/a":                              `"pod/a" is not a Job`,
		"cronjob/":                           `"cronjob/" names no CronJob`,
		"a --indexes 3-1":                    "use numbers and ranges such as 3,7-9",
		"a --indexes 1 --failed-only":        "exclude each other",
		"a --wait --watch":                   "exclude each other",
		"a --timeout 3s":                     "--timeout is for --wait",
		"a --wait --dry-run=server":          "a dry run creates nothing to wait for",
		"a --dry-run=yes":                    "must be none, client or server",
		"a --backoff-limit -1":               "use 0 or more",
		"a --set-env X":                      "use NAME=VALUE, or NAME- to remove it",
		"a --limits memory=lots":             "is not a quantity",
		"a -p {} --patch-file f":             "exclude each other",
		"a --cause OOMKilled --indexes 1":    "--cause excludes --indexes and --failed-only",
		"a --cause=":                         "name a cause, such as OOMKilled",
		"a --memory 2":                       "--memory=2: use a factor or an amount, such as x2 or +4Gi",
		"a --memory x2 --limits memory=4Gi":  "--memory excludes the memory of --limits and --requests",
		"a --in-place --memory x2 --image i": "--in-place changes nothing but memory; leave out --image",
		"a --in-place --replace":             "--in-place changes nothing but memory; leave out --replace",
		"a --include-probable":               "--include-probable is for --cause and --memory",
	})
}

const changedJob = `apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  completions: 3
  completionMode: Indexed
  template:
    spec:
      initContainers: [{name: setup, image: s:1}]
      containers:
      - {name: main, image: m:1, env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}
      - {name: side, image: x:1}
`

// changed returns the Job with the changes of the flags.
func changed(t *testing.T, args ...string) (*unstructured.Unstructured, error) {
	t.Helper()
	job := &unstructured.Unstructured{}
	assert.NoError(t, yaml.Unmarshal([]byte(changedJob), &job.Object))
	data, err := job.MarshalJSON()
	assert.NoError(t, err)
	assert.NoError(t, job.UnmarshalJSON(data))
	c, cmd := &changes{}, &cobra.Command{}
	c.addTo(cmd)
	assert.NoError(t, cmd.ParseFlags(args))
	if err := c.validate(cmd.Flags()); err != nil {
		return nil, err
	}
	if err := c.read(strings.NewReader("")); err != nil {
		return nil, err
	}
	return job, c.apply(context.Background(), clitest.NewEnv(), job)
}

// Issue 18: the flags change only the fields that they name.
// Requirements: RTY-15
func TestChanges(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "edit")
	assert.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/m:1/edited/' \"$1\"\n"), 0o700))
	t.Setenv("KUBE_EDITOR", editor)
	for _, c := range []struct {
		args, path, want string
	}{
		{"--image m:2", "spec.template.spec.containers.0.image", "m:2"},
		{"--image m:2", "spec.template.spec.containers.1.image", "m:2"},
		{"--image m:2", "spec.template.spec.initContainers.0.image", "s:1"},
		{"--image side=y:2", "spec.template.spec.containers.0.image", "m:1"},
		{"--image side=y:2", "spec.template.spec.containers.1.image", "y:2"},
		{"--image setup=y:2 --image m:3", "spec.template.spec.initContainers.0.image", "y:2"},
		{"--image m:3 -c side", "spec.template.spec.containers.0.image", "m:1"},
		{"--set-env A=2 -c main", "spec.template.spec.containers.0.env.1.value", "2"},
		{"--set-env A-", "spec.template.spec.containers.0.env.0.name", "B"},
		{"--set-env C=x=y", "spec.template.spec.containers.1.env.0.value", "x=y"},
		{"--limits memory=4Gi,cpu=2 -c main", "spec.template.spec.containers.0.resources.limits.memory", "4Gi"},
		{"--requests cpu=500m", "spec.template.spec.containers.1.resources.requests.cpu", "500m"},
		{"--parallelism 7", "spec.parallelism", "7"},
		{"--backoff-limit-per-index 2", "spec.backoffLimitPerIndex", "2"},
		{`--patch {"spec":{"ttlSecondsAfterFinished":60}}`, "spec.ttlSecondsAfterFinished", "60"},
		{`--patch {"spec":{"template":{"spec":{"containers":[{"name":"side","image":"z"}]}}}}`, "spec.template.spec.containers.1.image", "z"},
		{"--edit", "spec.template.spec.containers.0.image", "edited"},
	} {
		job, err := changed(t, strings.Fields(c.args)...)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		assert.Equal(t, at(job.Object, c.path), c.want, c.args, c.path)
	}
	for args, text := range map[string]string{
		"--image nope=x":                     `the Job has no container "nope"; it has: setup, main, side`,
		"--set-env A=1 -c nope":              `the Job has no container "nope"`,
		`--patch {"spec":{"completions":4}}`: "a retry has the completions and the completionMode of the Job",
		"--patch [":                          "neither JSON nor YAML",
		"--patch-file /nonexistent":          "no such file",
	} {
		if _, err := changed(t, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// at returns the value at a path, as JSON without quotes.
func at(value any, path string) string {
	for step := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			value = v[int(step[0]-'0')]
		}
	}
	data, _ := yaml.Marshal(value)
	return strings.Trim(strings.TrimSpace(string(data)), `"`)
}
