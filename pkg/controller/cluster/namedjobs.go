package cluster

import (
	"context"
	"fmt"
	"net/url"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// namedJobs reads Jobs as JSON, which keeps fields that the typed client drops: the names of pod
// failure policy rules (PFN-28), and fields of pod templates. Everything else, including errors,
// retries and rate limits, is client-go's.
type namedJobs struct{ client rest.Interface }

// newNamedJobs returns a client with the transport of the typed one, or nil if that has
// none, as in tests with a fake clientset.
func newNamedJobs(client kube.Interface) (*namedJobs, error) {
	typed, ok := client.BatchV1().RESTClient().(*rest.RESTClient)
	if !ok || typed == nil {
		return nil, nil
	}
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(batchv1.SchemeGroupVersion.WithKind("Job"), &observe.NamedJob{})
	s.AddKnownTypeWithName(batchv1.SchemeGroupVersion.WithKind("JobList"), &observe.NamedJobList{})
	metav1.AddToGroupVersion(s, batchv1.SchemeGroupVersion)
	at := typed.Get().URL()
	named, err := rest.NewRESTClient(&url.URL{Scheme: at.Scheme, Host: at.Host}, at.Path, rest.ClientContentConfig{
		ContentType:        runtime.ContentTypeJSON,
		AcceptContentTypes: runtime.ContentTypeJSON,
		GroupVersion:       batchv1.SchemeGroupVersion,
		Negotiator:         runtime.NewClientNegotiator(serializer.NewCodecFactory(s).WithoutConversion(), batchv1.SchemeGroupVersion),
	}, typed.GetRateLimiter(), typed.Client)
	if err != nil {
		return nil, fmt.Errorf("creating a client that reads rule names: %w", err)
	}
	return &namedJobs{named}, nil
}

func (n *namedJobs) in(namespace string) namespacedJobs { return namespacedJobs{n.client, namespace} }

type namespacedJobs struct {
	client    rest.Interface
	namespace string
}

func (n namespacedJobs) get(options *metav1.ListOptions) *rest.Request {
	timeout := time.Duration(0)
	if options.TimeoutSeconds != nil {
		timeout = time.Duration(*options.TimeoutSeconds) * time.Second
	}
	return n.client.Get().NamespaceIfScoped(n.namespace, n.namespace != "").Resource("jobs").
		VersionedParams(options, kube.ParameterCodec).Timeout(timeout)
}

func (n namespacedJobs) Get(ctx context.Context, name string) (*observe.NamedJob, error) {
	job := &observe.NamedJob{}
	err := n.client.Get().Namespace(n.namespace).Resource("jobs").Name(name).Do(ctx).Into(job)
	return job, err
}

func (n namespacedJobs) List(ctx context.Context, options metav1.ListOptions) (*observe.NamedJobList, error) {
	list := &observe.NamedJobList{}
	err := n.get(&options).Do(ctx).Into(list)
	return list, err
}

func (n namespacedJobs) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	return n.get(&options).Watch(ctx)
}
