package lint

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
)

// Severity is how bad a finding is.
type Severity string

const (
	// Error is rejected by the API server, or can never work.
	Error Severity = "error"
	// Warning works, but hardly as meant.
	Warning Severity = "warning"
	// Info is good to know.
	Info Severity = "info"
)

// Finding is one remark about one field.
type Finding struct {
	// ID says what kind of finding it is, such as rule-never-matches. It is stable.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Rejected says that the API server will not take the object.
	Rejected bool `json:"rejected"`
	// Field is the path in the object, such as spec.podFailurePolicy.rules[0].onExitCodes.values[1]. A field that is
	// missing has a path, too. "" is the object itself.
	Field string `json:"field"`
	// Message says what is wrong, on one line.
	Message string `json:"message"`
	// Fix says what to do, on one line.
	Fix string `json:"fix"`
}

// Input is what to look at.
type Input struct {
	// Object is a batch/v1 Job or CronJob, as in JSON; without rules[].name, which no API server takes (KEP-4443).
	Object map[string]any
	// Names are the names that the rules had, nil if none had one.
	Names rulename.Names
	// Incomplete says that some rules had names that are not in Names, as they could not be read.
	Incomplete bool
}

// Check returns all findings, in the order of the checks.
func Check(in Input) []Finding {
	r := &review{names: in.Names, incomplete: in.Incomplete}
	if !r.decode(in.Object) {
		return r.findings
	}
	r.run(checks())
	if len(r.rules()) <= rulename.MaxRules {
		r.run(ruleChecks())
	}
	if len(r.successRules()) <= maxSuccessRules {
		r.run(successRuleChecks())
	}
	return r.findings
}

func (r *review) run(list []check) {
	for _, c := range list {
		c(r)
	}
}

// review is one look at one Job.
type review struct {
	// meta and spec are those of the Job, or of the template of a CronJob; cronJob is nil for a Job.
	meta    *metav1.ObjectMeta
	spec    *batchv1.JobSpec
	cronJob *batchv1.CronJob
	// path is that of the Job in the object; nil for a Job.
	path  *field.Path
	names rulename.Names
	// incomplete is Input.Incomplete.
	incomplete bool

	findings []Finding
}

// specPath is the path of a field of the Job's spec.
func (r *review) specPath(name string, more ...string) *field.Path {
	if r.path == nil {
		return field.NewPath("spec", append([]string{name}, more...)...)
	}
	return r.path.Child("spec", append([]string{name}, more...)...)
}

func (r *review) metaPath(name string) *field.Path {
	if r.path == nil {
		return field.NewPath("metadata", name)
	}
	return r.path.Child("metadata", name)
}

// add adds a finding that the API server does not mind.
func (r *review) add(severity Severity, id string, path *field.Path, fix, message string, args ...any) {
	finding := Finding{ID: id, Severity: severity, Message: fmt.Sprintf(message, args...), Fix: fix}
	if path != nil {
		finding.Field = path.String()
	}
	r.findings = append(r.findings, finding)
}

// reject adds an error of which the API server thinks the same.
func (r *review) reject(id string, path *field.Path, fix, message string, args ...any) {
	r.add(Error, id, path, fix, message, args...)
	r.findings[len(r.findings)-1].Rejected = true
}

// oneOf rejects a value that is not one of those allowed.
func (r *review) oneOf(id string, path *field.Path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		fix := "use " + orList(allowed)
		if value == "" {
			r.reject(id, path, fix, "%s is missing", lastOf(path))
			return
		}
		r.reject(id, path, fix, "there is no %s %q", lastOf(path), value)
	}
}

// orList is "A", "A or B", "A, B or C".
func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// indexed says that the Job has indexes.
func (r *review) indexed() bool { return jobspec.IsIndexed(r.spec) }

// completions is how many indexes there are; false if that is not known, or makes no sense.
func (r *review) completions() (int32, bool) {
	completions := r.spec.Completions
	switch {
	case !r.indexed():
		return 0, false
	case completions == nil:
		return 1, r.countsAreSet()
	}
	return *completions, *completions >= 0
}

// countsAreSet says that the API server sets completions and parallelism to 1, as a Job has neither. It does not do that
// in templates.
func (r *review) countsAreSet() bool {
	return r.cronJob == nil && r.spec.Completions == nil && r.spec.Parallelism == nil
}

// rules are the rules of podFailurePolicy.
func (r *review) rules() []batchv1.PodFailurePolicyRule {
	if r.spec.PodFailurePolicy == nil {
		return nil
	}
	return r.spec.PodFailurePolicy.Rules
}

func (r *review) rulePath(i int) *field.Path {
	return r.specPath("podFailurePolicy", "rules").Index(i)
}

// containers are the names that onExitCodes.containerName may have.
func (r *review) containers() []string {
	var names []string
	for _, list := range [][]corev1.Container{r.spec.Template.Spec.Containers, r.spec.Template.Spec.InitContainers} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}
