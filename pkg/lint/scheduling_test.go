package lint

import (
	"slices"
	"strings"
	"testing"
)

// JOB-64: spec.scheduling has no effect if no controller creates the PodGroup that it requests.
func TestSchedulingWithoutAPodGroupIsReported(t *testing.T) {
	const (
		gang  = "scheduling: {schedulingPolicy: {gang: {minCount: 1}}}"
		ours  = "\n  managedBy: batchjob.dev/controller"
		other = "\n  managedBy: example.com/other"
		field = " spec.scheduling"
	)
	checkSpecs(t, []specCase{
		{gang + ours, []string{"error scheduling-not-supported" + field}},
		{gang + other, []string{"warning scheduling-not-supported" + field}},
		{gang, []string{"info scheduling-alpha" + field}},
		{gang + "\n  managedBy: kubernetes.io/job-controller", []string{"info scheduling-alpha" + field}},
		{"scheduling: {disruptionMode: {all: {}}}" + ours, []string{"error scheduling-not-supported" + field}},
		{"scheduling: {schedulingPolicy: {basic: {}}}" + ours, nil},
		{"scheduling: {}" + ours, nil},
		{ours[3:], nil},
	})
	grouped := strings.Replace(base, "restartPolicy: Never", "restartPolicy: Never\n      schedulingGroup: {podGroupName: mine}", 1)
	if got := look(t, grouped+"  "+gang+ours, nil); len(got) > 0 {
		t.Errorf("a group of its own: %q", got)
	}
	const cron = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  schedule: "0 0 * * *"
  concurrencyPolicy: Forbid
  jobTemplate: {spec: {scheduling: {schedulingPolicy: {gang: {}}}, template: {spec: {restartPolicy: Never, containers: [{name: main, image: i}]}}}}
`
	if got := look(t, cron, nil); !slices.Contains(got, "warning scheduling-of-cronjob spec.jobTemplate.spec.scheduling") {
		t.Errorf("a CronJob: %q", got)
	}
}
