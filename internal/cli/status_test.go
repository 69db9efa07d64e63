package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestStatusTables(t *testing.T) {
	jobs := loadJobs(t)
	slices.Reverse(jobs) // the output is sorted
	api := newFakeAPI(t, jobs...)
	all := program.run(t, api, "status", "-A")
	if all.code != 0 || all.errOut != "" {
		t.Fatalf("exit %d, stderr %q", all.code, all.errOut)
	}
	golden(t, "status-all.golden", all.out)

	one := program.run(t, api, "status", "-n", "ns2", "--no-headers")
	if lines := strings.Split(strings.TrimSpace(one.out), "\n"); len(lines) != 1 || !strings.HasPrefix(lines[0], "j-hostile ") {
		t.Errorf("-n ns2 --no-headers: %q", one.out)
	}
	if full := program.run(t, api, "status", "e-failed", "-o", "wide", "--full"); !strings.Contains(full.out, "18-19,41-49") {
		t.Errorf("--full: %q", full.out)
	}
	if wide := program.run(t, api, "status", "e-failed", "-o", "wide"); !strings.Contains(wide.out, "FailedIndexes") || !strings.Contains(wide.out, "IMAGES") {
		t.Errorf("-o wide: %q", wide.out)
	}
}

func TestStatusNone(t *testing.T) {
	api := newFakeAPI(t)
	for _, tc := range []struct{ args, out, errOut string }{
		{"status", "", "No jobs found in ns1 namespace.\n"},
		{"status -n other", "", "No jobs found in other namespace.\n"},
		{"status -A", "", "No jobs found.\n"},
		{"status -o name", "", "No jobs found in ns1 namespace.\n"},
	} {
		got := program.run(t, api, strings.Fields(tc.args)...)
		if got.code != 0 || got.out != tc.out || got.errOut != tc.errOut {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", tc.args, got.code, got.out, got.errOut)
		}
	}
	got := program.run(t, api, "status", "-o", "json")
	if list := decodeList(t, got.out); len(list.Items) != 0 || got.errOut != "" {
		t.Errorf("an empty List: %q, %q", got.out, got.errOut)
	}
}

func decodeList(t *testing.T, data string) *unstructured.UnstructuredList {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	if err := json.Unmarshal([]byte(data), list); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	if list.GetKind() != "List" || list.GetAPIVersion() != "v1" {
		t.Errorf("kind %q, apiVersion %q", list.GetKind(), list.GetAPIVersion())
	}
	return list
}

func TestStatusNamed(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "b", 2), simpleJob("ns2", "c", 3))
	got := program.run(t, api, "status", "job.batch/b", "jobs/missing", "a", "job/a", "c", "--no-headers", "-o", "name")
	if got.out != "job.batch/a\njob.batch/b\n" {
		t.Errorf("stdout %q", got.out)
	}
	if got.code != exitError || kindOf(got.err) != kindNotFound || strings.Count(got.errOut, "\n") != 2 ||
		!strings.Contains(got.errOut, `"missing"`) || !strings.Contains(got.errOut, `"c"`) {
		t.Errorf("exit %d, stderr %q", got.code, got.errOut)
	}
}

func TestStatusSelector(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 1), simpleJob("ns1", "b", 2), simpleJob("ns2", "b", 3))
	got := program.run(t, api, "status", "-A", "-l", "app=b", "-o", "jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}")
	if got.out != "ns1/b ns2/b " || got.code != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", got.code, got.out, got.errOut)
	}
}

func TestStatusObjectsAreIntact(t *testing.T) {
	job := simpleJob("ns1", "a", 1)
	job.Object["spec"].(map[string]any)["fieldOfTheFuture"] = map[string]any{"x": "\x1b\u202e", "n": int64(1 << 60)}
	job.SetManagedFields(nil)
	metadata := job.Object["metadata"].(map[string]any)
	metadata["managedFields"] = []any{map[string]any{"manager": "m"}}
	api := newFakeAPI(t, job, simpleJob("ns1", "b", 1))
	for _, format := range []string{"json", "yaml"} {
		for _, args := range [][]string{{"a"}, {"a", "b"}, {}} {
			got := program.run(t, api, append([]string{"status", "-o", format}, args...)...)
			object := &unstructured.Unstructured{}
			data, err := yaml.YAMLToJSON([]byte(got.out))
			if err != nil {
				t.Fatalf("%s %v: %v", format, args, err)
			}
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
	if got := program.run(t, api, "status", "a", "-o", "json", "--show-managed-fields"); !strings.Contains(got.out, "managedFields") {
		t.Error("--show-managed-fields has no effect")
	}
}

func TestStatusReadsInChunks(t *testing.T) {
	var jobs []*unstructured.Unstructured
	for i := range 1201 {
		jobs = append(jobs, simpleJob("ns1", fmt.Sprintf("job-%04d", i), 0))
	}
	api := newFakeAPI(t, jobs...)
	got := program.run(t, api, "status", "-o", "name")
	if n := strings.Count(got.out, "\n"); n != 1201 || got.code != 0 {
		t.Errorf("%d lines, exit %d", n, got.code)
	}
	if len(api.lists) != 3 {
		t.Errorf("%d requests", len(api.lists))
	}
}

// Only get, list and watch of jobs are ever asked for; of pods and events too for the summary of one Job.
func TestStatus_CLI_08_readsOnly(t *testing.T) {
	api := newFakeAPI(t, simpleJob("ns1", "a", 0))
	api.setRefuse(func(r *http.Request) *fakeStatus {
		if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/apis/batch/v1/") && !strings.HasSuffix(r.URL.Path, "/pods") && !strings.HasSuffix(r.URL.Path, "/events") {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		return nil
	})
	for _, args := range []string{"status", "status a", "status -A -o json", "status -o wide"} {
		if got := program.run(t, api, strings.Fields(args)...); got.code != 0 {
			t.Errorf("%s: exit %d, %s", args, got.code, got.errOut)
		}
	}
}

func TestStatusServerErrors(t *testing.T) {
	for _, tc := range []struct {
		args   string
		answer fakeStatus
		kind   errorKind
		parts  []string
	}{
		{"status", fakeStatus{403, "Forbidden", `jobs.batch is forbidden: User "eve\x1b"`}, kindForbidden, []string{"list", "jobs.batch", `"ns1"`}},
		{"status a b", fakeStatus{403, "Forbidden", "jobs.batch is forbidden"}, kindForbidden, []string{"get", "jobs.batch", `"ns1"`}},
		{"status -A", fakeStatus{403, "Forbidden", "jobs.batch is forbidden"}, kindForbidden, []string{"list", "all namespaces"}},
		{"status -w", fakeStatus{403, "Forbidden", "jobs.batch is forbidden"}, kindForbidden, []string{"list"}},
		{"status", fakeStatus{401, "Unauthorized", "Unauthorized"}, kindCredentials, nil},
		{"status", fakeStatus{500, "InternalError", "etcd \x1b[0m\nis away"}, kindServerFailed, []string{"etcd", `\x1b`}},
		{"status", fakeStatus{404, "NotFound", "the server could not find the requested resource"}, kindNotFound, nil},
	} {
		api := newFakeAPI(t)
		api.setRefuse(func(*http.Request) *fakeStatus { return &tc.answer })
		got := program.run(t, api, strings.Fields(tc.args)...)
		if got.code != exitError || kindOf(got.err) != tc.kind || got.out != "" {
			t.Errorf("%s, %d: exit %d, kind %s, stdout %q", tc.args, tc.answer.code, got.code, kindOf(got.err), got.out)
		}
		if strings.Count(got.errOut, "\n") != 1 || strings.Contains(got.errOut, "\x1b") {
			t.Errorf("%s, %d: stderr %q", tc.args, tc.answer.code, got.errOut)
		}
		for _, part := range tc.parts {
			if !strings.Contains(got.errOut, part) {
				t.Errorf("%s, %d: %q does not name %q", tc.args, tc.answer.code, got.errOut, part)
			}
		}
	}
}

func TestStatusShowsServerWarningsSafely(t *testing.T) {
	var b strings.Builder
	w := &warningWriter{out: &b, seen: map[string]bool{}}
	w.HandleWarningHeader(299, "-", "old\x1b[2J")
	w.HandleWarningHeader(299, "-", "old\x1b[2J")
	w.HandleWarningHeader(199, "-", "other")
	if got := b.String(); got != "Warning: old\\x1b[2J\n" {
		t.Errorf("%q", got)
	}
}
