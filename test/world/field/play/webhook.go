package play

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Hooks serves the admission webhooks of all cases on this machine.
type Hooks struct {
	server *httptest.Server

	mu sync.Mutex
	// of maps namespaces to their webhooks.
	of map[string]Webhook
}

// NewHooks starts the server.
func NewHooks() *Hooks {
	h := &Hooks{of: map[string]Webhook{}}
	h.server = httptest.NewTLSServer(http.HandlerFunc(h.admit))
	return h
}

// Close stops the server.
func (h *Hooks) Close() { h.server.Close() }

// admit answers an admission request; the path names the namespace.
func (h *Hooks) admit(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	hook := h.of[strings.TrimPrefix(r.URL.Path, "/")]
	h.mu.Unlock()
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if hook.Hangs {
		<-r.Context().Done()
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: hook.result(review.Request.Object.Raw)}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // The API server detects an incomplete answer.
}

// refusal is the name of the webhook that stands in for an admission plugin. A policy of the cluster removes the words about
// it from events.
const refusal = "refusal.field.batchjob.dev"

// result denies a pod.
func (w Webhook) result(object []byte) *metav1.Status {
	if w.Name != refusal {
		return &metav1.Status{Message: w.Denies, Code: http.StatusBadRequest}
	}
	var pod metav1.PartialObjectMetadata
	_ = json.Unmarshal(object, &pod) // The API server has encoded it.
	return &metav1.Status{Message: fmt.Sprintf("pods %q %s", pod.Name, w.Denies), Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
}

// add registers the webhook for the pods of a namespace, and returns once the API server calls it.
func (h *Hooks) add(ctx context.Context, client kubernetes.Interface, namespace string, hook Webhook) error {
	h.mu.Lock()
	h.of[namespace] = hook
	h.mu.Unlock()
	url := h.server.URL + "/" + namespace
	_, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: hook.Name,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          ptr.To[int32](1),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), hook.Name), nil
	})
}
