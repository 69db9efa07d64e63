package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// cluster is a control plane for this run, with our controller beside the built-in one.
type cluster struct {
	root, dir string
	config    *rest.Config
	client    kubernetes.Interface
	objects   dynamic.Interface
	// served is the API server's time, from its last response.
	served atomic.Value

	hold io.Closer // the cluster is removed when this is closed, or this process is gone
	down *exec.Cmd

	mu          sync.Mutex
	controllers []*controller
}

// takeDown waits until nobody holds its standard input anymore.
const takeDown = `cat >/dev/null; go -C "$1"/hack/controlplane run . down --dir "$2" 2>/dev/null; rm -rf "$2"`

func startCluster(ctx context.Context, root string) (*cluster, error) {
	dir, err := os.MkdirTemp("", "batchjob-record-")
	if err != nil {
		return nil, err
	}
	c := &cluster{root: root, dir: dir, down: exec.Command("sh", "-c", takeDown, "sh", root, dir)}
	c.down.Stderr = os.Stderr
	c.down.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us alone.
	if c.hold, err = c.down.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.down.Start(); err != nil {
		return nil, err
	}
	if err := c.up(ctx); err != nil {
		_ = c.stop() // What went wrong first is of interest.
		return nil, err
	}
	return c, nil
}

func (c *cluster) up(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "-C", "hack/controlplane", "run", ".", "up", "--dir", c.dir)
	cmd.Dir, cmd.Stderr = c.root, os.Stderr
	// go run passes the signal on.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("starting the cluster: %w", err)
	}
	var err error
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.kubeconfig()); err != nil {
		return err
	}
	c.config.QPS, c.config.Burst = -1, 0
	c.config.UserAgent = "record"
	c.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return clock{next, &c.served} })
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	c.objects, err = dynamic.NewForConfig(c.config)
	return err
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }

// stop ends all that this run has started.
func (c *cluster) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.controllers {
		p.kill()
	}
	if err := c.hold.Close(); err != nil {
		return err
	}
	if err := c.down.Wait(); err != nil {
		return fmt.Errorf("removing the cluster: %w", err)
	}
	return nil
}

// now is the time from the API server's point of view.
func (c *cluster) now() time.Time {
	now, _ := c.served.Load().(time.Time)
	return now
}

// clock keeps the time of the API server's last response.
type clock struct {
	next   http.RoundTripper
	served *atomic.Value
}

func (c clock) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return response, err
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		c.served.Store(date.UTC())
	}
	return response, nil
}
