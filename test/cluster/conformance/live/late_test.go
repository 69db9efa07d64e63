package live

import (
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
)

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
	if err := kubelet.Close(); err != nil {
		t.Error(err)
	}
	assert.NoError(t, err)
	return results
}
