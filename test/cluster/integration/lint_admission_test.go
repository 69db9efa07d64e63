package integration

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// registryPolicy accepts only images of one registry.
const registryPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: registry}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [jobs]}]
  validations:
  - expression: object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example/'))
    message: images must be from registry.example
`

const registryBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: registry}
spec: {policyName: registry, validationActions: [Deny]}
`

const twoJobs = `apiVersion: batch/v1
kind: Job
metadata: {name: allowed}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: registry.example/main}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: denied}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: elsewhere/main}]
`

// A policy and a webhook of the cluster reject a Job once, at its first line, in their own words.
// Requirements: LNT-12
func TestLintReportsPoliciesAndWebhooksOfTheCluster(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start func(*admission)
		words string
	}{
		"policy":  {startPolicy, "denied request: images must be from registry.example"},
		"webhook": {startWebhook, "denied the request: images must be from registry.example"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &admission{t: t, client: newClient(t, apiServer.Config, "user")}
			a.namespace = newNamespace(t, a.client)
			c.start(a)
			var got string
			a.until("the Job is denied", func() bool {
				got = lintWithServer(t, a.namespace)
				return strings.Contains(got, "server-rejects")
			})
			lines := strings.Split(strings.TrimSpace(got), "\n")
			if len(lines) != 2 || !strings.HasPrefix(lines[0], "<stdin>:10:1: error: Job/denied: the API server rejects it: ") ||
				!strings.HasSuffix(lines[0], c.words+" [server-rejects]") || lines[1] != "error: 1 error in 2 Jobs" {
				t.Errorf("%s", got)
			}
		})
	}
}

// lintWithServer returns what lint prints about twoJobs in a namespace.
func lintWithServer(t *testing.T, namespace string) string {
	t.Helper()
	out, errOut, _ := runPlugin(t, twoJobs, "lint", "-f", "-", "--server", "--kubeconfig", adminKubeconfig(t), "-n", namespace)
	return out + errOut
}

func startPolicy(a *admission) {
	for _, document := range []string{registryPolicy, registryBinding} {
		assert.NoError(a.t, a.create([]byte(document)))
	}
}

// startWebhook starts a webhook that denies the Jobs of the namespace whose name is denied.
func startWebhook(a *admission) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			a.t.Error(err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: review.Request.Name != "denied"}
		if !review.Response.Allowed {
			review.Response.Result = &metav1.Status{Message: "images must be from registry.example"}
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	a.t.Cleanup(server.Close)
	api := a.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	config := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: a.own("registry")}, Webhooks: []registrationv1.ValidatingWebhook{{
		Name: "registry.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(registrationv1.SideEffectClassNone),
		ClientConfig: registrationv1.WebhookClientConfig{
			URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		},
		Rules: []registrationv1.RuleWithOperations{{
			Operations: []registrationv1.OperationType{registrationv1.Create},
			Rule:       registrationv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
		}},
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: a.namespace}},
	}}}
	if _, err := api.Create(a.t.Context(), config, metav1.CreateOptions{}); err != nil {
		a.t.Fatal(err)
	}
	a.cleanUp(config.Name, api.Delete)
}
