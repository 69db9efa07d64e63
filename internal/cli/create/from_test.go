package create

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

const nightly = `{"apiVersion": "batch/v1", "kind": "CronJob",
"metadata": {"name": "nightly", "namespace": "ns1", "uid": "c1", "labels": {"helm.sh/chart": "x"}},
"spec": {"schedule": "0 3 * * *", "suspend": true, "jobTemplate": {
	"metadata": {"labels": {"team": "a"}, "annotations": {"batchjob.dev/pod-failure-policy-rule-names": "[\"Bad\"]"}},
	"spec": {"parallelism": 2, "template": {"spec": {"restartPolicy": "Never", "containers": [
		{"name": "main", "image": "m:1", "command": ["run"], "args": ["all"], "resources": {"limits": {"memory": "1Gi", "cpu": "2"}}}]}}}}}}`

const trained = `{"apiVersion": "batch/v1", "kind": "Job",
"metadata": {"name": "train", "namespace": "ns1", "uid": "j1", "generation": 3, "resourceVersion": "7",
	"labels": {"team": "a", "batch.kubernetes.io/job-name": "train", "app.kubernetes.io/instance": "ml"},
	"annotations": {"batchjob.dev/pod-failure-policy-rule-names": "[\"Bad\"]", "batchjob.dev/retry-of": "x"},
	"ownerReferences": [{"apiVersion": "example.com/v1", "kind": "Trainer", "name": "t", "uid": "o1", "controller": true}]},
"spec": {"managedBy": "example.com/x", "suspend": true, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "j1"}}, "template": {
	"metadata": {"labels": {"team": "a", "batch.kubernetes.io/controller-uid": "j1", "job-name": "train"}},
	"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "m:1"}, {"name": "side", "image": "s:1"}]}}},
"status": {"failed": 1}}`

func withSources(t *testing.T) *creations {
	api := newCreations(t)
	api.sources = map[string]string{"/apis/batch/v1/namespaces/ns1/cronjobs/nightly": nightly, "/apis/batch/v1/namespaces/ns1/jobs/train": trained}
	return api
}

func field(object any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch value := object.(type) {
		case map[string]any:
			object = value[step]
		case []any:
			object = value[step[0]-'0']
		default:
			return nil
		}
	}
	return object
}

// wantFields compares fields, by path, with JSON; "null" for a field that must be absent.
func wantFields(t *testing.T, object map[string]any, fields map[string]string) {
	t.Helper()
	for path, text := range fields {
		var want any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got := field(object, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
}

// Requirements: RUN-17
func TestAJobIsMadeFromACronJobAsKubectlMakesIt(t *testing.T) {
	api := withSources(t)
	got := api.run(t, "--from", "cronjob/nightly", "-n", "ns1")
	if got.Code != cmdutil.ExitDone || !regexp.MustCompile(`^job.batch/nightly-[a-z0-9]{5} created\n$`).MatchString(got.Out) {
		t.Fatalf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	wantFields(t, api.bodies[0], map[string]string{
		"metadata.labels":                      `{"team": "a"}`,
		"metadata.annotations":                 `{"batchjob.dev/pod-failure-policy-rule-names": "[\"Bad\"]", "cronjob.kubernetes.io/instantiate": "manual"}`,
		"metadata.ownerReferences":             `[{"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "c1", "controller": true}]`,
		"spec.suspend":                         `null`,
		"spec.parallelism":                     `2`,
		"spec.template.spec.containers.0.args": `["all"]`,
	})
}

// Requirements: RUN-17
func TestACopyOfAJobHasNothingThatBelongsToTheJob(t *testing.T) {
	api := withSources(t)
	got := api.run(t, "--from", "jobs/train", "--name", "again", "-n", "ns1")
	warnings := "warning: Trainer/t does not own the new Job, and does not know about it\n" +
		"warning: app.kubernetes.io/instance was left out: the tool that sets it would take the new Job for its own\n"
	if got.Code != cmdutil.ExitDone || got.Out != "job.batch/again created\n" || got.ErrOut != warnings {
		t.Fatalf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	wantFields(t, api.bodies[0], map[string]string{
		"metadata.labels":               `{"team": "a"}`,
		"metadata.annotations":          `{"batchjob.dev/pod-failure-policy-rule-names": "[\"Bad\"]"}`,
		"metadata.ownerReferences":      `null`,
		"metadata.resourceVersion":      `null`,
		"spec.selector":                 `null`,
		"spec.suspend":                  `null`,
		"spec.managedBy":                `"example.com/x"`,
		"spec.template.metadata.labels": `{"team": "a"}`,
		"status":                        `null`,
	})
}

// Requirements: RUN-18
func TestFlagsChangeTheCopy(t *testing.T) {
	for _, c := range []struct {
		args   string
		fields map[string]string
	}{
		{"--from cronjob/nightly -- -v one", map[string]string{"args": `["-v", "one"]`, "command": `["run"]`}},
		{"--from cj/nightly --command -- sh -c x", map[string]string{"args": `null`, "command": `["sh", "-c", "x"]`}},
		{"--from cronjob/nightly --set-env A=1 --image m:2 --limits memory=2Gi", map[string]string{
			"env": `[{"name": "A", "value": "1"}]`, "image": `"m:2"`, "resources": `{"limits": {"memory": "2Gi", "cpu": "2"}}`}},
		{"--from job/train --image side=s:2 -c main --requests cpu=1 -- x", map[string]string{
			"args": `["x"]`, "image": `"m:1"`, "resources": `{"requests": {"cpu": "1"}}`}},
	} {
		api := withSources(t)
		if got := api.run(t, append([]string{"-n", "ns1"}, strings.Fields(c.args)...)...); got.Code != cmdutil.ExitDone {
			t.Fatalf("%s: exit %d, %q", c.args, got.Code, got.ErrOut)
		}
		main, _ := field(api.bodies[0], "spec.template.spec.containers.0").(map[string]any)
		wantFields(t, main, c.fields)
	}
	api := withSources(t)
	if got := api.run(t, strings.Fields("-n ns1 --from job/train --parallelism 3 --completions 6 --suspend")...); got.Code != cmdutil.ExitDone {
		t.Fatalf("exit %d, %q", got.Code, got.ErrOut)
	}
	wantFields(t, api.bodies[0], map[string]string{"spec.parallelism": `3`, "spec.completions": `6`, "spec.suspend": `true`})
}

// Requirements: RUN-17, RUN-18
func TestWrongUseOfFromCreatesNothing(t *testing.T) {
	for args, want := range map[string]string{
		"--from nightly":                            "--from=nightly: use job/NAME or cronjob/NAME",
		"--from pod/x":                              "--from=pod/x: use job/NAME or cronjob/NAME",
		"--from cronjob/":                           "--from=cronjob/: use job/NAME or cronjob/NAME",
		"--from cronjob/nightly -f x.yaml":          "only one of -f, -k and --from can be used",
		"--from cronjob/nightly x":                  `unexpected argument "x"; put arguments of the container after --`,
		"--from cronjob/nightly --command":          "--command needs a command after --",
		"--from cronjob/nightly --name A_b":         "--name=A_b: use at most 63 lowercase letters",
		"--from cronjob/nightly --limits memory=x":  "memory=x is not a quantity",
		"--from cronjob/nightly -c other --image x": `the Job has no container "other"; it has: main`,
		"--from job/train -- x":                     "choose the container of the arguments after -- with -c: main, side",
		"-f x.yaml --image y":                       "--image changes the copy of a Job; use it with --from job/NAME or --from cronjob/NAME",
	} {
		api := withSources(t)
		got := api.run(t, append([]string{"-n", "ns1"}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitUsage || !strings.Contains(got.ErrOut, want) || len(api.requests) > 0 {
			t.Errorf("%s: exit %d, %q, want %q; requests %q", args, got.Code, got.ErrOut, want, api.requests)
		}
	}
	api := withSources(t)
	got := api.run(t, "-n", "ns1", "--from", "cronjob/other")
	if want := `cronjob "other" not found in namespace "ns1"`; got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, want) {
		t.Errorf("exit %d, %q, want %q", got.Code, got.ErrOut, want)
	}
}

// Requirements: RUN-17
func TestANameThatIsTooLongIsCut(t *testing.T) {
	api := withSources(t)
	long := strings.Repeat("a", 50) + ".b"
	api.sources["/apis/batch/v1/namespaces/ns1/jobs/"+long] = trained
	api.sources["/apis/batch/v1/namespaces/ns1/jobs/"+strings.Repeat("a", 63)] = trained
	for _, name := range []string{long, strings.Repeat("a", 63)} {
		got := api.run(t, "-n", "ns1", "--from", "job/"+name)
		if made, _, _ := strings.Cut(strings.TrimPrefix(got.Out, "job.batch/"), " "); got.Code != cmdutil.ExitDone || len(made) > 63 || strings.Contains(made, ".") {
			t.Errorf("%s: exit %d, %q, %q", name, got.Code, got.Out, got.ErrOut)
		}
	}
}
