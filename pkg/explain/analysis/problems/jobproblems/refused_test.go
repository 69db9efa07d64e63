package jobproblems_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// CLI-06: the reason why the API server refuses the pods, by the messages of Kubernetes 1.33 and later: the verdict has the
// name and the reason from the API server's message.
func TestRefusedCreationIsExplained(t *testing.T) {
	const restricted = `violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), ` +
		`unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])`
	for _, tc := range []struct{ message, text string }{
		{`pods "train-x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0`, "ResourceQuota compute allows no such pods (requested: pods=1, used: pods=0, limited: pods=0)"},
		{`pods is forbidden: exceeded quota: compute, requested: pods=1, used: pods=0, limited: pods=0`, "ResourceQuota compute allows no such pods (requested: pods=1, used: pods=0, limited: pods=0)"},
		{`pods "train-x" is forbidden: failed quota: compute: must specify limits.cpu for: main; requests.memory for: main`,
			"ResourceQuota compute demands limits.cpu and requests.memory"},
		{`pods "train-x" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [system-node-critical]}]`, "the namespace does not allow their priority class (PriorityClass In [system-node-critical])"},
		{`pods "train-x" is forbidden: ` + restricted, "Pod Security restricted:latest does not allow the pod template: allowPrivilegeEscalation != false, unrestricted capabilities"},
		{`pods "train-x" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`, "a LimitRange does not allow the pod template: maximum memory usage per Container is 1Gi, but limit is 2Gi"},
		{`pods "train-x" is forbidden: [maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 2Gi, but limit is 4Gi]`,
			"a LimitRange does not allow the pod template. [maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Pod is 2Gi, but limit is 4Gi]"},
		{`pods "train-x" is forbidden: maximum memory usage per Container is 1Gi.  No limit is specified`, "does not allow the pod template: maximum memory usage per Container is 1Gi. No limit is specified"},
		{`pods "train-x" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name`,
			"the integer value of priority (5) must not be provided in pod spec"},
		{`pods "train-x" is forbidden: ValidatingAdmissionPolicy 'no-root' with binding 'all' denied request: run as non-root`, "ValidatingAdmissionPolicy no-root denies them: run as non-root"},
		{`pods is forbidden: ValidatingAdmissionPolicy 'no-root' denied request: exceeded quota`, "ValidatingAdmissionPolicy no-root denies them: exceeded quota"},
		{`admission webhook "guard.example.com" denied the request: serviceaccount "x" exceeded quota`, `admission webhook guard.example.com denies them: serviceaccount "x" exceeded quota`},
		{`admission webhook "validation.gatekeeper.sh" denied the request: [owner] all pods must have an owner` + "\n[cost] and a cost center", "constraint owner of Gatekeeper denies them: all pods must have an owner [cost] and a cost center"},
		{`Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.ns.svc:443/v?timeout=10s": dial tcp 10.96.3.1:443: connect: connection refused`,
			`admission webhook guard.example.com cannot be called: its Service guard refuses connections, as if none of its pods is ready. “dial tcp 10.96.3.1:443: connect: connection refused”`},
		{`Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.ns.svc:443/v?timeout=10s": no endpoints available for service "guard"`,
			"admission webhook guard.example.com cannot be called: its Service guard has no endpoints"},
		{`Internal error occurred: failed calling webhook "guard.example.com": received invalid webhook response: expected response.uid="1", got ""`,
			`admission webhook guard.example.com does not work: received invalid webhook response: expected response.uid="1", got ""`},
		{`pods is forbidden: User "system:serviceaccount:kube-system:job-controller" cannot create resource "pods" in API group "" in the namespace "ns"`,
			`User "system:serviceaccount:kube-system:job-controller" cannot create resource "pods" in API group "" in the namespace "ns"`},
		{`Pod "train-x" is invalid: spec.containers[0].image: Required value`, "the API server rejects the pod template as invalid: spec.containers[0].image: Required value"},
		{``, "the API server rejects them"},
	} {
		for _, prefix := range []string{"Error creating: ", "(combined from similar events): Error creating: "} {
			f := explaintest.InputOf(explaintest.JobWith(nil))
			f.Events = []input.Event{explaintest.JobEvent("FailedCreate", prefix+tc.message, 4, time.Minute), explaintest.JobEvent("SuccessfulCreate", "", 1, time.Hour)}
			r := explaintest.Report(f)
			p := explaintest.Problem(t, r, explain.ProblemCreationRefused)
			if !strings.Contains(p.Text, tc.text) || len(p.Details) != 1 || p.Details[0] != prefix+tc.message || p.Count != 2 {
				t.Errorf("%+v, want it to say %q", p, tc.text)
			}
			if !r.Verdict.Stalled || !strings.Contains(explaintest.Verdict(r), "is stalled: pods cannot be created: ") {
				t.Errorf("%+v", r.Verdict)
			}
		}
	}
}

// A refusal is over if a later creation succeeded, if it was long ago, or if the Job has ended.
// Requirements: CLI-06
func TestPastRefusalIsOver(t *testing.T) {
	refused := explaintest.JobEvent("FailedCreate", "exceeded quota", 4, 2*time.Minute)
	for name, f := range map[string]input.Input{
		"created since": {Events: []input.Event{refused, explaintest.JobEvent("SuccessfulCreate", "", 1, time.Minute)}, Job: explaintest.JobWith(nil)},
		"long ago":      {Events: []input.Event{explaintest.JobEvent("FailedCreate", "exceeded quota", 4, 16*time.Minute)}, Job: explaintest.JobWith(nil)},
		"has failed":    {Events: []input.Event{refused}, Job: explaintest.JobWith(func(j *batchv1.Job) { explaintest.FailJob(j, "DeadlineExceeded", "") })},
		"is to fail":    {Events: []input.Event{refused}, Job: explaintest.JobWith(func(j *batchv1.Job) { explaintest.AddCondition(j, batchv1.JobFailureTarget, "DeadlineExceeded", "", 0) })},
		"a pod's event": {Events: []input.Event{{Pod: "train-x", Type: "Warning", Reason: "FailedCreate", Last: explaintest.Noon}}, Job: explaintest.JobWith(nil)},
	} {
		f.Now, f.PodsRead, f.EventsRead = explaintest.Noon, true, true
		if r := explaintest.Report(f); explaintest.HasProblem(r, explain.ProblemCreationRefused) {
			t.Errorf("%s: %+v", name, r.Problems)
		}
	}
}
