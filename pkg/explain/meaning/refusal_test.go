package meaning

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

type refusalCase struct {
	kind RefusalKind
	by   string
	text string // a part of Text
}

// refusalCases are messages of events FailedCreate.
func refusalCases() map[string]refusalCase {
	const creating = `Error creating: pods "report-x7b2q" is forbidden: `
	return map[string]refusalCase{
		`Error creating job: jobs.batch "a-1" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: count/jobs.batch=10, limited: count/jobs.batch=10`: {RefusalQuota, "q", "count/jobs.batch=10)"},
		`(combined from similar events): ` + creating + `failed quota: team-a: must specify limits.cpu for: main; limits.memory for: main`: {RefusalQuotaNeeds, "team-a",
			"ResourceQuota team-a demands limits.cpu and limits.memory"},
		creating + `[maximum cpu usage per Container is 2, but limit is 4, maximum memory usage per Container is 4Gi, but limit is 8Gi, maximum ephemeral-storage usage per Container is 10Gi, but limit is 20Gi]`: {RefusalLimitRange, "",
			"per Container is 10Gi, but limit is 20Gi]"},
		creating + `error looking up service account batch/reports: etcdserver: request timed out`:                                                                                                                                                                                       {RefusalForbidden, "", "batch/reports: etcdserver: request timed out"},
		creating + `ValidatingAdmissionPolicy 'team-label' with binding 'team-label-batch' denied request: every pod needs the label team`:                                                                                                                                               {RefusalPolicy, "team-label", "ValidatingAdmissionPolicy team-label denies them: every pod needs the label team"},
		`Error creating: admission webhook "validation.gatekeeper.sh" denied the request: [require-resources-in-prod] container "main" has no limit`:                                                                                                                                     {RefusalGatekeeper, "require-resources-in-prod", `constraint require-resources-in-prod of Gatekeeper denies them: container "main" has no limit`},
		`Error creating: admission webhook "validation.gatekeeper.sh" denied the request: [denied by owners] no owner`:                                                                                                                                                                   {RefusalGatekeeper, "owners", "constraint owners of Gatekeeper denies them: no owner"}, // before Gatekeeper 3.5
		`Error creating: admission webhook "validate.kyverno.svc-fail" denied the request: resource Pod/batch/x was blocked due to the following policies require-ro-rootfs: validate-ro: 'validation error: Root filesystem must be read-only. rule validate-ro failed at path /spec/'`: {RefusalKyverno, "require-ro-rootfs", "policy require-ro-rootfs of Kyverno denies them: validation error: Root filesystem must be read-only"},
		`Error creating: admission webhook "validate.kyverno.svc-fail" denied the request: policy Pod/batch/x for resource violation: no-latest: tag: 'validation error: An image tag is required.'`:                                                                                     {RefusalKyverno, "no-latest", "An image tag is required"},
		`Error creating: admission webhook "w.example.com" denied the request: no`:                                                                                                                                                                                                       {RefusalWebhook, "w.example.com", "admission webhook w.example.com denies them: no"},
		`Error creating: admission webhook "w.example.com" denied the request without explanation`:                                                                                                                                                                                       {RefusalWebhook, "w.example.com", "admission webhook w.example.com denies them without explanation"},
		`Error creating job: jobs.batch is forbidden: User "x" cannot create resource "jobs"`:                                                                                                                                                                                            {RefusalForbidden, "", `User "x" cannot create resource "jobs"`},
		`Error creating job: Job.batch "a-1" is invalid: spec: Required value`:                                                                                                                                                                                                           {RefusalInvalid, "", "the API server rejects the pod template as invalid: spec: Required value"},
		`Error creating: Pod "a" is invalid: spec: Required value`:                                                                                                                                                                                                                       {RefusalInvalid, "", "invalid: spec: Required value"},
	}
}

// Requirements: PND-06, CRJ-01
// A container that a policy names, and the template does not have, comes from a webhook.
// Requirements: PND-06, CLI-18
func TestRefusalOfAnInjectedContainerIsNotThatOfTheTemplate(t *testing.T) {
	const creating = `Error creating: pods "a" is forbidden: `
	for message, want := range map[string]string{
		creating + `violates PodSecurity "restricted:latest": seccompProfile (pod or container "agent" must set securityContext.seccompProfile.type)`:              "does not allow container agent (not in the pod template): seccompProfile",
		creating + `violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or containers "agent", "main" must set securityContext.runAsNonRoot=true)`: "does not allow the pod template",
		creating + "failed quota: q: must specify limits.cpu for: agent,proxy; limits.memory for: agent":                                                           "ResourceQuota q demands limits.cpu and limits.memory because of containers agent and proxy (not in the pod template)",
		creating + "failed quota: q: must specify limits.cpu for: agent,main":                                                                                      "ResourceQuota q demands limits.cpu",
		`admission webhook "v.gatekeeper.sh" denied the request: [limits] container <agent> has no memory limit`:                                                   "Gatekeeper denies them: container <agent> has",
		`admission webhook "v.gatekeeper.sh" denied the request: [required-labels] you must provide labels for: owner`:                                             "Gatekeeper denies them: you must",
		`admission webhook "w.io" denied the request: missing approval for: production`:                                                                            "w.io denies them: missing",
		creating + `ValidatingAdmissionPolicy 'tags' denied request: container "registry.example/app:latest" must not use the tag latest`:                          "tags denies them: container",
		creating + `ValidatingAdmissionPolicy 'tags' denied request: container "agent" must not use the tag latest`:                                                "because of container agent (not in the pod template)",
		creating + `violates PodSecurity "restricted:latest": capabilities (container "agent" must set x), runAsNonRoot (pod or container "agent" must set y)`:     "container agent (not in the pod template)",
		creating + `violates PodSecurity "baseline:latest": hostNetwork=true`:                                                                                      "does not allow the pod template",
	} {
		r := OfRefusal(message)
		r.NoteInjected(func(container string) bool { return container == "main" }, nil)
		assert.Contains(t, r.Text(), want, message)
		advice, _ := r.Advice("ns")
		ofPod := strings.Contains(message, `(pod or container "agent"`) && !strings.Contains(message, "(container")
		if strings.Contains(advice, "find the webhook") != (len(r.Injected) > 0) || strings.Contains(advice, "securityContext of the pod") != ofPod {
			t.Errorf("%s: %s", message, advice)
		}
	}
}

func TestRefusalNamesItsComponentAndWhy(t *testing.T) {
	for message, want := range refusalCases() {
		if r := OfRefusal(message); r.Kind != want.kind || r.By != want.by || !strings.Contains(r.Text(), want.text) {
			t.Errorf("%s:\n%+v\n%s", message, r, r.Text())
		}
	}
}

// Requirements: PND-06
func TestQuotaNamesWhatPodsLack(t *testing.T) {
	for message, want := range map[string]int{
		"Error creating: pods is forbidden: failed quota: compute: must specify limits.cpu for: main; limits.memory for: main": 2,
		`Error creating: pods "x" is forbidden: failed quota: compute: must specify limits.cpu,limits.memory,requests.cpu`:     3,
		`Error creating: pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=1, limited: pods=1`:     0,
	} {
		r := OfRefusal(message)
		if len(r.Lacks) != want || want > 0 && r.Lacks[1] != "limits.memory" {
			t.Errorf("%s: %q", message, r.Lacks)
		}
	}
}

// A webhook may write anything; the parsed refusal only contains text that it wrote (CLI-06).
func FuzzRefusal(f *testing.F) {
	f.Add(`Error creating: pods "a" is forbidden: exceeded quota: x, requested: pods=1`)
	f.Add(`(combined from similar events): Error creating: Internal error occurred: admission webhook "w" denied the request: $1`)
	f.Fuzz(func(t *testing.T, message string) {
		if r := OfRefusal(message); len(r.By)+len(r.Message) > len(message)*3 || r.Kind == "" {
			t.Errorf("%q: %+v", message, r)
		}
	})
}

// Requirements: CLI-06
func TestQuotaThatAllowsNoPodsOrJobsIsNotAboutRequests(t *testing.T) {
	for numbers, want := range map[string]string{
		"requested: pods=1,requests.cpu=2,requests.memory=2, used: pods=0, limited: pods=0,requests.cpu=1,requests.memory=1": "ResourceQuota team allows no such pods",
		"requested: count/pods=1,cpu=2, used: count/pods=0, limited: count/pods=0,cpu=1":                                     "ResourceQuota team allows no such pods",
		"requested: count/jobs.batch=1, used: count/jobs.batch=0, limited: count/jobs.batch=0":                               "ResourceQuota team allows no such Jobs",
	} {
		r := OfRefusal(`pods "a" is forbidden: exceeded quota: team, ` + numbers)
		if advice, _ := r.Advice("ns"); !strings.HasPrefix(r.Text(), want) || !strings.Contains(advice, "have it raised") {
			t.Errorf("%s: %s; %s", numbers, r.Text(), advice)
		}
	}
}

// Requirements: CLI-06
func TestQuotaThatCanNeverBeMetIsNoReasonToWait(t *testing.T) {
	t.Parallel()
	for numbers, never := range map[string]bool{
		"requested: memory=500Mi, used: memory=0, limited: memory=200Mi":                                true,
		"requested: pods=1,requests.cpu=3, used: pods=1,requests.cpu=1, limited: pods=9,requests.cpu=2": true,
		"requested: memory=200Mi, used: memory=1, limited: memory=200Mi":                                false,
		"requested: memory=lots, used: memory=1, limited: memory=200Mi":                                 false,
		"": false,
	} {
		r := OfRefusal(`pods "a" is forbidden: exceeded quota: team, ` + numbers)
		advice, _ := r.Advice("ns")
		if got := strings.Contains(r.Text(), "asks for more than ResourceQuota team has in all"); got != never || strings.Contains(advice, "wait until other") == never {
			t.Errorf("%s: %s; %s", numbers, r.Text(), advice)
		}
	}
}

// Requirements: PND-06
func TestPodSecurityNamesWhatPassesItsChecks(t *testing.T) {
	for message, want := range map[string]string{
		`allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false), ` +
			`unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"]), ` +
			`seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`: `with allowPrivilegeEscalation: false, ` +
			`capabilities.drop: [ALL] and seccompProfile.type: RuntimeDefault in the securityContext of its containers`,
		`host namespaces (hostNetwork=true, hostPID=true), hostPath volumes (volume "data"), privileged (container "main" must not set securityContext.privileged=true)`: "without hostNetwork, hostPID, its hostPath volumes and privileged: true",
		`unrestricted capabilities (container "main" must not include "NET_ADMIN" in securityContext.capabilities.add), ` +
			`runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)`: "with runAsNonRoot: true in the securityContext of its containers, and without the capabilities that the message names",
		"a check of the future": "with a corrected pod template",
	} {
		advice, _ := OfRefusal(`Error creating: pods "a" is forbidden: violates PodSecurity "restricted:latest": ` + message).Advice("ns")
		assert.Contains(t, advice, "{recreate} "+want+"; or have label pod-security.kubernetes.io/enforce of the namespace", message)
	}
}

// Requirements: PND-04
func TestOneWarningSufficesIfItsCauseDoesNotPassWithinSeconds(t *testing.T) {
	for message, want := range map[string]bool{
		`Multi-Attach error for volume "pvc-0a1b" Volume is already used by pod(s) db-0`:                                              true,
		`MountVolume.SetUp failed for volume "host" : hostPath type check failed: /data is not a directory`:                           true,
		`MountVolume.SetUp failed for volume "tls" : secret "web-tls" not found`:                                                      false,
		`MountVolume.SetUp failed for volume "tls" : failed to sync secret cache: timed out waiting for the condition`:                false,
		`MountVolume.MountDevice failed for volume "pvc-1" : driver name x.csi not found in the list of registered CSI drivers`:       false,
		`AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = something that nobody has reported before`: false,
	} {
		assert.Equal(t, IsDecisive("FailedAttachVolume", message), want, message)
	}
}

// Requirements: PND-05
func TestConstraintOfOpenShiftIsGrantedToTheAccountOfThePods(t *testing.T) {
	const hostPath = `pods "x-1" is forbidden: unable to validate against any security context constraint: [spec.volumes[0]: Invalid value: "hostPath": hostPath volumes are not allowed to be used`
	const user = `pods "x-1" is forbidden: unable to validate against any security context constraint: [spec.containers[0].securityContext.runAsUser: Invalid value: 1001: must be in the ranges: [1000680000, 1000689999]]`
	for _, c := range []struct{ message, account, text, advice string }{
		{
			hostPath + "]", "default", `ServiceAccount default has no SCC for volumes hostPath`,
			"{recreate} with the serviceAccountName of an account that may use a security context constraint (SCC) that allows them, such as hostmount-anyuid (oc adm policy who-can use scc hostmount-anyuid): without one, its pods use ServiceAccount default; or leave volumes out of the pod template",
		},
		{
			hostPath + " spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed]", "loader", `ServiceAccount loader has no SCC for volumes hostPath, privileged`,
			"let ServiceAccount loader use a security context constraint (SCC) that allows them, such as privileged (oc adm policy add-scc-to-user privileged -z loader -n batch); or leave volumes and privileged out of the pod template",
		},
		{
			user, "loader", "runAsUser 1001",
			"leave runAsUser out of the pod template, so that OpenShift sets permitted values; or let ServiceAccount loader use a security context constraint (SCC) that allows them, such as anyuid (oc adm policy add-scc-to-user anyuid -z loader -n batch)",
		},
		{user, "a; rm -r .", "its ServiceAccount has no SCC for", "leave runAsUser out"},
	} {
		r := OfRefusal(c.message).Of(c.account)
		advice, command := r.Advice("batch")
		assert.Contains(t, r.Text(), c.text)
		assert.Contains(t, advice, c.advice)
		assert.Equal(t, command, "kubectl get securitycontextconstraints")
	}
	assert.Equal(t, OfRefusal(`pods "x-1" is forbidden: exceeded quota: team`).Of("loader").Account, "")
}
