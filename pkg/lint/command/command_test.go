package command

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func container(t *testing.T, text string) *corev1.Container {
	t.Helper()
	c := &corev1.Container{}
	assert.NoError(t, yaml.UnmarshalStrict([]byte(text), c), text)
	return c
}

// Requirements: LNT-03
func TestLoopsThatWaitForever(t *testing.T) {
	for script, want := range map[string]bool{
		"until nc -z db 5432; do sleep 1; done":                                       true,
		"while ! pg_isready -h db -t 3; do echo waiting; sleep 2; done; echo up":      true,
		"while true; do if nc -z db 1; then break; fi; sleep 1; done":                 true,
		"until curl --connect-timeout 5 http://a; do sleep 1; done":                   true,
		"until [ $(curl -s -w '%{http_code}' http://a) -eq 200 ]; do sleep 3; done":   true,
		"until nslookup db; do :; done":                                               false, // no sleep: not the usual loop
		"timeout 300 sh -c 'until nc -z db 1; do sleep 1; done'":                      false,
		"for i in $(seq 30); do nc -z db 1 && break; sleep 1; done":                   false,
		"n=0; until nc -z db 1; do n=$((n+1)); [ $n -gt 9 ] && exit 1; sleep 1; done": false,
		"until nc -z db 1; do sleep 1; [ $SECONDS -gt 60 ] && exit 1; done":           false,
		"while read -r line; do echo $line; sleep 1; done </etc/hosts":                false,
		"nc -z db 1":                   false,
		"echo 'wait until it is done'": false,
	} {
		c := &corev1.Container{Command: []string{"sh", "-c", script}}
		if place, got := WaitsForever(c); got != want || got && place != (Place{"command", 2, script}) {
			t.Errorf("%s: %v at %v", script, got, place)
		}
	}
}

// Requirements: LNT-03
func TestCommandsThatNeverEnd(t *testing.T) {
	for text, want := range map[string]string{
		"command: [sleep, infinity]":                                                 "sleep infinity",
		"{command: [sh, -c], args: [sleep infinity]}":                                "sleep infinity",
		"{command: [sh, -ec, 'setup; exec sleep infinity']}":                         "sleep infinity",
		"command: [tail, -f, /dev/null]":                                             "tail -f /dev/null",
		"command: [sh, -c, 'touch /a; tail -F /a']":                                  "tail -F /a",
		"command: [sh, -c, 'tail -f /a & work']":                                     "",
		"command: [sh, -c, 'while true; do sync; sleep 5; done']":                    "a loop without an end",
		"command: [sh, -c, 'while true; do test -f /done && exit 0; sleep 5; done']": "",
		"command: [sh, -c, 'while true; do sync; sleep 5; done & work']":             "",
		"command: [sleep, '3600']":                                                   "",
		"command: [echo, do not sleep infinity]":                                     "",
		"command: [sh, -c, 'sleep infinity & work']":                                 "",
		"image: i": "",
	} {
		assert.Equal(t, Endless(container(t, text)), want, text)
	}
}

// Requirements: LNT-03
func TestServersAreKnownByImageOrName(t *testing.T) {
	for text, want := range map[string]string{
		"{name: a, image: gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.1.0}": "the Cloud SQL proxy",
		"{name: a, image: gcr.io/cloudsql-docker/gce-proxy@sha256:0}":         "the Cloud SQL proxy",
		"{name: a, image: localhost:5000/istio/proxyv2}":                      "Istio's proxy",
		"{name: a, image: cr.l5d.io/linkerd/proxy:stable}":                    "Linkerd's proxy",
		"{name: a, image: example.com/proxy}":                                 "",
		"{name: a, image: docker:27-dind}":                                    "the Docker daemon",
		"{name: a, image: docker:27-cli}":                                     "",
		"{name: vault-agent, image: hashicorp/vault}":                         "Vault's agent",
		"{name: envoy-tests, image: example.com/envoy-tests}":                 "",
	} {
		assert.Equal(t, Server(container(t, text)), want, text)
	}
}

// Requirements: LNT-03
func TestUsesOfTheIndex(t *testing.T) {
	for text, want := range map[string]Place{
		"args: [--shard, $(JOB_COMPLETION_INDEX)]":                                                                                   {"args", 1, "$(JOB_COMPLETION_INDEX)"},
		"command: [sh, -c, 'process $JOB_COMPLETION_INDEX']":                                                                         {"command", 2, "process $JOB_COMPLETION_INDEX"},
		"env: [{name: SHARD, value: part-$(JOB_COMPLETION_INDEX)}]":                                                                  {"env", 0, "SHARD"},
		"env: [{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['batch.kubernetes.io/job-completion-index']\"}}}]": {"env", 0, "A"},
		"{args: [$(JOB_COMPLETION_INDEX)], env: [{name: JOB_COMPLETION_INDEX, value: '0'}]}":                                         {},
		"command: [sh, -c, 'process ${JOB_COMPLETION_INDEX:-0}']":                                                                    {},
		"command: [process]": {},
	} {
		if got, found := UsesIndex(container(t, text)); got != want || found != (want != Place{}) {
			t.Errorf("%s: %v %v, want %v", text, got, found, want)
		}
	}
}
