package main

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// cluster is a control plane for this run, with the built-in controller and ours.
type cluster struct {
	*leash.Cluster
	config  *rest.Config
	client  kubernetes.Interface
	objects dynamic.Interface
	// served is the API server's time in its last response.
	served atomic.Value

	mu          sync.Mutex
	controllers []*leash.Controller
}

func startCluster(ctx context.Context, root string) (*cluster, error) {
	held, err := leash.NewCluster(root, "record")
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: held}
	if err := c.connect(ctx); err != nil {
		_ = c.stop() // The first error is the relevant one.
		return nil, err
	}
	return c, nil
}

// connect starts the cluster and makes its clients.
func (c *cluster) connect(ctx context.Context) (err error) {
	if err := c.Up(ctx); err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
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

// stop ends everything that this run has started.
func (c *cluster) stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.controllers {
		p.Kill()
	}
	return c.Release()
}

// now returns the API server's time.
func (c *cluster) now() time.Time {
	now, _ := c.served.Load().(time.Time)
	return now
}

// clock stores the time of the API server's last response.
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
