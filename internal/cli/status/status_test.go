package status

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

func TestStatusTables(t *testing.T) {
	jobs := clitest.LoadJobs(t)
	slices.Reverse(jobs) // the output is sorted
	api := clitest.NewAPI(t, jobs...)
	all := program.Run(t, api, "status", "-A")
	if all.Code != 0 || all.ErrOut != "" {
		t.Fatalf("exit %d, stderr %q", all.Code, all.ErrOut)
	}
	clitest.Golden(t, "../../shared/jobprinter/testdata/status-all.golden", all.Out)

	one := program.Run(t, api, "status", "-n", "ns2", "--no-headers")
	if lines := strings.Split(strings.TrimSpace(one.Out), "\n"); len(lines) != 1 || !strings.HasPrefix(lines[0], "j-hostile ") {
		t.Errorf("-n ns2 --no-headers: %q", one.Out)
	}
	assert.Contains(t, program.Run(t, api, "status", "e-failed", "-o", "wide", "--full").Out, "18-19,41-49")
	if wide := program.Run(t, api, "status", "e-failed", "-o", "wide"); !strings.Contains(wide.Out, "FailedIndexes") || !strings.Contains(wide.Out, "IMAGES") {
		t.Errorf("-o wide: %q", wide.Out)
	}
}

func decodeList(t *testing.T, data string) *unstructured.UnstructuredList {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	assert.NoError(t, json.Unmarshal([]byte(data), list), data)
	if list.GetKind() != "List" || list.GetAPIVersion() != "v1" {
		t.Errorf("kind %q, apiVersion %q", list.GetKind(), list.GetAPIVersion())
	}
	return list
}

func TestStatusObjectsAreIntact(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 1)
	job.Object["spec"].(map[string]any)["fieldOfTheFuture"] = map[string]any{"x": "\x1b\u202e", "n": int64(1 << 60)}
	job.SetManagedFields(nil)
	metadata := job.Object["metadata"].(map[string]any)
	metadata["managedFields"] = []any{map[string]any{"manager": "m"}}
	api := clitest.NewAPI(t, job, clitest.SimpleJob("ns1", "b", 1))
	for _, format := range []string{"json", "yaml"} {
		for _, args := range [][]string{{"a"}, {"a", "b"}, {}} {
			got := program.Run(t, api, append([]string{"status", "-o", format}, args...)...)
			object := &unstructured.Unstructured{}
			data, err := yaml.YAMLToJSON([]byte(got.Out))
			assert.NoError(t, err, format, args)
			if len(args) == 1 {
				err = object.UnmarshalJSON(data)
			} else {
				list := decodeList(t, string(data))
				if len(list.Items) != 2 {
					t.Fatalf("%s %v: %d items", format, args, len(list.Items))
				}
				object = &list.Items[0]
			}
			if err != nil || object.GetKind() != "Job" || object.GetAPIVersion() != "batch/v1" {
				t.Errorf("%s %v: %v, kind %q", format, args, err, object.GetKind())
			}
			future, _, _ := unstructured.NestedMap(object.Object, "spec", "fieldOfTheFuture")
			if future["x"] != "\x1b\u202e" || future["n"] != int64(1<<60) {
				t.Errorf("%s %v: %v", format, args, future)
			}
			if object.GetManagedFields() != nil {
				t.Errorf("%s %v: managedFields are shown", format, args)
			}
		}
	}
	if got := program.Run(t, api, "status", "a", "-o", "json", "--show-managed-fields"); !strings.Contains(got.Out, "managedFields") {
		t.Error("--show-managed-fields has no effect")
	}
}

func TestStatusReadsInChunks(t *testing.T) {
	var jobs []*unstructured.Unstructured
	for i := range 1201 {
		jobs = append(jobs, clitest.SimpleJob("ns1", fmt.Sprintf("job-%04d", i), 0))
	}
	api := clitest.NewAPI(t, jobs...)
	got := program.Run(t, api, "status", "-o", "name")
	if n := strings.Count(got.Out, "\n"); n != 1201 || got.Code != 0 {
		t.Errorf("%d lines, exit %d", n, got.Code)
	}
	assert.Equal(t, len(api.Lists), 3, "requests")
}
