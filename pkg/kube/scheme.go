package kube

import (
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

var (
	// Scheme has the types of the client's API groups.
	Scheme = newScheme()
	// ParameterCodec encodes options as URL parameters.
	ParameterCodec = runtime.NewParameterCodec(Scheme)
	// Codecs encode and decode objects of these groups.
	Codecs = serializer.NewCodecFactory(Scheme)
)

func groups() []schema.GroupVersion {
	return []schema.GroupVersion{
		corev1.SchemeGroupVersion, batchv1.SchemeGroupVersion, coordinationv1.SchemeGroupVersion,
		authenticationv1.SchemeGroupVersion, authorizationv1.SchemeGroupVersion,
	}
}

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	types := runtime.SchemeBuilder{
		corev1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme,
	}
	utilruntime.Must(types.AddToScheme(s))
	return s
}
