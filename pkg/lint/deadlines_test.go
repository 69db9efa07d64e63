package lint

import (
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// withPod returns a Job with these fields of the pod, and of the Job.
func withPod(pod, job string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  " + job + "\n  template:\n    spec:\n      restartPolicy: Never\n      " + pod + "\n"
}

const mainOnly = "containers: [{name: main, image: i}]"

func checkPods(t *testing.T, cases []struct{ pod, job, want string }) {
	t.Helper()
	for _, c := range cases {
		assert.Equalf(t, strings.Join(look(t, withPod(c.pod, c.job), nil), ", "), c.want, "%s; %s", c.pod, c.job)
	}
}

// Such a Job never ends: no pod fails.
// Requirements: LNT-03
func TestWaitWithoutDeadlineIsReported(t *testing.T) {
	waits := func(fields string) string {
		return "initContainers: [{name: wait, image: i, " + fields + "}]\n      " + mainOnly
	}
	const loop = `command: [sh, -c, "until nc -z db 5432; do sleep 1; done"]`
	const found = "warning wait-without-deadline spec.template.spec.initContainers[0].command[2]"
	checkPods(t, []struct{ pod, job, want string }{
		{waits(loop), "", found},
		{waits(loop), "activeDeadlineSeconds: 900", ""},
		{waits(loop) + "\n      activeDeadlineSeconds: 600", "backoffLimit: 0", ""},
		{waits(loop + ", restartPolicy: Always"), "", ""}, // a sidecar
		{"containers: [{name: main, image: i, " + loop + "}]", "", ""},
	})
}

// Requirements: LNT-03
func TestDeadlineOfThePodTemplateIsReported(t *testing.T) {
	const pod, found = mainOnly + "\n      activeDeadlineSeconds: 600", "warning deadline-per-pod spec.template.spec.activeDeadlineSeconds"
	checkPods(t, []struct{ pod, job, want string }{
		{pod, "", found},
		{pod, "backoffLimit: 0", ""},
		{pod, "activeDeadlineSeconds: 3600", ""},
		{pod, "completions: 5", ""}, // for each
		{pod, "parallelism: 5", ""},
	})
}

// The waits before retries are 10 s, 20 s, 40 s and so on (JOB-18).
// Requirements: LNT-03
func TestDeadlineBeforeTheRetriesIsReported(t *testing.T) {
	const found = "info deadline-before-retries spec.activeDeadlineSeconds"
	checkPods(t, []struct{ pod, job, want string }{
		{mainOnly, "activeDeadlineSeconds: 70\n  backoffLimit: 3", found},
		{mainOnly, "activeDeadlineSeconds: 71\n  backoffLimit: 3", ""},
		{mainOnly, "activeDeadlineSeconds: 630", found}, // the default of 6
		{mainOnly, "activeDeadlineSeconds: 631", ""},
		{mainOnly, "activeDeadlineSeconds: 70\n  backoffLimit: 3\n  parallelism: 2", ""},
		{mainOnly, "activeDeadlineSeconds: 100\n  backoffLimit: 2147483647", found},
	})
	f := Check(Input{Object: read(t, withPod(mainOnly, "activeDeadlineSeconds: 100\n  backoffLimit: 5"))})
	const want = "activeDeadlineSeconds 100 ends the Job before retry 4 of 5: the waits before it take 2m30s"
	if len(f) != 1 || f[0].Message != want {
		t.Errorf("%+v, want %q", f, want)
	}
}

// Requirements: LNT-03
func TestContainersThatNeverEndAreReported(t *testing.T) {
	const found = "warning container-never-ends spec.template.spec.containers[1]"
	beside := func(fields string) string { return "containers: [{name: main, image: i}, {" + fields + "}]" }
	checkPods(t, []struct{ pod, job, want string }{
		{beside("name: db, image: gcr.io/cloud-sql-connectors/cloud-sql-proxy:2.1"), "", found},
		{beside("name: hold, image: i, command: [sleep, infinity]"), "", found},
		{beside("name: istio-proxy, image: i"), "activeDeadlineSeconds: 900", found},
		{beside("name: other, image: i"), "", ""},
		{beside("name: db, image: cloud-sql-proxy, args: [--quitquitquit]"), "", ""},
		{"shareProcessNamespace: true\n      containers: [{name: main, image: i, command: [sh, -c, work; pkill envoy]}, {name: envoy, image: i}]", "", ""},
		{"containers: [{name: envoy, image: i}]", "", ""}, // the main container
		{"initContainers: [{name: envoy, image: i, restartPolicy: Always}]\n      " + mainOnly, "", ""},
		{"containers: [{name: main, image: i, command: [sleep, infinity]}]", "", "warning container-never-ends spec.template.spec.containers[0]"},
		{"containers: [{name: main, image: i, command: [sleep, infinity]}]", "activeDeadlineSeconds: 900", ""},
	})
}

// Requirements: LNT-03
func TestIndexWithoutIndexedIsReported(t *testing.T) {
	const pod = `containers: [{name: main, image: i, args: ["--shard=$(JOB_COMPLETION_INDEX)"]}]`
	checkPods(t, []struct{ pod, job, want string }{
		{pod, "completions: 3", "warning index-without-indexed spec.template.spec.containers[0].args[0]"},
		{pod, "completions: 3\n  completionMode: Indexed", ""},
	})
}

// Exit code 137 also means that a container ran out of memory.
// Requirements: LNT-03
func TestIgnoredSignalsAreReported(t *testing.T) {
	signal := func(at string) string {
		return "warning signal-ignored spec.podFailurePolicy.rules[0].onExitCodes.values[" + at + "]"
	}
	checkSpecs(t, []specCase{
		{rules + exit("Ignore", "operator: In, values: [137, 143]"), []string{signal("0"), signal("1")}},
		{rules + exit("Ignore", "operator: In, values: [42]"), nil},
		{rules + exit("Count", "operator: In, values: [137]"), nil},
	}, "ignored-for-ever", "disruption-not-ignored")
}

// The controller deletes the pod at the limit.
// Requirements: LNT-03
func TestLogThatIsLostAtTheLimitIsReported(t *testing.T) {
	job := strings.Replace(base, "Never", "OnFailure", 1)
	assert.SlicesEqual(t, look(t, job, nil), []string{"info log-lost-at-limit spec.template.spec.restartPolicy"})
	found := Check(Input{Object: read(t, job), Path: "spec.replicatedJobs[0].template"}) // JobSet's default
	assert.Equal(t, len(found), 0, found)
}
