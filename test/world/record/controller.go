package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// launch runs a controller with a Lease, and returns once it reconciles Jobs.
func (c *cluster) launch(ctx context.Context, args ...string) (*leash.Controller, error) {
	args = append([]string{"--leader-elect", "--leader-elect-resource-namespace", leaseNamespace}, args...)
	p, err := leash.StartController(ctx, filepath.Join(c.Root, "bin", "kubectl-batchjob"), c.Kubeconfig, nil, args...)
	if err != nil {
		return nil, fmt.Errorf("%w; run: make build", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.controllers = append(c.controllers, p)
	return p, nil
}
