package fidelity

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// errAbsent is the answer if a call is not made because its object does not exist.
var errAbsent = errors.New("no object")

// answerOf returns the compared part of an answer: the code, the reason, and the types and fields of the causes.
func answerOf(err error) string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "OK"
	case !errors.As(err, &status):
		return err.Error()
	}
	s := status.Status()
	words := []string{fmt.Sprint(s.Code), string(s.Reason)}
	if s.Reason == metav1.StatusReasonConflict {
		words = append(words, conflict(s.Message))
	}
	var causes []string
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			causes = append(causes, fmt.Sprintf("%s %s", c.Type, c.Field))
		}
	}
	slices.Sort(causes)
	return strings.Join(append(words, slices.Compact(causes)...), ", ")
}

// conflict returns the kind of a conflict: UID, resourceVersion, or else the message.
func conflict(message string) string {
	switch {
	case strings.Contains(message, "UID in"):
		return "UID"
	case strings.Contains(message, "ResourceVersion in"), strings.Contains(message, "has been modified"), strings.Contains(message, "precondition does not hold"):
		return "resourceVersion"
	}
	return message
}

// notModeled are the fields that the virtual API server does not have or sets to other values.
var notModeled = map[string][]string{
	"job": {"metadata.namespace", "metadata.resourceVersion", "metadata.managedFields"},
	"pod": {
		"metadata.namespace", "metadata.resourceVersion", "metadata.managedFields", "metadata.generation",
		"status.qosClass", "status.observedGeneration", "status.startTime",
	},
}

// compared returns the compared fields of an object, with the same names on all servers.
func (p *player) compared(o *object, before *metav1.ObjectMeta) (any, error) {
	var value any
	var fields []string
	if o.job != nil {
		job := o.job.DeepCopy()
		template := &job.Spec.Template.Spec
		*template = corev1.PodSpec{
			RestartPolicy: template.RestartPolicy, InitContainers: modeled(template.InitContainers), Containers: modeled(template.Containers),
		}
		value, fields = job, notModeled["job"]
	} else {
		pod := o.pod.DeepCopy()
		pod.Spec = corev1.PodSpec{
			NodeName: pod.Spec.NodeName, RestartPolicy: pod.Spec.RestartPolicy, ActiveDeadlineSeconds: pod.Spec.ActiveDeadlineSeconds,
			Containers: []corev1.Container{{Image: pod.Spec.Containers[0].Image}},
		}
		pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
		value, fields = pod, notModeled["pod"]
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	tree := map[string]any{}
	if err := json.Unmarshal(text, &tree); err != nil {
		return nil, err
	}
	for _, path := range fields {
		prune(tree, strings.Split(path, "."))
	}
	renamed := p.rename(tree).(map[string]any)
	renamed["changed"] = before == nil || before.ResourceVersion != o.meta().ResourceVersion
	return renamed, nil
}

// modeled returns the modeled fields of containers in a Job's template.
func modeled(containers []corev1.Container) (list []corev1.Container) {
	for _, c := range containers {
		list = append(list, corev1.Container{Name: c.Name, Image: c.Image, Resources: corev1.ResourceRequirements{Requests: c.Resources.Requests}})
	}
	return list
}

func prune(tree map[string]any, path []string) {
	if len(path) == 1 {
		delete(tree, path[0])
		return
	}
	if child, ok := tree[path[0]].(map[string]any); ok {
		prune(child, path[1:])
	}
}

// rename replaces UIDs and generated names by labels.
func (p *player) rename(value any) any {
	switch v := value.(type) {
	case string:
		if label := p.labels[v]; label != "" {
			return label
		}
	case []any:
		for i := range v {
			v[i] = p.rename(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = p.rename(v[key])
		}
	}
	return value
}

// clockTolerance is the permitted difference between times set by the servers. Times set by calls are minutes apart.
const clockTolerance = 50 * time.Second

// differences returns the differences between the value of the virtual server and that of the real one, as lines.
func differences(path string, virtual, actual any) []string {
	v, isMap := virtual.(map[string]any)
	a, areMaps := actual.(map[string]any)
	if isMap && areMaps {
		return mapDifferences(path, v, a)
	}
	vs, isList := virtual.([]any)
	as, areLists := actual.([]any)
	if isList && areLists && len(vs) == len(as) {
		var all []string
		for i := range vs {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), vs[i], as[i])...)
		}
		return all
	}
	if reflect.DeepEqual(virtual, actual) || near(virtual, actual) {
		return nil
	}
	return []string{fmt.Sprintf("%s: virtual %v, real %v", path, virtual, actual)}
}

func mapDifferences(path string, virtual, actual map[string]any) (all []string) {
	keys := maps.Clone(virtual)
	maps.Copy(keys, actual)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, differences(path+"."+key, virtual[key], actual[key])...)
	}
	return all
}

// near reports whether both values are times that differ only because the servers acted at different instants.
func near(a, b any) bool {
	parse := func(v any) (time.Time, bool) {
		text, _ := v.(string)
		at, err := time.Parse(time.RFC3339, text)
		return at, err == nil
	}
	x, isTime := parse(a)
	y, both := parse(b)
	return isTime && both && x.Sub(y).Abs() <= clockTolerance
}

// meddling is a server with a bug: it modifies templates.
type meddling struct {
	virtual
	change func(*corev1.PodSpec)
}

func (m meddling) createJob(job *batchv1.Job) (*batchv1.Job, error) {
	m.change(&job.Spec.Template.Spec)
	return m.virtual.createJob(job)
}

// The modeled fields of a template are compared.
// Requirements: FID-02
func TestTemplatesAreCompared(t *testing.T) {
	calls, err := parseCalls("create job0 init=first cpu=1 initCPU=1")
	assert.NoError(t, err)
	for field, change := range map[string]func(*corev1.PodSpec){
		"restartPolicy":                            func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure },
		"containers[0].image":                      func(s *corev1.PodSpec) { s.Containers[0].Image = "other" },
		"containers[0].resources.requests.cpu":     func(s *corev1.PodSpec) { setCPU(s.Containers, "2") },
		"initContainers[0].image":                  func(s *corev1.PodSpec) { s.InitContainers[0].Image = "other" },
		"initContainers[0].resources.requests.cpu": func(s *corev1.PodSpec) { setCPU(s.InitContainers, "2") },
	} {
		l := &lane{newServer: func() (server, error) { return meddling{newVirtual(), change}, nil }}
		found, err := l.compare(calls)
		if err != nil || len(found.lines) != 1 || !strings.HasPrefix(found.lines[0], "job0.spec.template.spec."+field+": ") {
			t.Errorf("%s: %q, %v", field, found.lines, err)
		}
	}
}
