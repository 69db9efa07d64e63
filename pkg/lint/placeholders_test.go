package lint

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// A placeholder is one finding: an error if the API server rejects it, otherwise a warning.
// Requirements: LNT-08
func TestPlaceholdersAreOneFindingEach(t *testing.T) {
	for _, tc := range []struct {
		object string
		want   []string
	}{
		{strings.Replace(base, "{name: a}", "{name: '${NAME}', labels: {app: <your-app>}}", 1), []string{"!error placeholder metadata.labels[app]", "!error placeholder metadata.name"}},
		{strings.Replace(base, "image: i}]", "image: '$IMAGE'}]", 1), []string{"warning placeholder spec.template.spec.containers[1].image"}},
		{containerWith("resources: {limits: {memory: '${MEMORY}'}}"), []string{"!error placeholder spec.template.spec.containers[1].resources.limits[memory]"}},
		{base + "  completions: ${N}", []string{"!error placeholder spec.completions"}},
		{containerWith("args: ['${A}', $B, '{{ .C }}'], env: [{name: A, value: '$(B)'}]"), nil},
		{strings.Replace(cronJob(`schedule: "$SCHEDULE"`), "name: a", "name: a", 1), []string{"!error placeholder spec.schedule"}},
		{strings.Replace(base, "restartPolicy: Never", "restartPolicy: Never\n      serviceAccountName: '${KSA_NAME}'", 1), []string{"!error placeholder spec.template.spec.serviceAccountName"}},
		{strings.Replace(strings.Replace(base, "{name: a}", "{name: '{{ .Release.Name }}'}", 1), "image: i}]", "image: '{{ .Values.image }}'}]", 1), []string{"!error template metadata.name"}},
	} {
		assert.SlicesEqual(t, look(t, tc.object, nil), tc.want, tc.object)
	}
}

// The output of kubectl get -o yaml is one finding.
// Requirements: LNT-09
func TestAnObjectOfAClusterIsOneFinding(t *testing.T) {
	const uid = "0f1c8c3e-6f0e-4a6e-9d0a-6f1d5d1b2c3d"
	got := look(t, `
apiVersion: batch/v1
kind: Job
metadata:
  name: a
  namespace: b
  uid: `+uid+`
  resourceVersion: "7"
  generation: 1
  creationTimestamp: "2026-01-31T15:04:05Z"
  labels: {app: a}
  managedFields: [{apiVersion: batch/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:backoffLimit": {}}}, manager: kubectl, operation: Update, time: "2026-01-31T15:04:05Z"}]
spec:
  backoffLimit: 6
  completionMode: NonIndexed
  completions: 1
  manualSelector: false
  parallelism: 1
  podReplacementPolicy: TerminatingOrFailed
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: `+uid+`}}
  suspend: false
  template:
    metadata:
      creationTimestamp: null
      labels: {batch.kubernetes.io/controller-uid: `+uid+`, batch.kubernetes.io/job-name: a, controller-uid: `+uid+`, job-name: a}
    spec:
      containers: [{image: i, imagePullPolicy: Always, name: main, resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}]
      dnsPolicy: ClusterFirst
      restartPolicy: Never
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
status:
  completionTime: "2026-01-31T15:04:25Z"
  conditions: [{lastProbeTime: "2026-01-31T15:04:25Z", lastTransitionTime: "2026-01-31T15:04:25Z", status: "True", type: Complete}]
  ready: 0
  startTime: "2026-01-31T15:04:05Z"
  succeeded: 1
  uncountedTerminatedPods: {}
`, nil)
	assert.SlicesEqual(t, got, []string{"!error from-cluster metadata.uid"})
	if got := look(t, strings.Replace(base, "{name: a}", "{name: a, creationTimestamp: null}", 1)+"status: {}", nil); len(got) > 0 {
		t.Errorf("kubectl create --dry-run=client: %q", got)
	}
}
