// Package apiserver starts a real etcd and kube-apiserver for tests.
package apiserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// patience is the time limit for etcd or kube-apiserver to start, or to stop: envtest's 20 seconds are too little on a busy machine.
const patience = 5 * time.Minute

// Server is an etcd and a kube-apiserver that end with the test process.
type Server struct {
	Config     *rest.Config
	Kubeconfig []byte
	// Etcd is the address of etcd.
	Etcd string
	// Binaries is the folder of the real programs; Leash ends their processes with the test process.
	Binaries string
	Leash    Leash

	env *envtest.Environment
}

// Start starts the Kubernetes release in the environment variable KUBE_VERSION, by default the newest, with feature
// gates in command-line syntax. root is the project's folder.
func Start(root, gates string) (*Server, error) {
	binaries, err := findBinaries(root)
	if err != nil {
		return nil, err
	}
	leash, err := newLeash()
	if err != nil {
		return nil, err
	}
	s := &Server{Binaries: binaries, Leash: leash, env: &envtest.Environment{ControlPlaneStartTimeout: patience, ControlPlaneStopTimeout: patience}}
	if err := errors.Join(s.configure(gates), s.start()); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) configure(gates string) (err error) {
	s.env.ControlPlane.Etcd = &envtest.Etcd{DataDir: filepath.Join(s.Leash.dir, "etcd-data")}
	server := s.env.ControlPlane.GetAPIServer()
	for name, path := range map[string]*string{"etcd": &s.env.ControlPlane.Etcd.Path, "kube-apiserver": &server.Path} {
		if *path, err = s.Leash.Hold(filepath.Join(s.Binaries, name)); err != nil {
			return err
		}
	}
	if gates != "" {
		server.Configure().Append("feature-gates", gates)
	}
	server.CertDir = filepath.Join(s.Leash.dir, "certificates")
	return os.Mkdir(server.CertDir, 0o700)
}

func (s *Server) start() (err error) {
	if s.Config, err = s.env.Start(); err != nil {
		return err
	}
	s.Kubeconfig, s.Etcd = s.env.KubeConfig, s.env.ControlPlane.Etcd.URL.String()
	return nil
}

// Stop stops the servers and removes their files.
func (s *Server) Stop() error { return errors.Join(s.env.Stop(), s.Leash.release()) }

// findBinaries returns the folder of etcd and kube-apiserver.
func findBinaries(root string) (string, error) {
	out, err := exec.Command("go", "-C", filepath.Join(root, "hack", "controlplane"), "run", ".", "path", "--for", "test").Output()
	if err != nil {
		return "", fmt.Errorf("asking hack/controlplane where the binaries are: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("%s is not in %s; run: make controlplane", name, dir)
		}
	}
	return dir, nil
}
