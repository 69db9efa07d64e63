package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/testcluster"
)

// throttle leaves one seat and a short queue for the controllers' requests: the API server rejects others with 429.
func (d *disturber) throttle(ctx context.Context, lasts time.Duration, _ *rand.Rand) (rejected int, err error) {
	before, err := rejectedRequests(ctx)
	if err != nil {
		return 0, err
	}
	level := &flowcontrolv1.PriorityLevelConfiguration{ObjectMeta: metav1.ObjectMeta{Name: soakObject}}
	level.Spec.Type = flowcontrolv1.PriorityLevelEnablementLimited
	level.Spec.Limited = &flowcontrolv1.LimitedPriorityLevelConfiguration{
		NominalConcurrencyShares: ptr.To[int32](1), LendablePercent: ptr.To[int32](0), BorrowingLimitPercent: ptr.To[int32](0),
		LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeQueue, Queuing: &flowcontrolv1.QueuingConfiguration{
			Queues: 1, HandSize: 1, QueueLengthLimit: 1,
		}},
	}
	flow := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: soakObject}, Spec: flowcontrolv1.FlowSchemaSpec{
		PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: soakObject},
		MatchingPrecedence:         100,
		Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
			Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: testcluster.SystemUser}}},
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
				Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true, Namespaces: []string{"*"},
			}},
		}},
	}}
	api := client.FlowcontrolV1()
	err = during(ctx, lasts, func() error {
		_, err := api.PriorityLevelConfigurations().Create(ctx, level, metav1.CreateOptions{})
		_, flowErr := api.FlowSchemas().Create(ctx, flow, metav1.CreateOptions{})
		return errors.Join(err, flowErr)
	}, func() error {
		return errors.Join(api.FlowSchemas().Delete(ctx, soakObject, metav1.DeleteOptions{}),
			api.PriorityLevelConfigurations().Delete(ctx, soakObject, metav1.DeleteOptions{}))
	})
	after, countErr := rejectedRequests(ctx)
	return after - before, errors.Join(err, countErr)
}

// rejectedRequests returns how many requests the API server has rejected for lack of seats.
func rejectedRequests(ctx context.Context) (n int, err error) {
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	for series, value := range testcluster.Series(string(text)) {
		if strings.HasPrefix(series, "apiserver_flowcontrol_rejected_requests_total{") && strings.Contains(series, soakObject) {
			n += int(value)
		}
	}
	return n, nil
}
