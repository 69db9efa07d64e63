package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// client holds a REST client for each API group.
type client struct {
	groups    map[schema.GroupVersion]*rest.RESTClient
	config    rest.Config
	transport *http.Client
	pods      podReader
}

// NewForConfig returns a client whose groups share a transport and a rate limiter, as in a Clientset.
func NewForConfig(shared *rest.Config) (Interface, error) { return NewForPods(shared, nil) }

// NewForPods returns a client that decodes only these fields of pods, or all if fields is nil. Do not write these pods
// back: the other fields would be lost.
func NewForPods(shared *rest.Config, fields Fields) (Interface, error) {
	config := *shared
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	if config.RateLimiter == nil && config.QPS > 0 {
		if config.Burst <= 0 {
			return nil, errors.New("a limit of requests per second needs a burst greater than 0")
		}
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
	}
	if config.RateLimiter != nil {
		config.RateLimiter = unsentLimiter{config.RateLimiter}
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return unsentTransport{next} })
	transport, err := rest.HTTPClientFor(&config)
	if err != nil {
		return nil, err
	}
	c := client{map[schema.GroupVersion]*rest.RESTClient{}, config, transport, podReader{fields: fields}}
	for _, group := range groups() {
		if c.groups[group], err = c.newGroup(group); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// WithoutForeign returns a client that shares everything with c, but decodes only the identity of foreign pods. If c is
// a fake or another client, it returns c.
func WithoutForeign(c Interface, foreign Foreign) (Interface, error) {
	made, is := c.(client)
	if !is {
		return c, nil
	}
	made.pods.foreign, made.groups = foreign, maps.Clone(made.groups)
	var err error
	made.groups[corev1.SchemeGroupVersion], err = made.newGroup(corev1.SchemeGroupVersion)
	return made, err
}

func (c client) newGroup(group schema.GroupVersion) (*rest.RESTClient, error) {
	config := c.config
	config.GroupVersion, config.APIPath = &group, "/apis"
	if group.Group == corev1.GroupName {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = rest.CodecFactoryForGeneratedClient(Scheme, Codecs).WithoutConversion()
	if c.pods.fields != nil || c.pods.foreign != nil {
		config.NegotiatedSerializer = podFields{config.NegotiatedSerializer, c.pods}
	}
	made, err := rest.RESTClientForConfigAndClient(&config, c.transport)
	if err != nil {
		return nil, fmt.Errorf("creating a client of %s: %w", group, err)
	}
	return made, nil
}

func (c client) CoreV1() CoreV1   { return group{c.groups[corev1.SchemeGroupVersion]} }
func (c client) BatchV1() BatchV1 { return group{c.groups[batchv1.SchemeGroupVersion]} }
func (c client) CoordinationV1() CoordinationV1 {
	return group{c.groups[coordinationv1.SchemeGroupVersion]}
}
func (c client) AuthenticationV1() AuthenticationV1 {
	return group{c.groups[authenticationv1.SchemeGroupVersion]}
}
func (c client) AuthorizationV1() AuthorizationV1 {
	return group{c.groups[authorizationv1.SchemeGroupVersion]}
}

// group has the resources of all API groups; each interface exposes the resources of one.
type group struct{ rest *rest.RESTClient }

func (g group) RESTClient() rest.Interface { return g.rest }

func (g group) Jobs(ns string) Jobs { return objects[batchv1.Job, batchv1.JobList](g.rest, "jobs", ns) }

func (g group) CronJobs(ns string) CronJobs {
	return objects[batchv1.CronJob, batchv1.CronJobList](g.rest, "cronjobs", ns)
}

func (g group) Pods(ns string) Pods {
	return pods{objects[corev1.Pod, corev1.PodList](g.rest, "pods", ns)}
}

func (g group) Events(ns string) Events {
	return objects[corev1.Event, corev1.EventList](g.rest, "events", ns)
}

func (g group) Nodes() Nodes { return objects[corev1.Node, corev1.NodeList](g.rest, "nodes", "") }

func (g group) PersistentVolumeClaims(ns string) PersistentVolumeClaims {
	return objects[corev1.PersistentVolumeClaim, corev1.PersistentVolumeClaimList](g.rest, "persistentvolumeclaims", ns)
}

func (g group) Leases(ns string) Leases {
	return objects[coordinationv1.Lease, coordinationv1.LeaseList](g.rest, "leases", ns)
}

func (g group) TokenReviews() TokenReviews {
	return reviews[authenticationv1.TokenReview](g.rest, "tokenreviews")
}

func (g group) SubjectAccessReviews() SubjectAccessReviews {
	return reviews[authorizationv1.SubjectAccessReview](g.rest, "subjectaccessreviews")
}

func (g group) SelfSubjectAccessReviews() SelfSubjectAccessReviews {
	return reviews[authorizationv1.SelfSubjectAccessReview](g.rest, "selfsubjectaccessreviews")
}

// pods adds GetLogs.
type pods struct {
	*gentype.ClientWithList[*corev1.Pod, *corev1.PodList]
}

func (p pods) GetLogs(name string, options *corev1.PodLogOptions) *rest.Request {
	return p.GetClient().Get().Namespace(p.GetNamespace()).Resource("pods").Name(name).SubResource("log").
		VersionedParams(options, ParameterCodec)
}

// object is a pointer to an API object, as gentype requires.
type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

type list[L any] interface {
	*L
	runtime.Object
}

func objects[T, L any, TP object[T], LP list[L]](c rest.Interface, resource, namespace string) *gentype.ClientWithList[TP, LP] {
	return gentype.NewClientWithList[TP, LP](resource, c, ParameterCodec, namespace,
		func() TP { return new(T) }, func() LP { return new(L) }, gentype.PrefersProtobuf[TP]())
}

func reviews[T any, TP object[T]](c rest.Interface, resource string) *gentype.Client[TP] {
	return gentype.NewClient[TP](resource, c, ParameterCodec, "", func() TP { return new(T) }, gentype.PrefersProtobuf[TP]())
}

// ServerVersion requests the version of the API server.
func ServerVersion(ctx context.Context, c Interface) (*version.Info, error) {
	text, err := c.CoreV1().RESTClient().Get().AbsPath("/version").SetHeader("Accept", "application/json").DoRaw(ctx)
	if err != nil {
		return nil, err
	}
	info := &version.Info{}
	return info, json.Unmarshal(text, info)
}
