//go:build builtin

package beside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/apiserver"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// collectors are the controllers of kube-controller-manager that remove pods.
const collectors = "garbage-collector-controller,pod-garbage-collector-controller"

// plane is a control plane: etcd, kube-apiserver and kube-controller-manager.
type plane struct {
	server     *apiserver.Server
	client     kubernetes.Interface
	kubeconfig string

	manager *os.Process
	log     *leash.Output
	ended   chan struct{}
}

// start starts the control plane with one namespace, and with the controllers that it shall have.
func (p *plane) start(ctx context.Context, root, ns, controllers string) (err error) {
	if p.server, err = apiserver.Start(root, ""); err != nil {
		return err
	}
	config := rest.CopyConfig(p.server.Config)
	config.QPS, config.Burst = -1, 0
	if p.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "batchjob-beside-")
	if err != nil {
		return err
	}
	p.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(p.kubeconfig, p.server.Kubeconfig, 0o600); err != nil {
		return err
	}
	if _, err := p.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	return p.startManager(controllers)
}

func (p *plane) startManager(controllers string) error {
	program := filepath.Join(p.server.Binaries, "kube-controller-manager")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w; run: make controlplane", err)
	}
	cmd := leash.Command(program,
		"--kubeconfig="+p.kubeconfig, "--controllers="+controllers,
		"--leader-elect=false", "--secure-port=0", "--terminated-pod-gc-threshold=0",
		"--concurrent-job-syncs=50", "--kube-api-qps=500", "--kube-api-burst=500",
	)
	p.log, p.ended = &leash.Output{}, make(chan struct{})
	cmd.Stdout, cmd.Stderr = p.log, p.log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting kube-controller-manager: %w", err)
	}
	p.manager = cmd.Process
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // It reports the signal that stopped it.
	}()
	return nil
}

// stop ends what has been started.
func (p *plane) stop() (problem error) {
	if p.manager != nil {
		if err := p.manager.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			problem = err
		}
		<-p.ended
	}
	if p.kubeconfig != "" {
		problem = errors.Join(problem, os.RemoveAll(filepath.Dir(p.kubeconfig)))
	}
	if p.server != nil {
		problem = errors.Join(problem, p.server.Stop())
	}
	return problem
}
