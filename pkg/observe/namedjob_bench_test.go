package observe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// jobText returns a Job as API servers send it on every change of its status, optionally with additional fields in its
// template.
func jobText(template string) []byte {
	env := strings.Repeat(`{"name":"A_VARIABLE","value":"some value of it"},`, 20)
	container := `{"name":"%s","image":"registry.example.com/team/image:v1","args":["--flag=value","--other"],"env":[` + strings.TrimSuffix(env, ",") +
		`],"resources":{"limits":{"cpu":"2","memory":"4Gi"},"requests":{"cpu":"1","memory":"2Gi"}},"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}`
	return []byte(`{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"train","namespace":"ns","uid":"5e1f7c1e-6c1c-4a5e-9d5e-abcdefabcdef","resourceVersion":"123456","generation":3,` +
		`"labels":{"app":"train"},"managedFields":[{"manager":"m","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:template":{"f:spec":{"f:containers":{}}}}}}]},` +
		`"spec":{"parallelism":10,"completions":1000,"completionMode":"Indexed","podFailurePolicy":{"rules":[{"action":"FailJob","name":"One","onExitCodes":{"operator":"In","values":[42]}}]},` +
		`"template":{` + template + `"metadata":{"creationTimestamp":null,"labels":{"app":"train"}},"spec":{"restartPolicy":"Never","volumes":[{"name":"v","emptyDir":{}}],"containers":[` +
		fmt.Sprintf(container, "main") + `,` + fmt.Sprintf(container, "side") + `]}}},` +
		`"status":{"active":10,"ready":10,"terminating":0,"completedIndexes":"0-100,102,104-200","uncountedTerminatedPods":{}}}`)
}

// BenchmarkDecodeJob measures the cost of each status event of a Job.
// Requirements: SCL-03
func BenchmarkDecodeJob(b *testing.B) {
	data := jobText("")
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		var job NamedJob
		if err := json.Unmarshal(data, &job); err != nil {
			b.Fatal(err)
		}
	}
}
