package status

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// threeJobs returns a cluster with the Jobs a, b and c in ns1 with 3, 20 and no succeeded pods; c has no status at
// all.
func threeJobs(t *testing.T) *clitest.API {
	t.Helper()
	c := clitest.SimpleJob("ns1", "c", 0)
	delete(c.Object, "status")
	c.SetLabels(map[string]string{"app": "c", "example.com/team": "ml"})
	return clitest.NewAPI(t, clitest.SimpleJob("ns1", "a", 3), clitest.SimpleJob("ns1", "b", 20), c)
}

// Issue 17: the list flags that users of kubectl expect.
func TestFlagsOfKubectlGet(t *testing.T) {
	api := threeJobs(t)
	for args, want := range map[string]string{
		"--sort-by .status.succeeded -o name":                                            "job.batch/c job.batch/a job.batch/b",
		"--sort-by {.status.succeeded} -o name":                                          "job.batch/c job.batch/a job.batch/b",
		"a b --sort-by status.startTime -o name":                                         "job.batch/a job.batch/b",
		"--field-selector metadata.name=b -o name":                                       "job.batch/b",
		"-o custom-columns=N:.metadata.name,DONE:{.status.succeeded},W:.stalled.reason":  "N DONE W a 3 <none> b 20 <none> c <none> NotReconciled",
		"-o custom-columns=N:.metadata.name --no-headers --sort-by .metadata.labels.app": "a b c",
		"a -o custom-columns=L:.metadata.labels.*,X:.status.conditions[0].type":          "L X a <none>",
		"--sort-by .stalled.kind -o custom-columns=K:.stalled.kind,NAME:.metadata.name":  "K NAME <none> a <none> b NotReconciled c",
	} {
		got := program.Run(t, api, append([]string{"status"}, strings.Fields(args)...)...)
		if out := strings.Join(strings.Fields(got.Out), " "); out != want || got.Code != 0 || got.ErrOut != "" {
			t.Errorf("%s: exit %d, %q, want %q; %q", args, got.Code, out, want, got.ErrOut)
		}
	}
	got := program.Run(t, api, "status", "-L", "example.com/team,app", "--show-labels")
	lines := strings.Split(strings.TrimSpace(got.Out), "\n")
	for i, want := range []string{"TEAM APP LABELS", "- a app=a", "- b app=b", "ml c app=c,example.com/team=ml"} {
		if line := strings.Join(strings.Fields(lines[i]), " "); !strings.HasSuffix(line, want) {
			t.Errorf("%q does not end with %q", line, want)
		}
	}
}

// Each flag reports an invalid value, and flags that it cannot be combined with.
func TestBadValuesOfListFlags(t *testing.T) {
	program.Rejects(t, threeJobs(t), "status", map[string]string{
		"--sort-by {.a":                      `"{.a" is not a JSONPath of a field, such as .metadata.name`,
		"--sort-by .a[":                      "--sort-by: ",
		"--sort-by .nope":                    "--sort-by .nope: no Job has the field",
		"--sort-by .metadata.name -w":        "--sort-by and --watch cannot be used together",
		"-o custom-columns":                  `"" is not a column`,
		"-o custom-columns=NAME":             `"NAME" is not a column: use custom-columns=HEADER:PATH`,
		"-o custom-columns=NAME:{":           "is not a JSONPath",
		"-L app -o json":                     "omit -o json",
		"--show-labels -o name":              "omit -o name",
		"--field-selector a":                 "--field-selector: ",
		"a --field-selector metadata.name=a": "name cannot be provided when a selector is specified",
	})
}

// If one Job was named, and does not exist or has no problem, no List is printed.
func TestOneJobIsNoList(t *testing.T) {
	api := threeJobs(t)
	for _, args := range []string{"nobody -o json", "a --problems -o json"} {
		if got := program.Run(t, api, append([]string{"status"}, strings.Fields(args)...)...); got.Out != "" {
			t.Errorf("%s: %q", args, got.Out)
		}
	}
}

// Text of the cluster is escaped in custom columns.
func TestCustomColumnsAreSafe(t *testing.T) {
	job := clitest.SimpleJob("ns1", "a", 1)
	_ = unstructured.SetNestedField(job.Object, "x\x1b[2J\ty", "metadata", "annotations", "note")
	got := program.Run(t, clitest.NewAPI(t, job), "status", "-o", "custom-columns=NOTE:.metadata.annotations.note", "--no-headers")
	if strings.ContainsAny(got.Out, "\x1b\t") || !strings.HasPrefix(got.Out, "x") {
		t.Errorf("%q", got.Out)
	}
}
