package meaning

import (
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// An object of the API server that is in the way is named with its resource, unlike a table of a database.
// Requirements: CLI-18
func TestObjectThatExistsIsRecognized(t *testing.T) {
	for line, want := range map[string]Leftover{
		`error: failed to create secret secrets "token" already exists`:                               {Resource: "secrets", Name: "token"},
		`{"error": "clusterroles.rbac.authorization.k8s.io \"a:b\" already exists"}`:                  {Resource: "clusterroles.rbac.authorization.k8s.io", Name: "a:b"},
		`Error from server (AlreadyExists): error when creating "x": jobs.batch "etl" already exists`: {Resource: "jobs.batch", Name: "etl"},
		`ERROR:  relation "blocks" already exists`:                                                    {},
		`Error: IngressClass "x" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: key "meta.helm.sh/release-name" must equal "x": current value is "old"`: {Resource: "ingressclass", Name: "x", Holder: "old"},
		`Error: Secret "x" in namespace "n" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"`:                                                                                                           {Resource: "secret", Name: "x", Adopt: "kubectl label --overwrite secret x -n n app.kubernetes.io/managed-by=Helm"},
		"bucket already exists: data": {},
	} {
		e := KnownErrorIn(1, line)
		if e == nil || e.Kind != ErrorEarlierState || e.Leftover != want || (e.DeleteLeftover() == "") != (want.Name == "" || want.Adopt+want.Holder != "") {
			t.Errorf("%s: %+v, want %+v", line, e, want)
		}
	}
	claim := KnownError{Leftover: Leftover{Resource: "persistentvolumeclaims", Name: "data"}}
	assert.Contains(t, claim.DeleteLeftover(), "the data that it has")
	assert.Contains(t, KnownErrorIn(1, `secrets "token" already exists`).Advice(Container{Name: "main"}), "find out what made secrets/token")
}

// Advice on a request of the program that the API server refuses is about the ServiceAccount and the object of the program, not the pod template.
// Requirements: CLI-18
func TestRefusedRequestHasAdviceByItsReason(t *testing.T) {
	const scc = `pods "a" is forbidden: unable to validate against any security context constraint: [provider restricted: .spec.securityContext.hostPID: Invalid value: true: Host PID is not allowed to be used, ` +
		`spec.containers[0].securityContext.privileged: Invalid value: true: Privileged containers are not allowed]`
	of := Container{Name: "main", Account: "backup", Namespace: "ns"}
	for _, tc := range []struct {
		line, want string
		c          Container
	}{
		{scc, "oc adm policy add-scc-to-user privileged -z backup -n ns", of},
		{scc, "serviceAccountName of an account that may use security context constraint (SCC) privileged", Container{Name: "main"}},
		{`pods "a" is forbidden: exceeded quota: small, requested: cpu=2, used: cpu=1, limited: cpu=2`, "free what others use of the quota", of},
		{`pods "a" is forbidden: failed quota: small: must specify limits.cpu for: main`, "create it with limits.cpu", of},
		{`pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true)`, "with runAsNonRoot: true", of},
		{`pods "a" is forbidden: something new`, "change the policy that refuses it: “something new”", of},
	} {
		e := KnownErrorIn(1, "Error from server (Forbidden): "+tc.line)
		if e == nil || e.Kind != ErrorRefused {
			t.Fatalf("%s: %+v", tc.line, e)
		}
		assert.Contains(t, e.Advice(tc.c), tc.want, tc.line)
		assert.NotContains(t, e.Advice(tc.c), "template", tc.line)
	}
}

// A host may name a pod of a StatefulSet by its Service.
// Requirements: CLI-18
func TestPodOfAStatefulSetIsRecognizedInAHost(t *testing.T) {
	for host, want := range map[string][2]string{
		"db-0.db": {"db-0", ""}, "kafka-1.kafka-headless:9092": {"kafka-1", ""}, "data-0.nodes.prod.svc.cluster.local": {"data-0", "prod"}, "kafka-0.kafka.prod": {"kafka-0", "prod"},
		"db": {}, "db-0": {}, "web-1.prod.corp": {}, "node-1.example.com": {}, "db-0.other": {}, "10.0.0.1": {},
	} {
		if pod, namespace := PodOf(host); pod != want[0] || namespace != want[1] {
			t.Errorf("%s: %q, %q, want %q", host, pod, namespace, want)
		}
	}
	missing := KnownError{Kind: ErrorNameResolution, Subject: "db-0.db"}
	assert.Contains(t, missing.Advice(Container{}), "look at pod db-0")
	assert.Contains(t, missing.Advice(Container{}), "{?; the next attempt of this Job then succeeds without a change}", "left out after its end")
	assert.Contains(t, (&KnownError{Kind: ErrorConnectionRefused, Subject: "db-0.db:5432"}).Advice(Container{}), "look at pod db-0")
}

// A sign that the script in the template does not have is most likely one of a program that the shell reads as a script.
// Requirements: CLI-18
func TestScriptWithoutTheUnexpectedSignIsNotToBlame(t *testing.T) {
	const line = `sh: syntax error: unexpected "("`
	for script, want := range map[string]string{
		"mkdir -p $(dirname /tmp/a) && k6 run": "for the architecture of its node", "a=(1 2); echo": "arrays and [[ need bash", "[[ -f x ]] && (a)": "arrays and [[ need bash",
	} {
		e := KnownErrorIn(2, line)
		assert.Contains(t, e.Advice(Container{Name: "main", Image: "a:1", Arguments: []string{"sh", "-c", script}}), want, script)
	}
	assert.Contains(t, KnownErrorIn(2, line).Advice(Container{Name: "main"}), "arrays and [[ need bash", "the script is not known")
}

// A script that waits for all processes in the background succeeds whatever they do.
// Requirements: CLI-18
func TestWaitForBackgroundProcessesHidesTheirExit(t *testing.T) {
	for script, want := range map[string]string{"a --x & wait": "& wait", "a &\nwait\n": "& wait", "a && wait": "", "a & wait $!": ""} {
		assert.Equal(t, (&Container{Arguments: []string{"bash", "-ec", script}}).HidesExit(), want, script)
	}
}
