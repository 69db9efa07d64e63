package cluster

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TRK-10: only a 404 of the API server about this very pod means that it is gone. client-go gives that of a proxy the name of
// the pod, too.
func TestMissingIsWhatTheAPIServerDoesNotFind_TRK_10(t *testing.T) {
	status := func(resource, name string) metav1.Status {
		s := apierrors.NewNotFound(corev1.Resource(resource), name).ErrStatus
		s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		return s
	}
	for name, c := range map[string]struct {
		body any
		want bool
	}{
		"the API server":                {status("pods", "p"), true},
		"the API server, another pod":   {status("pods", "q"), false},
		"the API server, the namespace": {status("namespaces", "ns"), false},
		"a proxy":                       {"404 page not found", false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_ = json.NewEncoder(w).Encode(c.body)
		}))
		client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		err = client.CoreV1().Pods("ns").Delete(t.Context(), "p", metav1.DeleteOptions{})
		server.Close()
		if got := IsMissing(err, "pods", "p"); !apierrors.IsNotFound(err) || got != c.want {
			t.Errorf("%s: missing %v, with %v", name, got, err)
		}
	}
}
