// Command kube-proxy makes the addresses of Services work on this machine: that of the API
// server above all. Built from its own module.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-proxy/app"
)

func main() { os.Exit(cli.Run(app.NewProxyCommand())) }
