//go:build compat

package compat

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/command"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tenant"
)

const patience = 4 * time.Minute

var (
	binary     string
	kubeconfig string
	client     kubernetes.Interface
	// minor is the API server's minor version.
	minor int
	root  = filepath.Join("..", "..", "..")
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// The tests mostly wait, above all for the back-off of the cluster's controller.
	if err := leash.InParallel("16"); err != nil {
		return complain(err)
	}
	if dir := os.Getenv("BATCHJOB_COMPAT_DIR"); dir != "" {
		kubeconfig = filepath.Join(dir, "kubeconfig")
	} else {
		cluster, err := leash.NewCluster(root, "compat")
		if err != nil {
			return complain(err)
		}
		defer func() {
			if err := cluster.Release(); err != nil {
				complain(err)
			}
		}()
		kubeconfig = cluster.Kubeconfig
		if err := cluster.Up(context.Background(), "--feature-gates", os.Getenv("BATCHJOB_COMPAT_GATES")); err != nil {
			return complain(err)
		}
	}
	if err := connect(); err != nil {
		return complain(err)
	}
	return m.Run()
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "compat:", err)
	return 1
}

func connect() (err error) {
	if binary, err = leash.Binary(root, "BATCHJOB_COMPAT_BINARY"); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	info, err := client.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	if want := os.Getenv("KUBE_VERSION"); want != "" && info.GitVersion != want {
		return fmt.Errorf("the API server is %s, want %s", info.GitVersion, want)
	}
	fmt.Fprintln(os.Stderr, "compat: Kubernetes", info.GitVersion)
	minor, err = strconv.Atoi(info.Minor)
	return err
}

// namespace creates a namespace for a test, with the service account that pods need.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := tenant.Namespace(t.Context(), client, metav1.ObjectMeta{GenerateName: "compat-"})
	assert.NoError(t, err)
	return ns
}

func eventually(t *testing.T, what string, reached func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) { return reached(ctx), nil })
	assert.NoError(t, err, what)
}

// plugin runs the binary in a namespace to completion.
func plugin(t *testing.T, ns string, args ...string) command.Result {
	t.Helper()
	r, err := command.Run(t.Context(), patience, "", binary, append(args, "--kubeconfig", kubeconfig, "-n", ns)...)
	assert.NoError(t, err, args)
	return r
}

// want runs the binary, which must exit with this code, print all of the parts on stdout, and print nothing on stderr,
// except for the progress of wait.
func want(t *testing.T, ns string, code int, parts []string, args ...string) command.Result {
	t.Helper()
	r := plugin(t, ns, args...)
	if r.Code != code || r.ErrOut != "" && args[0] != "wait" {
		t.Errorf("%v: exit code %d, want %d, stderr %q", args, r.Code, code, r.ErrOut)
	}
	text := strings.Join(strings.Fields(r.Out), " ")
	for _, part := range parts {
		assert.Contains(t, text, part, args, r.Out)
	}
	return r
}

var managedByLine = regexp.MustCompile(`(?m)^\s*managedBy:.*\n`)

// createExample creates the Jobs of an example with the plugin, for the cluster's own controller.
func createExample(t *testing.T, ns, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", file+".yaml"))
	assert.NoError(t, err)
	path := filepath.Join(t.TempDir(), "job.yaml")
	assert.NoError(t, os.WriteFile(path, managedByLine.ReplaceAll(text, nil), 0o600))
	if r := plugin(t, ns, "create", "--managed-by=", "-f", path); r.Code != 0 {
		t.Fatalf("create %s: exit code %d, %s", file, r.Code, r.ErrOut)
	}
}
