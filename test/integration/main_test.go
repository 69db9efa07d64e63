package integration

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// apiServer is the one API server of all tests.
var apiServer struct {
	config     *rest.Config
	kubeconfig []byte
	etcd       string // its address
	// binaries is the folder of the real ones, leash makes them end with us.
	binaries string
	leash    leash
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	if err := waitALot(); err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	stop, err := startAPIServer()
	if err != nil {
		fmt.Fprintln(os.Stderr, "integration:", err)
		return 1
	}
	defer stop()
	return m.Run()
}

// waitALot runs many tests at once, unless -parallel is set: they mostly wait.
func waitALot() error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", "16")
}

func startAPIServer() (stop func(), err error) {
	if apiServer.binaries, err = findBinaries(); err != nil {
		return nil, err
	}
	if apiServer.leash, err = newLeash(); err != nil {
		return nil, err
	}
	env := &envtest.Environment{}
	env.ControlPlane.Etcd = &envtest.Etcd{}
	server := env.ControlPlane.GetAPIServer()
	for name, path := range map[string]*string{"etcd": &env.ControlPlane.Etcd.Path, "kube-apiserver": &server.Path} {
		if *path, err = apiServer.leash.hold(filepath.Join(apiServer.binaries, name)); err != nil {
			return nil, err
		}
	}
	env.ControlPlane.Etcd.DataDir = filepath.Join(apiServer.leash.dir, "etcd-data")
	// Serves spec.schedulingGroup of pods and templates, and spec.scheduling of Jobs (JOB-64), and
	// filters lists and watches by shard (SHD-06).
	server.Configure().Append("feature-gates", "GenericWorkload=true,WorkloadWithJob=true,ShardedListAndWatch=true")
	server.CertDir = filepath.Join(apiServer.leash.dir, "certificates")
	if err := os.Mkdir(server.CertDir, 0o700); err != nil {
		return nil, err
	}
	stop = func() {
		if err := errors.Join(env.Stop(), apiServer.leash.release()); err != nil {
			fmt.Fprintln(os.Stderr, "integration: stopping the API server:", err)
		}
	}
	if apiServer.config, err = env.Start(); err != nil {
		stop()
		return nil, err
	}
	apiServer.kubeconfig = env.KubeConfig
	apiServer.etcd = env.ControlPlane.Etcd.URL.String()
	return stop, nil
}

// findBinaries returns the folder of etcd and kube-apiserver.
func findBinaries() (string, error) {
	out, err := exec.Command("go", "-C", filepath.Join("..", "..", "hack", "controlplane"), "run", ".", "path", "--for", "test").Output()
	if err != nil {
		return "", fmt.Errorf("asking hack/controlplane where the binaries are: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("%s is not in %s; run: make test-integration", name, dir)
		}
	}
	return dir, nil
}
