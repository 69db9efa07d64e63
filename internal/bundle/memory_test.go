//go:build measure && !race

// Large files take ten times as long with the race detector, which cannot find anything: one goroutine reads them.

package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// A small file that would become large in memory is refused with the reason, before it is decoded.
// Requirements: BUN-09
func TestSmallFilesDoNotFillTheMemory(t *testing.T) {
	const many = 3_000_000
	list := func(s string, n int) string { return "[" + strings.Repeat(s+",", n) + s + "]" }
	manifest := file{manifestFile, []byte(`{"kind":"JobBundle"}`)}
	job := func(spec string) file {
		return file{jobFile, []byte(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"a"},"spec":` + spec + `}`)}
	}
	podOf := func(containers string) string { return `{"spec":{"containers":` + containers + `}}` }
	heading := fmt.Sprintf(`{"kind":%q,"apiVersion":%q}`+"\n", snapshot.KindRecording, explain.APIVersion)
	for name, files := range map[string][]file{
		"containers of a pod":       {{podsFile, []byte("[" + podOf(list("{}", many)) + "]")}},
		"pods with containers":      {{podsFile, []byte(list(podOf(list("{}", 1000)), 3000))}},
		"null pods":                 {{podsFile, []byte(list("null", many))}},
		"events":                    {{eventsFile, []byte(list(`{"series":{}}`, many))}},
		"nodes":                     {{nodesFile, []byte(list(`{"status":{"images":`+list("{}", 1000)+`}}`, 10_000))}},
		"relatives":                 {{relativesFile, []byte(list("{}", many))}},
		"pods of a relative":        {{relativesFile, []byte(`[{"pods":` + list("{}", many) + `}]`)}},
		"containers of a relative":  {{relativesFile, []byte(`[{"job":{"spec":{"template":` + podOf(list("{}", 2_000_000)) + `}}}]`)}},
		"containers of the Job":     {job(`{"template":` + podOf(list("{}", 1_500_000)) + `}`)},
		"nulls in the Job":          {job(`{"template":` + podOf(list("null", 1_500_000)) + `}`)},
		"maps in the Job":           {job(list(`{"a":{}}`, 800_000))},
		"gaps":                      {{manifestFile, []byte(`{"kind":"JobBundle","gaps":` + list("{}", 2_500_000) + `}`)}},
		"lines of logs":             logsOf(strings.Repeat("\n", maxLog)),
		"an endless value":          {{podsFile, []byte(`["` + strings.Repeat("x", 100<<20) + `"]`)}},
		"an endless recording":      {manifest, job("{}"), {recordingFile, []byte(heading + strings.Repeat(" ", 100<<20))}},
		"deep nesting":              {{podsFile, []byte("[" + strings.Repeat(`{"metadata":`, 1_000_000))}},
		"Jobs of a recording":       {manifest, job("{}"), {recordingFile, []byte(heading + `{"jobs":{"items":` + list("{}", many) + `}}`)}},
		"problems in a recording":   {manifest, job("{}"), {recordingFile, []byte(heading + `{"job":{"report":{"problems":` + list("{}", many) + `}}}`)}},
		"lines of logs a recording": {manifest, job("{}"), {recordingFile, []byte(heading + `{"log":{"lines":` + list("{}", many) + `}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			archive := archived(t, files...)
			var err error
			measure.CheckAllocated(t, maxAllocated, func() { err = readAll(archive) })
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

// Objects that just fit leave no room for logs: then pods are left out to make room. Without pods, logs are left out.
// Requirements: BUN-07, BUN-09
func TestPodsAreCutForLogs(t *testing.T) {
	c := simple("exit 1")
	large := c.Pods[0]
	large.Spec.Volumes = make([]corev1.Volume, 2_000)
	c.Pods, c.Logs = []corev1.Pod{large}, nil
	one := newReading()
	data, err := json.Marshal(c.Pods)
	if err == nil {
		err = one.read(podsFile, bytes.NewReader(data))
	}
	assert.NoError(t, err)
	c.Pods = slices.Repeat(c.Pods, int((maxMemory-10<<20)/(maxMemory-one.left)))
	setLogs := func(n int, line string) {
		c.Logs = nil
		for i := range n {
			c.Logs = append(c.Logs, Log{Pod: "train-a", Container: fmt.Sprint("c", i), Lines: slices.Repeat([]string{line}, maxLog/(len(line)+1))})
		}
	}
	setLogs(50, strings.Repeat("x", 127))
	read, _, err := readable(c, nil)
	assert.NoError(t, err)
	cut := strings.Join(read.Manifest.Cut, ",")
	if read.Manifest.PodsRead || len(read.Logs) != 50 || len(read.Pods) == 0 || cut != fmt.Sprintf("%d pods that would take too much memory", len(c.Pods)-len(read.Pods)) {
		t.Errorf("%d pods, %d logs, cut %q", len(read.Pods), len(read.Logs), cut)
	}
	c.Pods = nil
	setLogs(40, "")
	if read, _, err = readable(c, nil); err != nil {
		t.Fatal(err)
	}
	cut = strings.Join(read.Manifest.Cut, ",")
	if !read.Manifest.PodsRead || len(read.Logs) == 0 || cut != fmt.Sprintf("%d logs that would take too much memory", 40-len(read.Logs)) {
		t.Errorf("%d logs, cut %q", len(read.Logs), cut)
	}
}
