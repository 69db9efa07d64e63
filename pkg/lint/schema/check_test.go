package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// content returns an object in YAML.
func content(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = utiljson.Unmarshal(data, &object)
	}
	assert.NoError(t, err, text)
	return object
}

// check returns the problems of a Job or a CronJob.
func check(t *testing.T, of reflect.Type, text string) (problems []string, result Result, corrected map[string]any) {
	t.Helper()
	corrected = content(t, text)
	result = Check(Input{Schema: Of(of), Content: corrected})
	for _, p := range result.Problems {
		problems = append(problems, p.Path+": "+p.Message+"; "+p.Fix)
	}
	return problems, result, corrected
}

const pod = "template: {spec: {restartPolicy: Never, containers: [{name: a, image: i}]}}"

// A field with only one possible place is moved there: from another case, a synonym, or another level.
// Requirements: LNT-06
func TestFieldsThatAreCertainAreMoved(t *testing.T) {
	job, cronJob := reflect.TypeFor[batchv1.Job](), reflect.TypeFor[batchv1.CronJob]()
	for _, c := range []struct {
		of             reflect.Type
		text, want, to string
	}{
		{job, "spec: {backofflimit: 3}", "spec.backofflimit: batch/v1 has no field spec.backofflimit, did you mean backoffLimit; write backoffLimit, or remove it", "backoffLimit:3"},
		{job, "spec: {backoff_limit: 3}", "spec.backoff_limit: batch/v1 has no field spec.backoff_limit, did you mean backoffLimit; write backoffLimit, or remove it", "backoffLimit:3"},
		{job, "spec: {retries: 3}", "spec.retries: batch/v1 has no field spec.retries, did you mean backoffLimit; write backoffLimit, or remove it", "backoffLimit:3"},
		{job, "spec: {ttl: 3}", "spec.ttl: batch/v1 has no field spec.ttl, did you mean ttlSecondsAfterFinished; write ttlSecondsAfterFinished, or remove it", "ttlSecondsAfterFinished:3"},
		{job, "spec: {timeout: 3}", "spec.timeout: batch/v1 has no field spec.timeout, did you mean activeDeadlineSeconds; write activeDeadlineSeconds, or remove it", "activeDeadlineSeconds:3"},
		{job, "spec: {activeDeadline: 3}", "spec.activeDeadline: batch/v1 has no field spec.activeDeadline, did you mean activeDeadlineSeconds; write activeDeadlineSeconds, or remove it", "activeDeadlineSeconds:3"},
		{job, "spec: {template: {spec: {backoffLimit: 3}}}", "spec.template.spec.backoffLimit: batch/v1 has no field spec.template.spec.backoffLimit, did you mean spec.backoffLimit; move it to spec, or remove it", "backoffLimit:3"},
		{job, "spec: {containers: [{name: a, image: i}]}", "spec.containers: batch/v1 has no field spec.containers, did you mean spec.template.spec.containers; move it to spec.template.spec, or remove it", "containers:[map[image:i name:a]]"},
		{job, "spec: {template: {containers: [{name: a}]}}", "spec.template.containers: batch/v1 has no field spec.template.containers, did you mean spec.template.spec.containers; move it to spec.template.spec, or remove it", "spec:map[containers:[map[name:a]]]"},
		{job, "spec: {template: {spec: {containers: [{name: a}], image: i}}}", "spec.template.spec.image: batch/v1 has no field spec.template.spec.image, did you mean spec.template.spec.containers[0].image; move it to spec.template.spec.containers[0], or remove it", "map[image:i name:a]"},
		{job, "spec: {template: {spec: {containers: [{name: a, volumes: []}]}}}", "spec.template.spec.containers[0].volumes: batch/v1 has no field spec.template.spec.containers[0].volumes, did you mean spec.template.spec.volumes; move it to spec.template.spec, or remove it", "volumes:[]"},
		{job, "spec: {template: {labels: {a: b}}}", "spec.template.labels: batch/v1 has no field spec.template.labels, did you mean spec.template.metadata.labels; move it to spec.template.metadata, or remove it", "metadata:map[labels:map[a:b]]"},
		{job, "metadata: {name: a}\nspec: {metadata: {labels: {a: b}}, template: {}}", "spec.metadata: batch/v1 has no field spec.metadata, did you mean spec.template.metadata; move it to spec.template, or remove it", "template:map[metadata:map[labels:map[a:b]]]"},
		{job, "spec: {template: {spec: {volumes: [{name: v, optional: true, secret: {secretName: s}}]}}}", "spec.template.spec.volumes[0].optional: batch/v1 has no field spec.template.spec.volumes[0].optional, did you mean spec.template.spec.volumes[0].secret.optional; move it to spec.template.spec.volumes[0].secret, or remove it", "secret:map[optional:true secretName:s]"},
		{job, "spec: {template: {spec: {containers: [{name: a, env: [{name: A, valueFrom: {secretRef: {name: s, key: k}}}]}]}}}", "spec.template.spec.containers[0].env[0].valueFrom.secretRef: batch/v1 has no field spec.template.spec.containers[0].env[0].valueFrom.secretRef, did you mean secretKeyRef; write secretKeyRef, or remove it", "secretKeyRef:map[key:k name:s]"},
		{job, "spec: {template: {spec: {resourceClaims: [{name: c, source: {resourceClaimName: d}}]}}}", "spec.template.spec.resourceClaims[0].source: batch/v1 has no field spec.template.spec.resourceClaims[0].source: what it contains belongs into spec.template.spec.resourceClaims[0] itself; write resourceClaimName here, without source", "name:c resourceClaimName:d"},
		{job, "template: {}", "template: batch/v1 has no field template, did you mean spec.template; move it to spec, or remove it", "spec:map[template:map[]]"},
		{cronJob, "spec: {template: {spec: {}}}", "spec.template: batch/v1 has no field spec.template, did you mean spec.jobTemplate.spec.template; move it to spec.jobTemplate.spec, or remove it", "jobTemplate:map[spec:map[template:map[spec:map[]]]]"},
		{cronJob, "spec: {jobTemplate: {spec: {schedule: x}}}", "spec.jobTemplate.spec.schedule: batch/v1 has no field spec.jobTemplate.spec.schedule, did you mean spec.schedule; move it to spec, or remove it", "schedule:x"},
		{job, "spec:\n  template:\n  metadata: {}\n  spec: {restartPolicy: Never}", "spec.template: spec.template is empty, but there is metadata and spec beside it; indent metadata and spec more than template", "template:map[metadata:map[] spec:map[restartPolicy:Never]]"},
		{job, "metadata:\n  labels:\n  app: a", "metadata.app: metadata.labels is empty, but there is app beside it; indent app more than labels", "labels:map[app:a]"},
	} {
		got, result, corrected := check(t, c.of, c.text)
		if strings.Join(got, "\n") != c.want || len(result.Guesses) > 0 || !strings.Contains(fmt.Sprint(corrected), c.to) {
			t.Errorf("%s\n got %q\nwant %q\n%v", c.text, got, c.want, corrected)
		}
	}
}

// If several fields are possible, or a third of the name differs, no field is moved.
// Requirements: LNT-06
func TestFieldsThatAreNotCertainAreGuessesOrNothing(t *testing.T) {
	for text, want := range map[string]string{
		"spec: {backofLimit: 3, " + pod + "}":                                      "backoffLimit 1",
		"spec: {completion: 3, " + pod + "}":                                       "completions 1",
		"spec: {flavor: sweet, " + pod + "}":                                       " 0",
		"spec: {template: {spec: {containers: [{name: a, image: i, evn: []}]}}}":   "env 1",
		"spec: {template: {spec: {containers: [{name: a, iamge: i}]}}}":            "image 1",
		"spec: {template: {spec: {containers: [{name: a, image: i, en: []}]}}}":    " 0",
		"spec: {labels: {a: b}, " + pod + "}":                                      " 0",
		"spec: {name: b, " + pod + "}":                                             " 0",
		"spec: {template: {spec: {volumes: [{name: v, secretName: s}]}}}":          " 0",
		"spec: {template: {spec: {containers: [{name: a}, {name: b}], image: i}}}": " 0",
		"spec: {succeeded: 3, " + pod + "}":                                        " 0",
	} {
		_, result, _ := check(t, reflect.TypeFor[batchv1.Job](), text)
		_, meant, _ := strings.Cut(result.Problems[0].Message, "did you mean ")
		if got := fmt.Sprintf("%s %d", meant, len(result.Guesses)); len(result.Problems) != 1 || got != want || len(result.Moved) > 0 {
			t.Errorf("%s: %q, want %q: %+v", text, got, want, result)
		}
	}
}

// Requirements: LNT-06
func TestResourcesBelongIntoLimitsOrRequests(t *testing.T) {
	_, result, _ := check(t, reflect.TypeFor[batchv1.Job](), "spec: {template: {spec: {containers: [{name: a, resources: {memory: 1Gi}}]}}}")
	if len(result.Problems) != 1 || result.Problems[0].Fix != "write it in limits, in requests, or in both" {
		t.Errorf("%+v", result.Problems)
	}
}

// The work for tens of thousands of problems is limited: at most MaxProblems are reported, and the manifest is asked for no more
// than that.
// Requirements: LNT-06
func TestTheNumberOfProblemsIsLimited(t *testing.T) {
	unknown, labels, limits := map[string]any{}, map[string]any{}, map[string]any{}
	for i := range 20_000 {
		unknown[fmt.Sprintf("backofLimit%d", i)] = int64(i)
		labels[strconv.Itoa(i)] = int64(i)
		limits[strconv.Itoa(i)] = int64(i)
	}
	pod := map[string]any{"containers": []any{map[string]any{"resources": map[string]any{"limits": limits}}}}
	for name, c := range map[string]struct {
		content         map[string]any
		problems, asked int
	}{
		"unknown fields":   {map[string]any{"spec": unknown}, MaxProblems, 0},
		"wrong types":      {map[string]any{"metadata": map[string]any{"labels": labels}}, MaxProblems, MaxProblems},
		"valid quantities": {map[string]any{"spec": map[string]any{"template": map[string]any{"spec": pod}}}, 0, 0},
	} {
		asked := 0
		written := func(string) string { asked++; return "" }
		result := Check(Input{Schema: Of(reflect.TypeFor[batchv1.Job]()), Content: c.content, Written: written})
		if len(result.Problems) != c.problems || asked > c.asked || len(result.Removed) > MaxProblems {
			t.Errorf("%s: %d problems, asked %d times, %d removed", name, len(result.Problems), asked, len(result.Removed))
		}
	}
}

// FuzzCheck: the corrected content can be decoded, and has no other problem.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"restartpolicy":"Never","templat":{"spec":{"containers":[{"nam":1}]}}}}`, `{"spec":[],"metadata":{"labels":[1],"creationTimestamp":"x","name":{}}}`,
		`{"spec":{"backoffLimit":"3","suspend":"yes","completions":3000000000,"parallelism":1.5,"template":{"spec":{"containers":[3,{"resources":{"limits":{"memory":"2GB","cpu":true,"a":null}}}]}}}}`,
		`{"spec":{"template":null,"metadata":{},"spec":{"containers":{},"volumes":[{"emptyDir":{"sizeLimit":"x"}}]}}}`, `{"template":{"spec":{"image":"x","containers":[{}]}},"spec":3}`,
	} {
		f.Add(seed)
	}
	schema := Of(reflect.TypeFor[batchv1.Job]())
	f.Fuzz(func(t *testing.T, text string) {
		var object map[string]any
		if utiljson.Unmarshal([]byte(text), &object) != nil || object == nil {
			return
		}
		Check(Input{Schema: schema, Content: object})
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &batchv1.Job{}); err != nil {
			left, _ := json.Marshal(object)
			t.Errorf("%v in %s of %s", err, left, text)
		}
		for _, p := range Check(Input{Schema: schema, Content: object}).Problems {
			if p.ID == "wrong-type" || p.ID == "quantity-invalid" {
				t.Errorf("%+v is left of %s", p, text)
			}
		}
	})
}

// The values of enumerated texts come from the API; another case is corrected, and a pointer to an empty text has no default.
// Requirements: LNT-01
func TestValuesOfEnumeratedTexts(t *testing.T) {
	for fields, want := range map[string]string{
		"containers: [{name: a, imagePullPolicy: always}]":                     "pull-policy-unknown write Always",
		"containers: [{name: a, terminationMessagePolicy: logs}]":              "message-policy-unknown use File or FallbackToLogsOnError",
		"containers: [{name: a, ports: [{containerPort: 80, protocol: tcp}]}]": "protocol-unknown write TCP",
		"dnsPolicy: none": "dns-policy-unknown write None",
		"tolerations: [{key: a, operator: exists}]": "toleration-invalid write Exists",
		"preemptionPolicy: ''":                      "value-unknown use PreemptLowerPriority or Never",
		"dnsPolicy: ''":                             "",
	} {
		_, result, _ := check(t, reflect.TypeFor[batchv1.Job](), "spec: {template: {spec: {"+fields+"}}}")
		got := ""
		for _, p := range result.Problems {
			got += p.ID + " " + p.Fix
		}
		assert.Equal(t, got, want, fields)
	}
}

// A command that was written as one text becomes a list that runs the same program: args continue command.
// Requirements: LNT-06
func TestAListOfACommandRunsTheSameProgram(t *testing.T) {
	for fields, want := range map[string]string{
		`command: ["/bin/sh", "-c"], args: "make && echo ok"`: `write a list: ["make && echo ok"]`,
		`command: [bash, -euxc], args: "make"`:                `write a list: ["make"]`,
		`command: [/bin/sh], args: "-c 'make && echo ok'"`:    `write a list: ["-c", "make && echo ok"]`,
		`command: [/bin/sh], args: "make && echo ok"`:         `write a list: ["-c", "make && echo ok"]`,
		`command: [python, run.py], args: "--all"`:            `write a list: ["--all"]`,
		`command: [python, run.py], args: "--name 'a b'"`:     `write a list with an item for each argument`,
		`args: "make && echo ok"`:                             `write a list with an item for each argument; for a script, add command: ["sh", "-c"] and write args: ["make && echo ok"]`,
		`command: "make && echo ok"`:                          `write a list: ["sh", "-c", "make && echo ok"]`,
		`command: "sh -c 'make && echo ok'"`:                  `write a list: ["sh", "-c", "make && echo ok"]`,
		`command: "python run.py --all"`:                      `write a list: ["python", "run.py", "--all"]`,
	} {
		_, result, _ := check(t, reflect.TypeFor[batchv1.Job](), "spec: {template: {spec: {containers: [{name: a, "+fields+"}]}}}")
		if len(result.Problems) != 1 || result.Problems[0].Fix != want {
			t.Errorf("%s\n got %+v\nwant %s", fields, result.Problems, want)
		}
	}
}
