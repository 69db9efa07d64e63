package observe

import (
	"bytes"
	stdjson "encoding/json"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	strictjson "sigs.k8s.io/json"
)

// NamedJob is a Job decoded from JSON with fields that batchv1.Job lacks: the names of its
// pod failure policy rules, which the API serves since 1.38 (KEP-4443, PFN-28), and unknown
// fields of its pod template, which a newer API server may store. It is for reading only:
// encoding it again loses these fields.
type NamedJob struct {
	batchv1.Job `json:",inline"`
	// RuleNames are the names by rule, "" for a rule without a name; nil if no rule has a name.
	RuleNames []string `json:"-"`
	// Template is the pod template in JSON, if it has fields that corev1.PodTemplateSpec
	// lacks, otherwise nil. It must not be changed.
	Template []byte `json:"-"`
}

func (j *NamedJob) beyond() extraFields { return extraFields{j.RuleNames, j.Template, j.Generation} }

// NamedJobList is a list of NamedJobs.
type NamedJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []NamedJob `json:"items"`
}

// UnmarshalJSON decodes a Job, twice if it has rules. It does not retain data.
func (j *NamedJob) UnmarshalJSON(data []byte) error {
	j.Job, j.RuleNames, j.Template = batchv1.Job{}, nil, nil
	unknown, err := strictjson.UnmarshalStrict(data, &j.Job, strictjson.DisallowUnknownFields)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(unknown, isInTemplate) || len(unknown) >= manyUnknown {
		if j.Template, err = templateOf(data); err != nil {
			return err
		}
	}
	if j.Spec.PodFailurePolicy != nil {
		j.RuleNames = ruleNames(data)
	}
	return nil
}

// manyUnknown is the number of unknown fields that the decoder reports at most; there may be more.
const manyUnknown = 100

// isInTemplate reports whether an unknown field is in the pod template, or may be.
func isInTemplate(unknown error) bool {
	field, is := unknown.(strictjson.FieldError) //nolint:errorlint // UnmarshalStrict promises to return these, not wrapped.
	return !is || strings.HasPrefix(field.FieldPath(), "spec.template.")
}

// templateOf returns a copy of the pod template in the JSON of a Job.
func templateOf(data []byte) ([]byte, error) {
	var job struct {
		Spec struct {
			Template stdjson.RawMessage `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &job); err != nil {
		return nil, err
	}
	return bytes.Clone(job.Spec.Template), nil
}

// ruleNames reads the names of rules. Names that are not strings must not make the Job undecodable.
func ruleNames(data []byte) []string {
	var job struct {
		Spec struct {
			PodFailurePolicy struct {
				Rules []struct {
					Name string `json:"name"`
				} `json:"rules"`
			} `json:"podFailurePolicy"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &job); err != nil {
		return nil
	}
	rules := job.Spec.PodFailurePolicy.Rules
	names, named := make([]string, len(rules)), false
	for i := range rules {
		names[i] = rules[i].Name
		named = named || names[i] != ""
	}
	if !named {
		return nil
	}
	return names
}

// DeepCopyObject implements runtime.Object.
func (j *NamedJob) DeepCopyObject() runtime.Object {
	out := &NamedJob{RuleNames: slices.Clone(j.RuleNames), Template: j.Template}
	j.DeepCopyInto(&out.Job)
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *NamedJobList) DeepCopyObject() runtime.Object {
	out := &NamedJobList{TypeMeta: l.TypeMeta, Items: make([]NamedJob, len(l.Items))}
	l.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items[i].RuleNames, out.Items[i].Template = slices.Clone(l.Items[i].RuleNames), l.Items[i].Template
		l.Items[i].DeepCopyInto(&out.Items[i].Job)
	}
	return out
}
