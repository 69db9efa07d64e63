package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/troubles"
)

// setNodeClocks makes the nodes report ends of pods with clocks that are wrong by minutes, each by a different number.
func (d *disturber) setNodeClocks(ctx context.Context, lasts time.Duration, _ *rand.Rand) (wrong int, err error) {
	const ended = "has(%[1]s.status.phase) && %[1]s.status.phase in ['Succeeded', 'Failed']"
	const offsets = "{'node-0': '-180s', 'node-1': '-60s', 'node-2': '60s', 'node-3': '90s', 'node-4': '-600s'}"
	policy := &admissionv1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: soakObject}, Spec: admissionv1.MutatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{
			{RuleWithOperations: rule("", admissionv1.Update, "pods/status")},
		}},
		MatchConditions: []admissionv1.MatchCondition{
			{Name: "ends", Expression: fmt.Sprintf(ended, "object") + " && !(" + fmt.Sprintf(ended, "oldObject") + ")"},
			{Name: "known", Expression: "has(object.status.containerStatuses) && has(object.status.containerStatuses[0].state.terminated)"},
		},
		Variables: []admissionv1.Variable{
			{Name: "off", Expression: "duration(" + offsets + "[object.spec.nodeName])"},
			{Name: "end", Expression: "timestamp(object.status.containerStatuses[0].state.terminated.finishedAt)"},
		},
		FailurePolicy:      ptr.To(admissionv1.Fail),
		ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
		Mutations: []admissionv1.Mutation{{PatchType: admissionv1.PatchTypeJSONPatch, JSONPatch: &admissionv1.JSONPatch{
			Expression: "[JSONPatch{op: 'replace', path: '/status/containerStatuses/0/state/terminated/finishedAt', value: string(variables.end + variables.off)}]",
		}}},
	}}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: soakObject}}
	binding.Spec.PolicyName = soakObject
	api := client.AdmissionregistrationV1()
	started := time.Now()
	err = during(ctx, lasts, func() error {
		_, err := api.MutatingAdmissionPolicies().Create(ctx, policy, metav1.CreateOptions{})
		_, bindErr := api.MutatingAdmissionPolicyBindings().Create(ctx, binding, metav1.CreateOptions{})
		return errors.Join(err, bindErr)
	}, func() error {
		return errors.Join(api.MutatingAdmissionPolicyBindings().Delete(ctx, soakObject, metav1.DeleteOptions{}),
			api.MutatingAdmissionPolicies().Delete(ctx, soakObject, metav1.DeleteOptions{}))
	})
	return past.endsAtWrongTimes(started), err
}

// endsAtWrongTimes returns how many pods ended since a time by a clock that was wrong by a minute or more.
func (h *chronicle) endsAtWrongTimes(since time.Time) (n int) {
	for _, namespace := range h.Namespaces() {
		for _, v := range h.In(namespace) {
			if v.Pod == nil || v.Seen.Before(since) || !history.HasEnded(v.Pod) || len(v.Pod.Status.ContainerStatuses) == 0 {
				continue
			}
			t := v.Pod.Status.ContainerStatuses[0].State.Terminated
			if t != nil && (v.Seen.Sub(t.FinishedAt.Time) > time.Minute-2*time.Second || t.FinishedAt.Sub(v.Seen) > time.Minute/2) {
				n++
			}
		}
	}
	return n
}

// setControllerClock replaces a controller for a while by one whose clock is wrong by minutes.
func (d *disturber) setControllerClock(ctx context.Context, lasts time.Duration, dice *rand.Rand) (wrong int, err error) {
	ahead := []int{-180, -60, 60, 90}[dice.IntN(4)]
	started := time.Now()
	p := d.controllers.replace(filepath.Join(d.wrongClock, program), fmt.Sprintf("%s=%d", troubles.ClockAhead, ahead))
	pause(ctx, 2*soakLease+lasts) // It waits for the Leases of the killed controller.
	leases, err := shardLeases(ctx)
	if p != nil && d.controllers.remove(p) {
		d.controllers.end(p, true)
		d.controllers.count(true)
		d.controllers.launch()
	}
	return past.startsAtWrongTimes(started) + renewedAtWrongTimes(leases), err
}

// renewedAtWrongTimes returns how many Leases were renewed by a clock that is wrong now.
func renewedAtWrongTimes(leases []coordinationv1.Lease) (n int) {
	for i := range leases {
		if renewed := leases[i].Spec.RenewTime; renewed != nil && time.Since(renewed.Time).Abs() > time.Minute/2 {
			n++
		}
	}
	return n
}

// program is the name of the cluster.Binary.
const program = "kubectl-batchjob"

// buildWithClock builds the cluster.Binary that setControllerClock needs, which takes minutes the first time.
func (d *disturber) buildWithClock() error {
	d.say("building %s with a clock that can be wrong", program)
	return troubles.BuildWithClock(d.t.Context(), d.wrongClock, program,
		"-tags", "kustomize_disable_go_plugin_support", "github.com/batchjob-dev/kubectl-batchjob/cmd/kubectl-batchjob")
}

// startsAtWrongTimes returns how many versions of Jobs have a startTime that no correct clock shows.
func (h *chronicle) startsAtWrongTimes(since time.Time) (n int) {
	for _, namespace := range h.Namespaces() {
		for _, v := range h.In(namespace) {
			if v.Job == nil || v.Seen.Before(since) || v.Job.Status.StartTime == nil {
				continue
			}
			start := v.Job.Status.StartTime
			if start.Sub(v.Seen) > time.Minute/2 || v.Job.CreationTimestamp.Sub(start.Time) > time.Minute/2 {
				n++
			}
		}
	}
	return n
}
