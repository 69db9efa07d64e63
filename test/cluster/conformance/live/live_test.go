package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/cases"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/pods"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// result is a case in a report, as printed by -o json.
type result struct {
	Name     string
	Result   string
	Why      string
	Problems []struct{ Expected, Seen string }
}

// check runs the suite and returns the results by case, and the exit code.
func check(t *testing.T, args ...string) (results map[string]result, code int) {
	t.Helper()
	args = append([]string{"--kubeconfig", kubeconfig, "-o", "json"}, args...)
	if testing.Short() {
		args = append(args, "--fast")
	}
	cmd := leash.Command(conformance, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	var report struct{ Cases []result }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &errOut)
	}
	results = map[string]result{}
	for _, r := range report.Cases {
		results[r.Name] = r
	}
	return results, cmd.ProcessState.ExitCode()
}

// wantFailures checks which cases failed.
func wantFailures(t *testing.T, results map[string]result, want ...string) {
	t.Helper()
	var got []string
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		if r.Result == "fail" {
			got = append(got, name)
			if !slices.Contains(want, name) {
				t.Errorf("%s failed: %+v", name, r.Problems)
			}
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s passed", name)
		}
	}
	if len(results) < 10 {
		t.Errorf("only %d cases ran", len(results))
	}
}

// start runs a controller until the test ends, and returns when the controller reconciles Jobs.
func start(t *testing.T, program string, args ...string) {
	t.Helper()
	c, err := leash.Start(t.Context(), program, nil, append(args, "--kubeconfig", kubeconfig)...)
	assert.NoError(t, err)
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() {
			t.Logf("the log of the controller:\n%.5000s", c.Stderr.String())
		}
	})
}

// Requirements: CNF-05
func TestBuiltInControllerConforms(t *testing.T) {
	results, code := check(t)
	wantFailures(t, results)
	assert.Equal(t, code, 0, "exit code")
}

// The cases cover the requirements below, which no other test covers.
// Requirements: BLI-29, BLI-38, JOB-17, JOB-41, JOB-43, JOB-44, PRP-20, PRP-21, SUC-24, TRK-31, TRK-32, CNF-06
func TestOurControllerConforms(t *testing.T) {
	const name = "conformance.example.com/ours"
	start(t, ours, "controller", "--managed-by", name, "--metrics-bind-address", "0", "--health-probe-bind-address", "0")
	results, code := check(t, "--managed-by", name)
	wantFailures(t, results)
	assert.Equal(t, code, 0, "exit code")
}

// The suite finds each planted bug, in exactly the cases that test for it.
// Requirements: CNF-07
func TestBrokenControllersFail(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	for bug, want := range map[string][]string{
		"ignores-managed-by": {"managed-by-somebody-else", "managed-by-built-in", "recreated-for-somebody-else", "pods-of-somebody-else"},
		"ignores-per-index-limits": {
			"per-index-limit", "per-index-limit-zero", "per-index-failure-count", "per-index-success-after-failure", "max-failed-indexes",
			"max-failed-indexes-changes", "fail-index", "per-index-and-global-limit", "failed-indexes-format", "success-policy-after-failures",
			"per-index-deleted-pod", "per-index-terminating-pod", "per-index-failed-pod-deleted", "every-end-waits-for-pods",
		},
		"releases-early": {"history-recorded-first"},
	} {
		t.Run(bug, func(t *testing.T) {
			name := "conformance.example.com/" + bug
			start(t, broken, "--managed-by", name, "--break", bug)
			results, code := check(t, "--managed-by", name)
			wantFailures(t, results, want...)
			assert.Equal(t, code, 1, "exit code")
		})
	}
}

// afterBackoff is longer than all back-offs.
const afterBackoff = time.Hour

// The cases do not depend on speed: they pass on a node that reports each failure after the end of its back-off.
// Requirements: CNF-05, CNF-06
func TestCasesPassOnANodeThatReportsLate(t *testing.T) {
	const name = "conformance.example.com/late"
	start(t, ours, "controller", "--managed-by", name, "--metrics-bind-address", "0", "--health-probe-bind-address", "0")
	for of, managedBy := range map[string]string{"built-in": "", "ours": name} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			for _, r := range runLate(t, "late-"+of, managedBy) {
				if r.Outcome == suite.Fail {
					t.Errorf("%s failed: %+v", r.Case.Name, r.Problems)
				}
			}
		})
	}
}

// runLate runs the cases in a new namespace, on a new node of the same name.
func runLate(t *testing.T, namespace, managedBy string) []suite.Result {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	assert.NoError(t, err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	assert.NoError(t, err)
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kubelet, err := pods.NewSimulated(t.Context(), client, namespace)
	assert.NoError(t, err)
	kubelet.Late = afterBackoff
	chosen := slices.DeleteFunc(cases.All(), func(c suite.Case) bool { return testing.Short() && c.Slow })
	results, err := suite.Run(t.Context(), suite.Config{
		Client: client, Namespace: namespace, ManagedBy: managedBy, Kubelet: kubelet, Timeout: 2 * time.Minute, Parallel: 16,
	}, chosen, func(suite.Result) {})
	assert.NoError(t, kubelet.Close())
	assert.NoError(t, err)
	return results
}
