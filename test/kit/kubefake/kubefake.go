// Package kubefake adapts a client-go Clientset, usually the fake one, to our kube.Interface in tests.
package kubefake

import (
	"k8s.io/client-go/kubernetes"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
)

// Client returns a client that makes its calls through a Clientset.
func Client(clientset kubernetes.Interface) kube.Interface { return client{clientset} }

type client struct{ clientset kubernetes.Interface }

// IsWatchListSemanticsUnSupported makes Reflectors list and then watch, if the Clientset is a fake.
func (c client) IsWatchListSemanticsUnSupported() bool {
	fake, ok := c.clientset.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && fake.IsWatchListSemanticsUnSupported()
}

func (c client) CoreV1() kube.CoreV1   { return coreV1{c.clientset.CoreV1()} }
func (c client) BatchV1() kube.BatchV1 { return batchV1{c.clientset.BatchV1()} }

func (c client) CoordinationV1() kube.CoordinationV1 {
	return coordinationV1{c.clientset.CoordinationV1()}
}

func (c client) AuthenticationV1() kube.AuthenticationV1 {
	return authenticationV1{c.clientset.AuthenticationV1()}
}

func (c client) AuthorizationV1() kube.AuthorizationV1 {
	return authorizationV1{c.clientset.AuthorizationV1()}
}

type coreV1 struct{ coreclient.CoreV1Interface }

func (g coreV1) Pods(namespace string) kube.Pods     { return g.CoreV1Interface.Pods(namespace) }
func (g coreV1) Events(namespace string) kube.Events { return g.CoreV1Interface.Events(namespace) }
func (g coreV1) Nodes() kube.Nodes                   { return g.CoreV1Interface.Nodes() }

func (g coreV1) PersistentVolumeClaims(namespace string) kube.PersistentVolumeClaims {
	return g.CoreV1Interface.PersistentVolumeClaims(namespace)
}

type batchV1 struct{ batchclient.BatchV1Interface }

func (g batchV1) Jobs(namespace string) kube.Jobs { return g.BatchV1Interface.Jobs(namespace) }

func (g batchV1) CronJobs(namespace string) kube.CronJobs {
	return g.BatchV1Interface.CronJobs(namespace)
}

type coordinationV1 struct {
	coordinationclient.CoordinationV1Interface
}

func (g coordinationV1) Leases(namespace string) kube.Leases {
	return g.CoordinationV1Interface.Leases(namespace)
}

type authenticationV1 struct {
	authenticationclient.AuthenticationV1Interface
}

func (g authenticationV1) TokenReviews() kube.TokenReviews {
	return g.AuthenticationV1Interface.TokenReviews()
}

type authorizationV1 struct {
	authorizationclient.AuthorizationV1Interface
}

func (g authorizationV1) SubjectAccessReviews() kube.SubjectAccessReviews {
	return g.AuthorizationV1Interface.SubjectAccessReviews()
}

func (g authorizationV1) SelfSubjectAccessReviews() kube.SelfSubjectAccessReviews {
	return g.AuthorizationV1Interface.SelfSubjectAccessReviews()
}
