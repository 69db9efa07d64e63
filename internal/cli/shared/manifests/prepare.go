package manifests

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// Prepare turns the manifest into the object to send; offline, it also makes the API server's checks.
func (f *Flags) Prepare(object *manifest.Object, offline bool) []error {
	jobs := object.Jobs()
	if len(jobs) == 0 {
		return f.prepareOther(object)
	}
	metadata, _ := object.Content["metadata"].(map[string]any)
	if object.Name() == "" && metadata["generateName"] == nil {
		return []error{object.Errorf("metadata.name", "metadata has neither name nor generateName")}
	}
	var problems []error
	for _, job := range jobs {
		problems = append(problems, job.MoveNames()...)
		if f.managedBy != "" {
			if err := job.SetManagedBy(f.managedBy); err != nil {
				problems = append(problems, err)
			}
		}
	}
	if err := f.checkNamespace(object); err != nil {
		problems = append(problems, err)
	}
	if offline && f.kube.Overrides.Context.Namespace != "" {
		metadata["namespace"] = f.kube.Overrides.Context.Namespace
	}
	// The API server sets these fields.
	delete(object.Content, "status")
	delete(metadata, "creationTimestamp")
	if len(problems) == 0 && offline {
		problems = f.wouldBeRejected(object, jobs)
	}
	if len(problems) > 0 {
		return problems
	}
	for _, job := range jobs {
		if by := job.ManagedBy(); job.Annotation() != "" && (by == "" || by == batchv1.JobControllerName) {
			fmt.Fprintf(f.warnings, "note: %s: rule names have no effect here: spec.managedBy does not assign the Job to kubectl batchjob controller\n",
				sanitize.Line(object.Position(job.At("spec.podFailurePolicy")).String()))
		}
	}
	return nil
}

// wouldBeRejected returns the errors that an API server would return, so that users do not commit an invalid
// manifest.
func (f *Flags) wouldBeRejected(object *manifest.Object, jobs []*manifest.Job) []error {
	var findings []lint.Finding
	for _, job := range jobs {
		findings = append(findings, lint.Check(LintInput(job))...)
	}
	var problems []error
	if len(findings) >= lint.MaxFindings {
		problems = append(problems, object.Errorf("", "the object has too many mistakes to check all of it; see: kubectl batchjob lint"))
	}
	for _, found := range findings {
		problem := found.Message
		if found.Fix != "" {
			problem += "; " + found.Fix
		}
		if found.ID == "unknown-field" && f.validate != "" { // simulate has no such flag
			problem += ", or use --validate=ignore if your API server knows it"
		}
		switch {
		case !found.Rejected:
		case found.ID != "unknown-field" || f.fieldValidation == metav1.FieldValidationStrict:
			problems = append(problems, object.Errorf(found.Field, "the API server would reject this: %s", problem))
		case f.fieldValidation == metav1.FieldValidationWarn:
			fmt.Fprintln(f.warnings, "warning:", sanitize.Line(object.Errorf(found.Field, "%s", found.Message).Error()))
		}
	}
	return problems
}

// checkNamespace returns kubectl's error if the namespace of the object differs from -n.
func (f *Flags) checkNamespace(object *manifest.Object) error {
	given, own := f.kube.Overrides.Context.Namespace, object.Namespace()
	if given == "" || own == "" || given == own {
		return nil
	}
	return object.Errorf("metadata.namespace",
		"the namespace from the provided object %q does not match the namespace %q. You must pass '--namespace=%s' to perform this operation.", own, given, own)
}

// PrepareOffline turns the manifest into the object that create would send for our controller, without a cluster.
func PrepareOffline(object *manifest.Object) []error {
	f := Flags{kube: cmdutil.NewKubeFlags(), managedBy: controller.DefaultManagedBy, fieldValidation: metav1.FieldValidationStrict}
	return f.Prepare(object, true)
}
