package cluster

import (
	"fmt"
	"net/url"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/observe"
)

// namedJobs reads Jobs as JSON, which keeps fields that the typed client drops: the names of pod failure policy rules
// (PFN-28), and fields of pod templates. client-go does everything else, including errors, retries and rate limits.
type namedJobs struct{ client rest.Interface }

// newNamedJobs returns a client with the transport of the typed client, or nil if that client has none, as in tests
// with a fake clientset.
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

func (n *namedJobs) in(namespace string) *gentype.ClientWithList[*observe.NamedJob, *observe.NamedJobList] {
	return gentype.NewClientWithList("jobs", n.client, kube.ParameterCodec, namespace,
		func() *observe.NamedJob { return &observe.NamedJob{} }, func() *observe.NamedJobList { return &observe.NamedJobList{} })
}
