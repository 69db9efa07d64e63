package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const indexHead = `# Recorded Jobs

Jobs with their pods and events (and the Lease of our controller) as an API server served them.
` + "`make fixtures`" + ` records them again: real runs on a kwok cluster, by our controller (` + "`NAME.yaml`" + `) and by the one
built into Kubernetes (` + "`NAME.builtin.yaml`" + `). Do not edit them, or this table, by hand: see test/world/record.

Each file is a ` + "`v1 List`" + `, after two comments: the time of the recording, by the API server's clock, and the
situation. The managedFields of Jobs keep only who wrote which part, and when; those of pods and events are removed.

| fixture | what happened | the Job's status |
|---|---|---|
`

// writeIndex writes the table of all existing fixtures.
func writeIndex(out string) error {
	var b strings.Builder
	b.WriteString(indexHead)
	for _, t := range takesOf(scenarios(), regexp.MustCompile("")) {
		reached, err := reachedIn(filepath.Join(out, t.file()))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.file(), err)
		}
		what := t.what
		if t.isBuiltin {
			what = "the same, by the built-in controller"
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", strings.TrimSuffix(t.file(), ".yaml"), t.file(), strings.ReplaceAll(what, "|", "\\|"), reached)
	}
	return os.WriteFile(filepath.Join(out, "README.md"), []byte(b.String()), 0o644)
}

// reachedIn returns a one-line summary of the status of the fixture's Jobs.
func reachedIn(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var list struct{ Items []json.RawMessage }
	if err := yaml.Unmarshal(data, &list); err != nil {
		return "", err
	}
	var lines []string
	for _, item := range list.Items {
		var job batchv1.Job
		// Other objects may fail to decode as a Job.
		if err := json.Unmarshal(item, &job); err == nil && job.Kind == "Job" {
			lines = append(lines, summary(job.Status))
		}
	}
	return strings.Join(lines, "; "), nil
}

func summary(s batchv1.JobStatus) string {
	var parts []string
	for _, c := range s.Conditions {
		text := "`" + string(c.Type)
		if c.Status != corev1.ConditionTrue {
			text += "=" + string(c.Status)
		}
		if c.Reason != "" {
			text += "/" + c.Reason
		}
		parts = append(parts, text+"`")
	}
	number := func(what string, n int32) {
		if n > 0 {
			parts = append(parts, fmt.Sprint(what, " ", n))
		}
	}
	number("active", s.Active)
	number("terminating", value(s.Terminating))
	number("succeeded", s.Succeeded)
	number("failed", s.Failed)
	if s.CompletedIndexes != "" {
		parts = append(parts, "completedIndexes "+s.CompletedIndexes)
	}
	if s.FailedIndexes != nil && *s.FailedIndexes != "" {
		parts = append(parts, "failedIndexes "+*s.FailedIndexes)
	}
	if len(parts) == 0 {
		return "empty"
	}
	return strings.Join(parts, ", ")
}
