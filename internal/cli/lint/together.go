package lint

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// sort sorts the findings of each file: errors first, each severity by position.
func (r *lintResult) sort() {
	rank := func(f lintFinding) int {
		if f.Severity == lint.Error {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(r.Findings, func(a, b lintFinding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), rank(a)-rank(b), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// keepOnly removes infos, and warnings unless they count.
func (r *lintResult) keepOnly(warnings bool) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f lintFinding) bool {
		return f.Severity == lint.Info || f.Severity == lint.Warning && !warnings
	})
	r.Summary.Infos = 0
	if !warnings {
		r.Summary.Warnings = 0
	}
}

// oncePerFile is the kind of finding that says the same about each object.
const oncePerFile = "log-lost-at-limit"

// mergeRepeated leaves one finding of this kind for a file, which names the objects.
func (r *lintResult) mergeRepeated() {
	first, objects := map[string]int{}, map[string][]string{}
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		file := cmp.Or(f.kustomization, f.File)
		_, again := first[file]
		switch {
		case f.ID != oncePerFile:
		case again:
			if !slices.Contains(objects[file], f.Object) {
				objects[file] = append(objects[file], f.Object)
			}
			r.Summary.Infos--
			continue
		default:
			first[file], objects[file] = len(kept), []string{f.Object}
		}
		kept = append(kept, f)
	}
	for file, at := range first {
		if names := objects[file]; len(names) > 1 {
			kept[at].Message += "; so it is with " + wording.EnumerateFew(names[1:])
		}
	}
	r.Findings = kept
}

// mayBeAnything reports whether a document can be read, but has nothing to do with Jobs.
func mayBeAnything(bad *manifest.Error) bool {
	fields, isObject := bad.Content.(map[string]any)
	version, _ := fields["apiVersion"].(string)
	kind, _ := fields["kind"].(string)
	isBatch := strings.HasPrefix(version, "batch/") || strings.HasPrefix(version, manifest.JobSetGroup) || kind == "Job" || kind == "CronJob" || kind == "JobSet"
	return bad.Content != nil && (!isObject || !isBatch)
}

// skipOtherFiles counts the files without any object; a document without one beside objects is an error.
func (r *lintResult) skipOtherFiles() {
	skipped := map[string]bool{}
	for _, bad := range r.others {
		file := bad.Position.File
		if !slices.Contains(r.files, file) {
			skipped[file] = true
			continue
		}
		r.add(bad.Position, nil, lint.Finding{ID: "not-readable", Severity: lint.Error, Rejected: true, Message: bad.Problem, Fix: bad.Fix})
	}
	r.Summary.OtherFiles = len(skipped)
}

// manyAtOnce is the number of CronJobs above which those that start at the same minute are reported.
const manyAtOnce = 5

// reportBusyMinute reports that most of many CronJobs start at minute 0.
func (r *lintResult) reportBusyMinute() {
	if len(r.early) < manyAtOnce || 2*len(r.early) <= r.Summary.cronJobs {
		return
	}
	var names []string
	for _, object := range r.early {
		names = append(names, object.Name())
	}
	r.add(r.early[0].Position("spec.schedule"), r.early[0], lint.Finding{
		ID: "many-at-minute-0", Severity: lint.Info, Field: "spec.schedule", Fix: "use other minutes for some, such as 17 and 43",
		Message: fmt.Sprintf("%s start at minute 0, so their pods start at the same moment: %s", wording.Count(len(names), "CronJobs"), wording.EnumerateFew(names)),
	})
}

// atMinute0 matches schedules that come at minute 0 of some hours.
var atMinute0 = regexp.MustCompile(`^(?:0+\s|@(?:hourly|daily|midnight|weekly|monthly|yearly|annually)$)`)

// noteSchedule remembers a CronJob that starts at minute 0.
func (r *lintResult) noteSchedule(object *manifest.Object) {
	spec, _ := object.Content["spec"].(map[string]any)
	if schedule, _ := spec["schedule"].(string); atMinute0.MatchString(strings.TrimSpace(schedule)) {
		r.early = append(r.early, object)
	}
}

// jobInText matches a manifest of a Job in a text, such as a value of a ConfigMap.
var jobInText = regexp.MustCompile(`(?m)^[ \t-]*kind:[ \t]*["']?(?:Cron)?Job["']?[ \t]*\r?$`)

// reportContained reports Jobs in an object of another kind, which are not checked.
func (r *lintResult) reportContained(object *manifest.Object) {
	n := countJobs(object.Content)
	if n == 0 {
		return
	}
	fix := "check what is made from it: " + r.renderFix(object)
	r.add(object.Position("kind"), object, lint.Finding{
		ID: "contains-jobs", Severity: lint.Info, Field: "kind", Fix: fix,
		Message: fmt.Sprintf("this %s contains %s, which is not checked here", object.Kind(), wording.Plural(n, "Job or CronJob", "Jobs and CronJobs")),
	})
}

// renderFix returns a command that makes the objects of a template.
func (r *lintResult) renderFix(object *manifest.Object) string {
	if object.Kind() == "Template" {
		return "oc process --local -f " + filepath.ToSlash(object.Position("").File) + " | kubectl batchjob lint -f -"
	}
	return "write the manifest to a file of its own, and lint it with -f"
}

// countJobs returns the number of Jobs and CronJobs in a value: objects, and manifests in texts.
func countJobs(value any) int {
	n := 0
	switch v := value.(type) {
	case map[string]any:
		version, _ := v["apiVersion"].(string)
		if kind, _ := v["kind"].(string); strings.HasPrefix(version, "batch/") && (kind == "Job" || kind == "CronJob") {
			return 1
		}
		for _, inner := range v {
			n += countJobs(inner)
		}
	case []any:
		for _, inner := range v {
			n += countJobs(inner)
		}
	case string:
		if strings.Contains(v, "batch/v") {
			n = len(jobInText.FindAllString(v, -1))
		}
	}
	return n
}
