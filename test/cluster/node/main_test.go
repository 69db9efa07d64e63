//go:build node

package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	system     = "batchjob-system"
	deployment = "batchjob-controller"
	// server is the API server's address in inside.sh.
	server = "https://10.99.0.1:6443"
	// ready is the time limit for the Deployment, on a busy machine.
	ready = 2 * time.Minute
)

var (
	root = filepath.Join("..", "..", "..")
	// manifests is the folder of the installed manifests.
	manifests string
	config    *rest.Config
	client    kubernetes.Interface
	// path is a folder with the plugin, under the name that kubectl looks for.
	path string
	// installed has the output of kubectl apply, and the time until the controller was available.
	installed struct {
		output string
		took   time.Duration
	}
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	defer func() {
		if err := uninstall(); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
			code = 1
		}
		os.RemoveAll(path)
	}()
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		return 1
	}
	return m.Run()
}

func prepare() error {
	found, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return fmt.Errorf("%w; run: make test-node", err)
	}
	// The installation is removed at the end, so it must not be one that is in use.
	if found.Host != server {
		return fmt.Errorf("the cluster at %s is not that of hack/node/run.sh; run: make test-node", found.Host)
	}
	found.QPS = -1
	config = found
	if client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if err := putPluginInPath(); err != nil {
		return err
	}
	if manifests = os.Getenv("BATCHJOB_NODE_MANIFESTS"); manifests == "" {
		manifests = filepath.Join(root, "config", "default")
	}
	return install()
}

// putPluginInPath makes `kubectl batchjob` run the binary in the image.
func putPluginInPath() error {
	binary := os.Getenv("BATCHJOB_NODE_BINARY")
	if binary == "" {
		binary = filepath.Join(root, "bin", "image", "linux", runtime.GOARCH, "kubectl-batchjob")
	}
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("%w; run: make test-node", err)
	}
	if path, err = os.MkdirTemp("", "batchjob-node-path-"); err != nil {
		return err
	}
	if err := os.Symlink(binary, filepath.Join(path, "kubectl-batchjob")); err != nil {
		return err
	}
	return os.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// install applies the manifests and waits until the Deployment is available.
func install() error {
	started := time.Now()
	out, err := exec.Command("kubectl", "apply", "-k", manifests).CombinedOutput()
	if installed.output = string(out); err != nil {
		return fmt.Errorf("kubectl apply -k %s: %s (%w)", manifests, out, err)
	}
	out, err = exec.Command("kubectl", "wait", "-n", system, "--for", "condition=Available", "deployment/"+deployment,
		"--timeout", ready.String()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("the Deployment does not become available: %s (%w)\n%s", out, err, whatPodsSay())
	}
	installed.took = time.Since(started)
	return nil
}

// whatPodsSay returns output that helps to find out why the controller does not run.
func whatPodsSay() string {
	var b strings.Builder
	for _, args := range [][]string{{"get", "pods", "-o", "wide"}, {"get", "events"}, {"logs", "deployment/" + deployment, "--tail", "20"}} {
		out, _ := exec.Command("kubectl", append([]string{"-n", system}, args...)...).CombinedOutput()
		b.Write(out)
	}
	return b.String()
}

// uninstall removes the installation completely.
func uninstall() error {
	if config == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), ready)
	defer cancel()
	out, err := exec.CommandContext(ctx, "kubectl", "delete", "--ignore-not-found", "-k", manifests).CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl delete -k %s: %s (%w)", manifests, out, err)
	}
	left, err := exec.CommandContext(ctx, "kubectl", "get", "all,leases,roles,rolebindings,pdb", "-n", system, "-o", "name").Output()
	if err != nil || len(left) > 0 {
		return fmt.Errorf("after kubectl delete -k %s there are %q (%w)", manifests, left, err)
	}
	return nil
}
