// Command kube-controller-manager runs Kubernetes' own controllers, including the built-in Job controller, for
// comparison with ours.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() { os.Exit(cli.Run(app.NewControllerManagerCommand())) }
