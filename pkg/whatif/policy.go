package whatif

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Fields returns the fields of a JobSpec that may be changed.
func Fields() []string {
	return []string{
		"activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "maxFailedIndexes",
		"podFailurePolicy", "podReplacementPolicy", "successPolicy",
	}
}

// Policies are changed fields of a JobSpec by their name; nil removes a field.
type Policies map[string]any

// ParsePolicies parses YAML or JSON: some of the Fields, which may be below spec, or a whole Job, which changes all of
// them: fields that the Job lacks are removed.
func ParsePolicies(data []byte) (Policies, error) {
	var object map[string]any
	if err := yaml.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		spec = object
	}
	kind, isManifest := object["kind"]
	policies := Policies{}
	for _, field := range Fields() {
		if value, found := spec[field]; found || isManifest {
			policies[field] = value
		}
		delete(spec, field)
	}
	others := slices.Sorted(maps.Keys(spec))
	switch {
	case isManifest && kind != "Job":
		return nil, fmt.Errorf("kind %v is not Job", kind)
	case isManifest:
		return policies, decode(object, &batchv1.Job{})
	case len(others) > 0:
		return nil, fmt.Errorf("cannot change %s, only %s", others[0], strings.Join(Fields(), ", "))
	case len(policies) == 0:
		return nil, errors.New("there is no policy in it; write one of the fields " + strings.Join(Fields(), ", "))
	}
	return policies, nil
}

// decode decodes fields into a value, and rejects fields that its type does not have.
func decode(fields map[string]any, into any) error {
	data, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, into)
}

// Apply returns a copy of the Job with the policies.
func (p Policies) Apply(job *batchv1.Job) (*batchv1.Job, error) {
	job = job.DeepCopy()
	if _, changed := p["podFailurePolicy"]; changed {
		names, err := p.removeNames()
		if err != nil {
			return nil, err
		}
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, rulename.Annotation, rulename.Format(names))
	}
	fields := fieldsOf(&job.Spec)
	maps.Copy(fields, p)
	spec := batchv1.JobSpec{}
	if err := decode(fields, &spec); err != nil {
		return nil, err
	}
	p.setDefaults(&job.Spec, &spec)
	job.Spec = spec
	return job, nil
}

// fieldsOf returns the fields of a spec, or of some policies, by their names.
func fieldsOf(spec any) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec)
	if err != nil {
		panic("a JobSpec has no fields: " + err.Error())
	}
	return fields
}

// setDefaults sets the defaults that the API server would have set if the Job had been created with the policies. A
// field that has the old policies' default is treated as unset.
func (p Policies) setDefaults(before, spec *batchv1.JobSpec) {
	usual := *before
	usual.BackoffLimit = nil
	if _, limited := p["backoffLimit"]; !limited && jobspec.BackoffLimit(before) == jobspec.BackoffLimit(&usual) {
		spec.BackoffLimit = nil
	}
	if _, replaced := p["podReplacementPolicy"]; !replaced && spec.PodFailurePolicy != nil {
		spec.PodReplacementPolicy = nil
	}
	spec.BackoffLimit = ptr.To(jobspec.BackoffLimit(spec))
	spec.PodReplacementPolicy = ptr.To(jobspec.PodReplacementPolicy(spec))
}

// removeNames removes the names of the rules from the podFailurePolicy (KEP-4443), because the Go type lacks them, and
// returns them.
func (p Policies) removeNames() (names rulename.Names, _ error) {
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

// Change is a field with a changed value.
type Change struct {
	Field string `json:"field"`
	// Actual and New are the values, nil for none.
	Actual any `json:"actual"`
	New    any `json:"new"`
}

// Changes returns the fields in which two Jobs differ.
func Changes(actual, changed *batchv1.Job) (list []Change) {
	was, is := fieldsOf(&actual.Spec), fieldsOf(&changed.Spec)
	for _, field := range Fields() {
		if !equality.Semantic.DeepEqual(was[field], is[field]) {
			list = append(list, Change{field, was[field], is[field]})
		}
	}
	return list
}
