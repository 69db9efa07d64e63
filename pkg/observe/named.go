package observe

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// NamedJob is a Job as JSON has it, with the names of its pod failure policy rules: the
// API serves them from 1.38 on, and batchv1.Job has no field for them (KEP-4443,
// PFN-28). It is for reading only: what is encoded again is the Job without the names.
type NamedJob struct {
	batchv1.Job `json:",inline"`
	// RuleNames are by rule, "" for a rule without a name; nil if no rule has one.
	RuleNames []string `json:"-"`
}

// NamedJobList is a list of Jobs as JSON has it.
type NamedJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []NamedJob `json:"items"`
}

// UnmarshalJSON reads a Job twice if it has rules, and keeps nothing of the data.
func (j *NamedJob) UnmarshalJSON(data []byte) error {
	j.Job, j.RuleNames = batchv1.Job{}, nil
	if err := json.Unmarshal(data, &j.Job); err != nil {
		return err
	}
	if j.Spec.PodFailurePolicy != nil {
		j.RuleNames = ruleNames(data)
	}
	return nil
}

// ruleNames reads what could be names. Names that are none of text are no reason to
// lose the Job.
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

// DeepCopyObject makes a NamedJob an API object.
func (j *NamedJob) DeepCopyObject() runtime.Object {
	out := &NamedJob{RuleNames: slices.Clone(j.RuleNames)}
	j.DeepCopyInto(&out.Job)
	return out
}

// DeepCopyObject makes a NamedJobList an API object.
func (l *NamedJobList) DeepCopyObject() runtime.Object {
	out := &NamedJobList{TypeMeta: l.TypeMeta, Items: make([]NamedJob, len(l.Items))}
	l.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		out.Items[i].RuleNames = slices.Clone(l.Items[i].RuleNames)
		l.Items[i].DeepCopyInto(&out.Items[i].Job)
	}
	return out
}
