// Command kube-controller-manager is Kubernetes' own controllers, among them
// the built-in Job controller that ours is compared with.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() { os.Exit(cli.Run(app.NewControllerManagerCommand())) }
