// Package e2e runs the real binary on a kwok cluster: a real API server, a real kube-controller-manager beside ours, and
// simulated nodes that follow the annotations of examples/README.md.
//
// All tests share one cluster and run in parallel, each in a namespace of its own. One controller with the default
// managedBy value serves them; a test that stops, configures or restarts a controller starts its own, with a managedBy
// value of its own. All controllers run outside of the cluster with the token of the ServiceAccount of config/default,
// which is applied first. The API server logs their requests: in the end none must have been rejected, and every
// permission must have been used (JOB-48).
//
// In every test, a history records every version of every Job and pod of the cluster. When all tests are done it is
// checked against the invariants of a Job controller, the rules of a Job's status and of podReplacementPolicy, and of
// who may write where (verdict_test.go, audit_test.go). Any violation fails the whole run (STV-25).
//
// These environment variables help to find out why a test fails:
//
//	BATCHJOB_E2E_BINARY   another binary than bin/kubectl-batchjob
//	BATCHJOB_E2E_FLAGS    flags for the shared controller, such as -v=5
//	BATCHJOB_E2E_TRACE    a file for the history of every namespace and all logs
package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

var (
	// binary is the path of kubectl-batchjob.
	binary string
	// kubectl is the path of the control plane's kubectl.
	kubectl string
	// kubeconfig is the administrator's kubeconfig of this run's cluster.
	kubeconfig string
	client     kubernetes.Interface
	// past is the history of the cluster.
	past *chronicle
	// audits checks the history.
	audits = newAuditor()
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if err := leash.InParallel("24"); err != nil {
		return complain(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		return complain(err)
	}
	if binary, err = leash.Binary(root, "BATCHJOB_E2E_BINARY"); err != nil {
		return complain(err)
	}
	cluster, err := leash.NewCluster(root, "e2e")
	if err != nil {
		return complain(err)
	}
	defer func() {
		if err := cluster.Release(); err != nil {
			complain(err)
		}
	}()
	kubeconfig = cluster.Kubeconfig
	if err := start(cluster); err != nil {
		return complain(err)
	}
	code := audited(root, cluster.Dir, m.Run)
	for _, problem := range permissionVerdict(root, cluster.Dir) {
		code = complain(fmt.Errorf("verdict: %s", problem))
	}
	return code
}

// audited runs the tests between the start of the history and the verdict about it.
func audited(root, dir string, tests func() int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	audits.requests = newPodRequests(filepath.Join(dir, "audit.log"))
	if past, err = startHistory(ctx, dir); err != nil {
		return complain(err)
	}
	if err := install(ctx, root, dir); err != nil {
		return complain(err)
	}
	flags := append(strings.Fields(os.Getenv("BATCHJOB_E2E_FLAGS")), "--leader-elect", "--leader-elect-resource-namespace", systemNamespace)
	shared, err := launch(ctx, flags...) // Verbs look for the Lease.
	if err != nil {
		return complain(err)
	}
	defer shared.Kill()
	code := tests()
	if file := os.Getenv("BATCHJOB_E2E_TRACE"); file != "" {
		if err := writeTrace(file); err != nil {
			complain(err)
		}
	}
	if problems := verdict(ctx, shared); len(problems) > 0 {
		for _, p := range problems {
			complain(fmt.Errorf("verdict: %s", p))
		}
		return 1
	}
	return code
}

// writeTrace writes the history and the controllers' logs to a file.
func writeTrace(file string) error {
	var b strings.Builder
	for _, namespace := range past.namespaces() {
		fmt.Fprintf(&b, "namespace %s\n%s\n", namespace, past.trace(namespace))
	}
	for i, p := range launched() {
		fmt.Fprintf(&b, "controller %d: %q\n%s\n", i, p.Args, p.Stderr.String())
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// start starts the cluster, and creates the clients of all tests.
func start(c *leash.Cluster) error {
	if err := c.Up(context.Background(), "--audit", systemUser); err != nil {
		return err
	}
	binaries, err := leash.ControlPlane(context.Background(), c.Root, "path")
	if err != nil {
		return err
	}
	kubectl = filepath.Join(binaries, "kubectl")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, 0
	client, err = kubernetes.NewForConfig(config)
	return err
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "e2e:", err)
	return 1
}
