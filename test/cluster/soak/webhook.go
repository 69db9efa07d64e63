package soak

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
)

// soakObject is the name of the objects that the soak creates temporarily.
const soakObject = "soak.batchjob.dev"

// during creates objects, and removes them after a duration.
func during(ctx context.Context, lasts time.Duration, create, remove func() error) error {
	if err := create(); err != nil {
		return errors.Join(err, remove())
	}
	pause(ctx, lasts)
	return remove()
}

// hangWebhook adds a webhook for the controllers' writes that never responds. The writes fail, or are slow, depending on
// failurePolicy.
func (d *disturber) hangWebhook(ctx context.Context, lasts time.Duration, dice *rand.Rand) (calls int, err error) {
	var asked atomic.Int64
	release := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	policies := []admissionv1.FailurePolicyType{admissionv1.Fail, admissionv1.Ignore}
	hook := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: soakObject}, Webhooks: []admissionv1.ValidatingWebhook{{
		Name:                    soakObject,
		AdmissionReviewVersions: []string{"v1"},
		SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
		FailurePolicy:           &policies[dice.IntN(2)],
		TimeoutSeconds:          ptr.To(int32(1 + dice.IntN(10))),
		ClientConfig: admissionv1.WebhookClientConfig{
			URL:      ptr.To(server.URL + "/hang"),
			CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		},
		MatchConditions: []admissionv1.MatchCondition{{Name: "controllers", Expression: fmt.Sprintf("request.userInfo.username == %q", testcluster.SystemUser)}},
		Rules: []admissionv1.RuleWithOperations{
			rule("", admissionv1.OperationAll, "pods", "pods/status"), rule("batch", admissionv1.Update, "jobs", "jobs/status"),
		},
	}}}
	hooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	err = during(ctx, lasts, func() error {
		_, err := hooks.Create(ctx, hook, metav1.CreateOptions{})
		return err
	}, func() error { return hooks.Delete(ctx, soakObject, metav1.DeleteOptions{}) })
	return int(asked.Load()), err
}

func rule(group string, operation admissionv1.OperationType, resources ...string) admissionv1.RuleWithOperations {
	return admissionv1.RuleWithOperations{
		Operations: []admissionv1.OperationType{operation},
		Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: resources},
	}
}
