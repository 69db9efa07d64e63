// Package testcluster runs tests on a kwok cluster: a real API server, a real kube-controller-manager beside ours, and simulated
// nodes that follow the annotations of examples/README.md. The end-to-end tests and the soak are such tests.
//
// One controller with the default managedBy value serves them. All controllers run outside of the cluster with the token of the
// ServiceAccount of config/default, which is applied first. The API server logs their requests: in the end none must have been
// rejected, and every permission must have been used (JOB-48).
//
// In every test, a history records every version of every Job and pod of the cluster. When all tests are done it is checked against
// the invariants of a Job controller, the rules of a Job's status and of podReplacementPolicy, and of who may write where. Any
// violation fails the whole run (STV-25).
//
// These environment variables help to find out why a test fails:
//
//	BATCHJOB_E2E_BINARY   another binary than bin/kubectl-batchjob
//	BATCHJOB_E2E_FLAGS    flags for the shared controller, such as -v=5
//	BATCHJOB_E2E_TRACE    a file for the history of every namespace and all logs
package testcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// Cluster is the cluster of a run.
type Cluster struct {
	*leash.Cluster
	// Binary is the path of kubectl-batchjob, Kubectl that of the control plane's kubectl.
	Binary, Kubectl string
	// AccountKubeconfig contains only a token of the ServiceAccount of config/default: the controllers of these tests have exactly the
	// permissions of an installed one.
	AccountKubeconfig string
	Client            kubernetes.Interface
	// Past is the history of the cluster.
	Past *history.Log
	// Disturbed reports whether the API server was disturbed at a time, and may have rejected requests that it allows.
	Disturbed func(time.Time) bool

	name     string
	auditor  *auditor
	mu       sync.Mutex
	launched []*Process
}

// Run starts a cluster, runs the tests, and returns their exit code. follow begins to record the history.
func Run(name, parallel string, follow func(context.Context, *Cluster) error, tests func(*Cluster) int) int {
	c := &Cluster{name: name, Past: history.NewLog(), Disturbed: func(time.Time) bool { return false }}
	if err := leash.InParallel(parallel); err != nil {
		return c.complain(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		return c.complain(err)
	}
	if c.Binary, err = leash.Binary(root, "BATCHJOB_E2E_BINARY"); err != nil {
		return c.complain(err)
	}
	if c.Cluster, err = leash.NewCluster(root, name); err != nil {
		return c.complain(err)
	}
	defer func() {
		if err := c.Release(); err != nil {
			c.complain(err)
		}
	}()
	if err := c.start(); err != nil {
		return c.complain(err)
	}
	code := c.audited(follow, tests)
	for _, problem := range c.permissionVerdict() {
		code = c.complain(fmt.Errorf("verdict: %s", problem))
	}
	return code
}

// start starts the cluster, and creates the client of all tests.
func (c *Cluster) start() error {
	if err := c.Up(context.Background(), "--audit", SystemUser); err != nil {
		return err
	}
	binaries, err := leash.ControlPlane(context.Background(), c.Root, "path")
	if err != nil {
		return err
	}
	c.Kubectl = filepath.Join(binaries, "kubectl")
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = -1, 0
	c.Client, err = kubernetes.NewForConfig(config)
	return err
}

// audited runs the tests between the start of the history and the verdict about it.
func (c *Cluster) audited(follow func(context.Context, *Cluster) error, tests func(*Cluster) int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.auditor = newAuditor(filepath.Join(c.Dir, "audit.log"))
	if err := follow(ctx, c); err != nil {
		return c.complain(err)
	}
	if err := c.install(ctx); err != nil {
		return c.complain(err)
	}
	flags := append(strings.Fields(os.Getenv("BATCHJOB_E2E_FLAGS")), "--leader-elect", "--leader-elect-resource-namespace", SystemNamespace)
	shared, err := c.Launch(ctx, c.Binary, nil, flags...) // Verbs look for the Lease.
	if err != nil {
		return c.complain(err)
	}
	defer shared.Kill()
	code := tests(c)
	if file := os.Getenv("BATCHJOB_E2E_TRACE"); file != "" {
		if err := c.writeTrace(file); err != nil {
			c.complain(err)
		}
	}
	for _, problem := range c.verdict(ctx, shared) {
		code = c.complain(fmt.Errorf("verdict: %s", problem))
	}
	return code
}

// writeTrace writes the history and the controllers' logs to a file.
func (c *Cluster) writeTrace(file string) error {
	var b strings.Builder
	for _, namespace := range c.Past.Namespaces() {
		fmt.Fprintf(&b, "namespace %s\n%s\n", namespace, c.Past.Trace(namespace))
	}
	for i, p := range c.Launched() {
		fmt.Fprintf(&b, "controller %d: %q\n%s\n", i, p.Args, p.Stderr.String())
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

func (c *Cluster) complain(err error) int {
	fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
	return 1
}

// Audit replays the history of a namespace, and returns the violations. A namespace must not be audited twice.
func (c *Cluster) Audit(namespace string, versions []history.Version) []string {
	for _, p := range c.Launched() {
		c.auditor.territory.Own(p.managedBy())
	}
	return c.auditor.audit(namespace, versions)
}

// Territory counts the Jobs that were audited, by their controller.
func (c *Cluster) Territory() *invariants.Territory { return c.auditor.territory }

// Excused returns the number of violations that requests excused.
func (c *Cluster) Excused() int { return c.auditor.excused }

// install applies config/default. kwok simulates its pods, like all pods here; the working controllers are processes
// with the account's token.
func (c *Cluster) install(ctx context.Context) error {
	if output, err := exec.CommandContext(ctx, c.Kubectl, "--kubeconfig", c.Kubeconfig, "apply", "-k", filepath.Join(c.Root, "config", "default")).CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply -k config/default: %w\n%s", err, output)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)}}
	answer, err := c.Client.CoreV1().ServiceAccounts(SystemNamespace).CreateToken(ctx, SystemAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("asking for a token of %s: %w", SystemUser, err)
	}
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		return err
	}
	current := config.Contexts[config.CurrentContext]
	current.Namespace = SystemNamespace
	config.AuthInfos[current.AuthInfo] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	c.AccountKubeconfig = filepath.Join(c.Dir, "account-kubeconfig")
	return clientcmd.WriteToFile(*config, c.AccountKubeconfig)
}
