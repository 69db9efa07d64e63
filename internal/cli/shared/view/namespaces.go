package view

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// namespaces changes the namespace of a live view.
type namespaces struct{ live *Live }

// Namespaces returns a tui.Namespaces that changes the namespace of the list; nil if Jobs were named.
func (v *Live) Namespaces() tui.Namespaces {
	if len(v.choice.Names) > 0 {
		return nil
	}
	return namespaces{v}
}

func (n namespaces) Current() string { return n.live.set.Namespace }

func (n namespaces) Names(ctx context.Context) []string {
	return cmdutil.ObjectNames(ctx, n.live.kube, cmdutil.ObjectQuery{Resource: corev1.SchemeGroupVersion.WithResource("namespaces")})
}

func (n namespaces) Open(namespace string) (snapshot.Source, string, error) {
	if namespace != "" && len(validation.IsDNS1123Label(namespace)) > 0 {
		return nil, "", fmt.Errorf("%q is no name of a namespace", namespace)
	}
	v := n.live
	set := v.set
	set.Namespace, set.Client = namespace, v.jobs
	if namespace != "" {
		set.Client = v.jobs.Namespace(namespace)
	}
	source, err := v.connect(set)
	if err != nil {
		return nil, "", err
	}
	v.choice.AllNamespaces, v.set, v.source = namespace == "", set, source
	v.start()
	return source, v.What(), nil
}

// explainedNamespaces opens Sources whose errors are explained for users.
type explainedNamespaces struct{ tui.Namespaces }

func (e explainedNamespaces) Open(namespace string) (snapshot.Source, string, error) {
	source, what, err := e.Namespaces.Open(namespace)
	return explained{source}, what, err
}
