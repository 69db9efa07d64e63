package lint

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

const annotation = rulename.Annotation

func (r *review) annotationPath() *field.Path {
	return r.jobPath("metadata", "annotations").Key(annotation)
}

// checkNames checks the names of rules as written: in the rules, in the annotation, or in both (PFN-16 to PFN-22).
func checkNames(r *review) {
	for _, v := range rulename.Validate(r.names) {
		r.add(Error, "rule-name-invalid", r.rulePath(v.Rule).Child("name"), cmp.Or(nameFixes[v.Kind], "use letters and digits in CamelCase, such as OutOfMemory"), "%s", v)
	}
	value := r.meta.Annotations[annotation]
	if value == "" {
		return
	}
	rules := len(r.rules())
	if rules == 0 { // PFN-12
		r.add(Warning, "names-without-rules", r.annotationPath(), "remove the annotation, or add the rules", "there are no rules to name")
		return
	}
	annotated, violations := rulename.Parse(value, rules)
	for _, v := range violations {
		r.add(Error, "rule-names-annotation-invalid", r.annotationPath(), "use index=name entries separated by ';', such as 0=ExitCode2;2=OOMKilled", "%s", v)
	}
	if r.names != nil && !r.incomplete && annotated != nil && !slices.Equal(annotated, r.names) {
		r.add(Error, "rule-names-disagree", r.annotationPath(), "remove the annotation or the names in the rules",
			"the rules have different names: %s", rulename.Format(r.names))
	}
}

// nameFixes are the suggested corrections of invalid names.
var nameFixes = map[rulename.Kind]string{
	rulename.DuplicateName: "give each rule its own name", rulename.IndexOfOther: "use a name that is not a number, such as OutOfMemory",
	rulename.BadEnd: "leave out the last character", rulename.TooLong: "choose a shorter name", rulename.ReservedReason: "choose another name",
}

// checkNamesUsed checks valid names: whether they follow the convention, and whether the controller
// supports names at all.
func checkNamesUsed(r *review) {
	rules := r.rules()
	names, path := r.names, func(i int) *field.Path { return r.rulePath(i).Child("name") }
	if names == nil {
		names, _ = rulename.Parse(r.meta.Annotations[annotation], len(rules))
		path = func(int) *field.Path { return r.annotationPath() }
	}
	reported, unused := rulename.Validate(names), false
	for i, name := range names {
		if name == "" || i >= len(rules) {
			continue
		}
		if problem := rulename.Lint(name); problem != "" && !slices.ContainsFunc(reported, func(v rulename.Violation) bool { return v.Rule == i }) {
			r.add(Warning, "rule-name-not-camel-case", path(i), "start with an uppercase letter, and use only letters and digits", "%s", problem)
		}
		switch {
		case r.spec.ManagedBy == nil && r.names != nil && !unused: // once is enough
			unused = true
			r.add(Warning, "rule-name-unused", path(i), "set managedBy: "+ourName+", and create the Job with kubectl batchjob create, or remove the name",
				"kubectl create rejects the name of a rule, and the built-in Job controller does not support it")
		case r.isManagedByBuiltin():
			r.add(Warning, "rule-name-unused", path(i), "set managedBy to a controller that supports rule names, such as batchjob.dev/controller",
				"the built-in Job controller does not support rule names")
		}
	}
}
