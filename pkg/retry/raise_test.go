package retry

import (
	"errors"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// raised describes the memory in a pod template after a raise, or the error.
func raised(t *testing.T, template, by string, killed ...OutOfMemory) string {
	t.Helper()
	job := &unstructured.Unstructured{}
	assert.NoError(t, yaml.Unmarshal([]byte("spec: {template: {spec: "+template+"}}"), &job.Object))
	typed := &batchv1.Job{}
	assert.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(job.Object, typed))
	raise, err := ParseMemoryRaise(by)
	assert.NoError(t, err)
	all, err := RaiseMemory(job, Family{typed}, killed, raise)
	if refused, is := errors.AsType[*MemoryError](err); is {
		return fmt.Sprintf("%s %s", refused.Container, refused.Kind)
	}
	text := ""
	for _, r := range all {
		owner, _, _ := unstructured.NestedMap(job.Object, "spec", "template", "spec")
		if r.Container != "" {
			owner = containerNamed(owner, r.Container)
		}
		limit, _ := memoryIn(owner, "limits")
		request, found := memoryIn(owner, "requests")
		text += fmt.Sprintf("[%s %s->%s", r.Container, r.Old.String(), limit.String())
		if found {
			text += " requests " + request.String()
		}
		text += "]"
	}
	return text
}

// Requirements: RTY-41
func TestRaiseMemoryInATemplate(t *testing.T) {
	const two = "{containers: [{name: main, resources: {limits: {memory: 1Gi}, requests: {memory: 512Mi, cpu: 1}}}, {name: side, resources: {limits: {memory: 100M}}}]}"
	for name, c := range map[string]struct {
		template, by string
		killed       []OutOfMemory
		want         string
	}{
		"one":            {two, "x2", []OutOfMemory{{Container: "main", Limit: "1Gi"}}, "[main 1Gi->2Gi requests 1Gi]"},
		"both":           {two, "x2", []OutOfMemory{{Container: "main", Limit: "1Gi"}, {Container: "side", Limit: "100M"}}, "[main 1Gi->2Gi requests 1Gi][side 100M->200M]"},
		"the highest":    {two, "x2", []OutOfMemory{{Container: "main", Limit: "1Gi"}, {Container: "main", Limit: "3Gi"}, {Container: "main"}}, "[main 3Gi->6Gi requests 3Gi]"},
		"never lower":    {two, "x2", []OutOfMemory{{Container: "main", Limit: "256Mi"}}, "[main 1Gi->2Gi requests 1Gi]"},
		"by admission":   {"{containers: [{name: main}]}", "x2", []OutOfMemory{{Container: "main", Limit: "1Gi"}}, "[main 1Gi->2Gi]"},
		"an init one":    {"{initContainers: [{name: fetch, resources: {limits: {memory: 1Gi}}}], containers: [{name: main}]}", "+1Gi", []OutOfMemory{{Container: "fetch", Limit: "1Gi"}}, "[fetch 1Gi->2Gi]"},
		"the whole pod":  {"{resources: {limits: {memory: 1Gi}, requests: {memory: 1Gi}}, containers: [{name: main}]}", "x2", []OutOfMemory{{Container: "main", Limit: "1Gi", AllOfPod: true}}, "[ 1Gi->2Gi requests 2Gi]"},
		"no limit":       {"{containers: [{name: main}]}", "x2", []OutOfMemory{{Container: "main"}}, "main NoLimit"},
		"injected":       {two, "x2", []OutOfMemory{{Container: "istio-proxy", Limit: "1Gi"}}, "istio-proxy NotInTemplate"},
		"at the cap":     {two, "x2", []OutOfMemory{{Container: "main", Limit: "8Gi"}}, "main AtCap"},
		"one at the cap": {two, "x2,max=1Gi", []OutOfMemory{{Container: "side", Limit: "100M"}, {Container: "main", Limit: "1Gi"}}, "main AtCap"},
	} {
		assert.Equal(t, raised(t, c.template, c.by, c.killed...), c.want, name)
	}
}

// Requirements: RTY-43
func TestOwnLimitsOfPrograms(t *testing.T) {
	for text, want := range map[string]string{
		"args: [-jar, x.jar, -Xmx900m]":                         "[{main  -Xmx900m}]",
		"command: [sh, -c, exec java -Xms1g -Xmx1g -jar x.jar]": "[{main  -Xmx1g}]",
		"args: [-Xmx2g]":      "[]", // above the old limit: it did not use all of it
		"args: [-Xmx$(HEAP)]": "[]",
		"env: [{name: JDK_JAVA_OPTIONS, value: -XX:MaxHeapSize=1073741824}]":                                "[{main JDK_JAVA_OPTIONS -XX:MaxHeapSize=1073741824}]",
		"env: [{name: JAVA_TOOL_OPTIONS, value: -XX:MaxRAMPercentage=75}]":                                  "[]",
		"env: [{name: GOMEMLIMIT, value: 900MiB}]":                                                          "[{main GOMEMLIMIT GOMEMLIMIT=900MiB}]",
		"env: [{name: GOMEMLIMIT, value: 'off'}]":                                                           "[]",
		"env: [{name: GOMEMLIMIT, valueFrom: {resourceFieldRef: {resource: limits.memory}}}]":               "[]",
		"env: [{name: MEMORY_LIMIT, value: '1073741824'}]":                                                  "[{main MEMORY_LIMIT 1073741824}]",
		"env: [{name: MAX_MEM_MB, value: '1024'}]":                                                          "[{main MAX_MEM_MB 1024}]",
		"env: [{name: HEAP, value: 1Gi}]":                                                                   "[{main HEAP 1Gi}]",
		"env: [{name: BATCH_SIZE, value: '1024'}]":                                                          "[]",
		"env: [{name: MEMORY_LIMIT, value: 2Gi}]":                                                           "[]",
		"env: [{name: MEM, valueFrom: {resourceFieldRef: {containerName: side, resource: limits.memory}}}]": "[{main MEM limits.memory of container side}]",
		"env: [{name: MEM, valueFrom: {resourceFieldRef: {containerName: main, resource: limits.memory}}}]": "[]",
		"env: [{name: NODE_OPTIONS, value: --max-old-space-size=768}]":                                      "[{main NODE_OPTIONS --max-old-space-size=768}]",
		"args: [node, --max-old-space-size=4096, x.js]":                                                     "[]",
	} {
		c := corev1.Container{Name: "main"}
		assert.NoError(t, yaml.Unmarshal([]byte("{"+text+"}"), &c))
		spec := &corev1.PodSpec{Containers: []corev1.Container{c, {Name: "side", Args: []string{"-Xmx1m"}}}}
		assert.Equal(t, fmt.Sprint(OwnLimits(spec, []RaisedMemory{{Container: "main", Old: resource.MustParse("1Gi")}})), want, text)
	}
}
