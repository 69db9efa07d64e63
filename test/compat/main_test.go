//go:build compat

package compat

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/test/command"
)

const patience = 4 * time.Minute

var (
	binary     string
	kubeconfig string
	client     kubernetes.Interface
	// minor is that of the API server.
	minor int
	root  = filepath.Join("..", "..")
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	// The tests mostly wait, for the back-off of the cluster's controller above all.
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		return 1
	}
	dir, stop, err := cluster()
	defer stop()
	if err == nil {
		err = connect(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		return 1
	}
	return m.Run()
}

// cluster starts one, unless there is one.
func cluster() (dir string, stop func(), err error) {
	if dir := os.Getenv("BATCHJOB_COMPAT_DIR"); dir != "" {
		return dir, func() {}, nil
	}
	if dir, err = os.MkdirTemp("", "batchjob-compat-"); err != nil {
		return "", func() {}, err
	}
	controlplane := func(args ...string) error {
		cmd := exec.Command("go", append([]string{"-C", filepath.Join(root, "hack", "controlplane"), "run", ".", args[0], "--dir", dir}, args[1:]...)...)
		cmd.Stderr = os.Stderr
		return cmd.Run()
	}
	stop = func() {
		if err := errors.Join(controlplane("down"), os.RemoveAll(dir)); err != nil {
			fmt.Fprintln(os.Stderr, "compat:", err)
		}
	}
	args := []string{"up"}
	if gates := os.Getenv("BATCHJOB_COMPAT_GATES"); gates != "" {
		args = append(args, "--feature-gates", gates)
	}
	return dir, stop, controlplane(args...)
}

func connect(dir string) (err error) {
	if binary = os.Getenv("BATCHJOB_COMPAT_BINARY"); binary == "" {
		binary = filepath.Join(root, "bin", "kubectl-batchjob")
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
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

// namespace makes one for a test, with the account that pods need.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "compat-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the default service account", func(ctx context.Context) bool {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	return ns.Name
}

func eventually(t *testing.T, what string, reached func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) { return reached(ctx), nil })
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
}

// plugin runs the binary in a namespace to its end.
func plugin(t *testing.T, ns string, args ...string) command.Result {
	t.Helper()
	r, err := command.Run(t.Context(), patience, "", binary, append(args, "--kubeconfig", kubeconfig, "-n", ns)...)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return r
}

// want runs the binary, which must end with this code, say all of the parts on stdout, and
// nothing on stderr, but for the progress that wait tells there.
func want(t *testing.T, ns string, code int, parts []string, args ...string) command.Result {
	t.Helper()
	r := plugin(t, ns, args...)
	if r.Code != code || r.ErrOut != "" && args[0] != "wait" {
		t.Errorf("%v: exit code %d, want %d, stderr %q", args, r.Code, code, r.ErrOut)
	}
	text := strings.Join(strings.Fields(r.Out), " ")
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%v: it does not say %q:\n%s", args, part, r.Out)
		}
	}
	return r
}

var managedByLine = regexp.MustCompile(`(?m)^\s*managedBy:.*\n`)

// createExample has the plugin create the Jobs of an example, for the controller of the
// cluster, which is not ours.
func createExample(t *testing.T, ns, file string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(path, managedByLine.ReplaceAll(text, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := plugin(t, ns, "create", "--managed-by=", "-f", path); r.Code != 0 {
		t.Fatalf("create %s: exit code %d, %s", file, r.Code, r.ErrOut)
	}
}
