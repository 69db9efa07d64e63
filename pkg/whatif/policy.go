package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Fields are the fields of a JobSpec that may be changed.
func Fields() []string {
	return []string{
		"activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes",
		"podFailurePolicy", "podReplacementPolicy", "successPolicy",
	}
}

// Policies are changed fields of a JobSpec by their name; nil removes one.
type Policies map[string]any

// ParsePolicies reads YAML or JSON: some of the Fields, which may be below spec, or a whole Job, which changes all of
// them: those that it lacks are removed.
func ParsePolicies(data []byte) (Policies, error) {
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	kind, isObject := object["kind"]
	if isObject && kind != "Job" {
		return nil, fmt.Errorf("kind %v is not Job", kind)
	}
	if spec, ok := object["spec"].(map[string]any); ok {
		object = spec
	}
	policies := Policies{}
	for _, field := range Fields() {
		if value, found := object[field]; found || isObject {
			policies[field] = value
		}
	}
	for _, field := range slices.Sorted(maps.Keys(object)) {
		if _, known := policies[field]; !known && !isObject {
			return nil, fmt.Errorf("cannot change %s, only %s", field, strings.Join(Fields(), ", "))
		}
	}
	if len(policies) == 0 {
		return nil, errors.New("there is no policy in it; write one of the fields " + strings.Join(Fields(), ", "))
	}
	return policies, nil
}

// Apply returns the Job with the policies.
func (p Policies) Apply(job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	if _, changed := p["podFailurePolicy"]; changed {
		delete(job.Annotations, rulename.Annotation)
		names, err := p.takeNames()
		if err != nil {
			return nil, err
		}
		if text := rulename.Format(names); text != "" {
			job.Annotations = map[string]string{rulename.Annotation: text}
		}
	}
	spec, err := p.merge(&job.Spec)
	if err != nil {
		return nil, err
	}
	p.setDefaults(&job.Spec, spec)
	job.Spec = *spec
	return job, nil
}

// merge returns the spec with the fields of p.
func (p Policies) merge(spec *batchv1.JobSpec) (*batchv1.JobSpec, error) {
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	maps.Copy(fields, p)
	if data, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	merged := &batchv1.JobSpec{}
	return merged, yaml.UnmarshalStrict(data, merged)
}

// setDefaults sets what the API server would have set if the Job had been created with the policies. A value that is its
// default for the policies of before is taken for that.
func (p Policies) setDefaults(before, spec *batchv1.JobSpec) {
	_, limited := p["backoffLimit"]
	if usual := map[bool]int32{true: math.MaxInt32, false: 6}[before.BackoffLimitPerIndex != nil]; !limited && ptr.Deref(before.BackoffLimit, usual) == usual {
		spec.BackoffLimit = nil
	}
	if _, replaced := p["podReplacementPolicy"]; !replaced && spec.PodFailurePolicy != nil {
		spec.PodReplacementPolicy = nil
	}
	spec.BackoffLimit = ptr.To(jobspec.BackoffLimit(spec))
	if spec.PodReplacementPolicy == nil {
		spec.PodReplacementPolicy = ptr.To(jobspec.PodReplacementPolicy(spec))
	}
}

// takeNames takes the names of the rules out of the podFailurePolicy (KEP-4443), which the Go type lacks.
func (p Policies) takeNames() (names rulename.Names, _ error) {
	policy, _ := p["podFailurePolicy"].(map[string]any)
	rules, _ := policy["rules"].([]any)
	for i := range rules {
		rule, _ := rules[i].(map[string]any)
		name, _ := rule["name"].(string)
		names = append(names, name)
		delete(rule, "name")
	}
	if problems := rulename.Validate(names); len(problems) > 0 {
		return nil, fmt.Errorf("podFailurePolicy.rules[%d].name: %s", problems[0].Rule, problems[0].String())
	}
	return names, nil
}

// Change is a field that has another value.
type Change struct {
	Field string `json:"field"`
	// Actual and New are the values, nil for none.
	Actual any `json:"actual"`
	New    any `json:"new"`
}

// Changes are the fields in which two Jobs differ.
func Changes(actual, changed *batchv1.Job) (list []Change) {
	a, b := &actual.Spec, &changed.Spec
	for _, c := range []Change{
		{"activeDeadlineSeconds", a.ActiveDeadlineSeconds, b.ActiveDeadlineSeconds},
		{"backoffLimit", a.BackoffLimit, b.BackoffLimit},
		{"backoffLimitPerIndex", a.BackoffLimitPerIndex, b.BackoffLimitPerIndex},
		{"maxFailedIndexes", a.MaxFailedIndexes, b.MaxFailedIndexes},
		{"podFailurePolicy", a.PodFailurePolicy, b.PodFailurePolicy},
		{"podReplacementPolicy", a.PodReplacementPolicy, b.PodReplacementPolicy},
		{"successPolicy", a.SuccessPolicy, b.SuccessPolicy},
	} {
		if !equality.Semantic.DeepEqual(c.Actual, c.New) {
			list = append(list, c)
		}
	}
	return list
}
