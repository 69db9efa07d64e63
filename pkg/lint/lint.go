package lint

import (
	"fmt"
	"iter"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/schema"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// Severity is the severity of a finding.
type Severity string

const (
	// Error means that the API server rejects the object, or that it can never work.
	Error Severity = "error"
	// Warning means that the object works, but probably not as intended.
	Warning Severity = "warning"
	// Info means that the finding is good to know.
	Info Severity = "info"
)

// Finding is one problem with one field.
type Finding struct {
	// ID is the kind of the finding, such as rule-never-matches. It is stable.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Rejected reports whether the API server will reject the object.
	Rejected bool `json:"rejected"`
	// Field is the path in the object, such as spec.podFailurePolicy.rules[0].onExitCodes.values[1]. Missing fields
	// have a path, too. "" is the object itself.
	Field string `json:"field"`
	// Message describes the problem, on one line.
	Message string `json:"message"`
	// Fix is the suggested correction, on one line; "" if there is none.
	Fix string `json:"fix"`
}

// Input is the object to check.
type Input struct {
	// Object is a batch/v1 Job or CronJob decoded from JSON, without rules[].name, which no API server accepts
	// (KEP-4443).
	Object map[string]any
	// Names are the original names of the rules, nil if none had one.
	Names rulename.Names
	// Path is the path of the Job in the caller's object, such as spec.replicatedJobs[0].template; "" if the object is
	// the Job. The name to check is always the name of the caller's object.
	Path string
	// Volumes are the names of volumes that the object's controller adds to the pod template.
	Volumes []string
	// Incomplete reports whether Names lacks the names of some rules because they could not be read.
	Incomplete bool
	// Rendered reports whether Helm made the object.
	Rendered bool
	// Written returns a scalar of the object as it is written in the manifest, without quotes: yes for the value true.
	// "" means unknown. Written may be nil.
	Written func(path string) string
}

// MaxFindings is the maximum number of findings about an object.
const MaxFindings = schema.MaxProblems

// Check returns the findings: first the ones about names and types, then the others in the order of the checks. If there are
// MaxFindings, there may be more.
func Check(in Input) []Finding {
	d := newDecoder(in)
	if d == nil {
		return []Finding{{ID: "not-readable", Severity: Error, Rejected: true, Message: "not a batch/v1 Job or CronJob", Fix: "provide a Job or CronJob"}}
	}
	found := d.problems()
	if len(found) < MaxFindings {
		found = d.placeholders(append(found, d.findings()...))
	}
	return found[:min(len(found), MaxFindings)]
}

// CheckNames returns only the findings about names and types, none for an object that is not a batch/v1 Job or CronJob.
func CheckNames(in Input) []Finding {
	if d := newDecoder(in); d != nil {
		return d.placeholders(d.problems())
	}
	return nil
}

// run runs all checks on a decoded object, in the order of fields: metadata, counts, limits, policies, pods. Each finds one
// kind of problem; fields that another check rejects may have any value.
func (r *review) run() {
	all := []func(*review){checkName, checkAPIRules, checkMetadata, checkFromCluster}
	if r.cronJob != nil {
		all = append(all, checkNamesOnCronJob, checkSchedule, checkTimeZone, checkCronJobHabits, checkScheduleHabits)
	}
	all = append(all,
		checkNoPods, checkParallelism, checkBackoffLimits, checkLimitPerIndex, checkMaxFailedIndexes,
		checkActiveDeadline, checkPodDeadline, checkRetriesFit, checkTTL, checkManagedBy, checkScheduling,
		checkPodFailurePolicy, checkLogLost, checkTemplate, checkSelector,
		checkWaits, checkNeverEnds, checkIndexUsed, checkShellSyntax, checkEnvTwice, checkSpread, checkImmutable,
	)
	// Each rule, or each pair of rules, is checked unless there are more rules than allowed.
	if len(r.rules()) <= rulename.MaxRules {
		all = append(all,
			checkExitCodeValues, checkSidecarsMatch,
			checkExitCodesCovered, checkConditionsCovered, checkIgnoreForever, checkDisruptions, checkSignalsIgnored,
			checkNames, checkNamesUsed,
		)
	}
	if len(r.successRules()) <= jobspec.MaxRules {
		all = append(all, checkSuccessRules, checkSuccessRulesCovered)
	}
	for _, check := range all {
		check(r)
	}
}

// review is the state of the checks of one Job.
type review struct {
	// meta and spec belong to the Job, or to the template of a CronJob; cronJob is nil for a Job.
	meta    *metav1.ObjectMeta
	spec    *batchv1.JobSpec
	cronJob *batchv1.CronJob
	// path is the path of the Job in the object; nil if the object is the Job.
	path  *field.Path
	names rulename.Names
	// incomplete, volumes and rendered are copies of the Input's fields.
	incomplete bool
	volumes    []string
	rendered   bool
	// content is the object, and job the Job in it, in JSON.
	content, job map[string]any

	findings []Finding
}

// specPath returns the path of a field of the Job's spec.
func (r *review) specPath(name string, more ...string) *field.Path {
	return r.jobPath("spec", append([]string{name}, more...)...)
}

// jobPath returns the path of a field of the Job.
func (r *review) jobPath(name string, more ...string) *field.Path {
	return r.path.Child(name, more...)
}

// add adds a finding that does not make the API server reject the object.
func (r *review) add(severity Severity, id string, path *field.Path, fix, message string, args ...any) {
	if len(r.findings) >= MaxFindings {
		return
	}
	finding := Finding{ID: id, Severity: severity, Message: fmt.Sprintf(message, args...), Fix: fix}
	if path != nil {
		finding.Field = path.String()
	}
	r.findings = append(r.findings, finding)
}

// reject adds an error that makes the API server reject the object.
func (r *review) reject(id string, path *field.Path, fix, message string, args ...any) {
	before := len(r.findings)
	r.add(Error, id, path, fix, message, args...)
	if len(r.findings) > before {
		r.findings[before].Rejected = true
	}
}

// isIndexed reports whether the Job has indexes.
func (r *review) isIndexed() bool { return jobspec.IsIndexed(r.spec) }

// inJobSet reports whether the Job is a template in a JobSet.
func (r *review) inJobSet() bool { return r.path != nil && r.cronJob == nil }

// completions returns the number of indexes; false if it is unknown or invalid.
func (r *review) completions() (int32, bool) {
	completions := r.spec.Completions
	switch {
	case !r.isIndexed():
		return 0, false
	case completions == nil:
		return 1, r.hasDefaultCounts()
	}
	return *completions, *completions >= 0
}

// hasDefaultCounts reports whether the API server sets completions and parallelism to 1, because the Job has neither. It
// does not do so in templates.
func (r *review) hasDefaultCounts() bool {
	return r.cronJob == nil && r.spec.Completions == nil && r.spec.Parallelism == nil
}

// rules returns the rules of podFailurePolicy.
func (r *review) rules() []batchv1.PodFailurePolicyRule {
	if r.spec.PodFailurePolicy == nil {
		return nil
	}
	return r.spec.PodFailurePolicy.Rules
}

func (r *review) rulePath(i int) *field.Path { return r.specPath("podFailurePolicy", "rules").Index(i) }

// onExitCodes iterates over the rules of podFailurePolicy with onExitCodes.
func (r *review) onExitCodes() iter.Seq2[int, *batchv1.PodFailurePolicyOnExitCodesRequirement] {
	return func(yield func(int, *batchv1.PodFailurePolicyOnExitCodesRequirement) bool) {
		for i, rule := range r.rules() {
			if rule.OnExitCodes != nil && !yield(i, rule.OnExitCodes) {
				return
			}
		}
	}
}

// shorten keeps messages that quote the manifest readable.
func shorten(text string) string { return wording.Cut(text, 40) }
