package lint

import (
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// lintResult is the output of lint -o json and -o yaml. Within v1alpha1, fields may be added, but none is renamed,
// removed, or given another meaning; texts of messages may change, IDs do not.
type lintResult struct {
	// APIVersion is batchjob.dev/v1alpha1.
	APIVersion string `json:"apiVersion"`
	// Kind is LintResult.
	Kind    string      `json:"kind"`
	Summary lintSummary `json:"summary"`
	// Findings are sorted by file, line and column. It is never null.
	Findings []lintFinding `json:"findings"`

	client    *manifests.Client // nil without an API server
	failed    error             // of the client, after which it is not used
	creates   map[string]bool   // namespaces in the manifests
	patches   patches
	files     []string          // of objects
	others    []*manifest.Error // documents without an object, which may be files for other programs
	early     []*manifest.Object
	skipped   map[string]bool // files
	ignored   []string
	documents map[*manifest.Comment]*ignores // cache of ignoresOf, by first comment
}

// lintSummary holds the counts.
type lintSummary struct {
	// Jobs is the number of checked Jobs, CronJobs and JobSets.
	Jobs int `json:"jobs"`
	// Skipped is the number of objects of other kinds, which are not checked.
	Skipped int `json:"skipped"`
	// Patches is the number of files that are not checked because they are patches of a kustomization.
	Patches int `json:"patches"`
	// OtherFiles is the number of files that are not checked because they have no Kubernetes objects; only with -R.
	OtherFiles int `json:"otherFiles,omitempty"`
	// Ignored is the number of findings that are not reported because of a comment or --ignore.
	Ignored  int `json:"ignored"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	// Incomplete is the number of objects with 1,000 findings or more, of which only the first are reported. It counts as an
	// error.
	Incomplete int `json:"incomplete,omitempty"`
	Infos      int `json:"infos"`

	cronJobs, jobSets int // included in Jobs, for the text
	asked             int // Jobs that the API server checked, too
}

// lintFinding is a finding with its position.
type lintFinding struct {
	// File is the path as given, or <stdin>, or for an object of a kustomization a name such as Job/migrate
	// (kustomization overlays/prod); Line and Column count from 1, and are 0 if unknown.
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	// Object is the object of the finding, as kind/name; "" for a document that could not be read.
	Object string `json:"object"`
	// Source is the path of the template that Helm made the object from, if its comment says so.
	Source       string `json:"source,omitempty"`
	lint.Finding `json:",inline"`

	kustomization string // folder of the kustomization that built the object
}

// add adds a finding, unless it is ignored; object is nil for a document that cannot be read.
func (r *lintResult) add(position manifest.Position, object *manifest.Object, finding lint.Finding) {
	if r.isIgnored(position, object, finding.ID) {
		r.Summary.Ignored++
		return
	}
	r.countSeverity(finding.Severity)
	f := lintFinding{File: position.File, Line: position.Line, Column: position.Column, Finding: finding, kustomization: position.Folder}
	if object != nil {
		f.Object, f.Source = object.Kind()+"/"+object.Name(), object.Source()
	}
	r.Findings = append(r.Findings, f)
}

func (r *lintResult) countSeverity(severity lint.Severity) {
	switch severity {
	case lint.Error:
		r.Summary.Errors++
	case lint.Warning:
		r.Summary.Warnings++
	case lint.Info:
		r.Summary.Infos++
	}
}

// isIgnored reports whether the finding is ignored. Findings about comments cannot be ignored by comments.
func (r *lintResult) isIgnored(position manifest.Position, object *manifest.Object, id string) bool {
	if slices.Contains(r.ignored, id) {
		return true
	}
	return object != nil && id != ignoreUnknown && r.ignoresOf(object).has(id, position.Line)
}

// skipDocument reports whether a document that is not a Kubernetes object is a kustomization or a patch, which may be
// beside manifests. It counts them.
func (r *lintResult) skipDocument(bad *manifest.Error) bool {
	switch file := bad.Position.File; {
	case file == manifest.Stdin:
		return false
	case isKustomization(file, bad.Content):
		r.Summary.Skipped++
	case r.patches.has(file), isJSONPatch(bad.Content):
		r.skipPatch(file)
	default:
		return false
	}
	return true
}

// skipPatch counts each patch file once.
func (r *lintResult) skipPatch(file string) {
	if r.skipped == nil {
		r.skipped = map[string]bool{}
	}
	if !r.skipped[file] {
		r.skipped[file] = true
		r.Summary.Patches++
	}
}

// dropTemplateFindings removes the findings about files that are templates. It keeps the one with TemplateID.
func (r *lintResult) dropTemplateFindings() {
	first := map[string]int{}
	for i, f := range r.Findings {
		if _, found := first[f.File]; !found && f.ID == lint.TemplateID {
			first[f.File] = i
		}
	}
	if len(first) == 0 {
		return
	}
	all := r.Findings
	r.Findings, r.Summary.Errors, r.Summary.Warnings, r.Summary.Infos = []lintFinding{}, 0, 0, 0
	for i, f := range all {
		if at, isTemplate := first[f.File]; !isTemplate || at == i {
			r.countSeverity(f.Severity)
			r.Findings = append(r.Findings, f)
		}
	}
}

// text returns the summary as a line.
func (s lintSummary) text() string {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{{s.Errors, "error", "errors"}, {s.Warnings, "warning", "warnings"}, {s.Infos, "info", "infos"}} {
		if c.n > 0 {
			parts = append(parts, wording.Plural(c.n, c.one, c.many))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no findings"}
	}
	text := strings.Join(parts, ", ")
	var looked []string
	for _, of := range [...]struct {
		kind string
		n    int
	}{{"Job", s.Jobs - s.cronJobs - s.jobSets}, {"CronJob", s.cronJobs}, {"JobSet", s.jobSets}} {
		if of.n > 0 {
			looked = append(looked, wording.Plural(of.n, of.kind, of.kind+"s"))
		}
	}
	if len(looked) > 0 {
		text += " in " + strings.Join(looked, " and ")
	}
	if s.Incomplete > 0 {
		text += "; " + wording.Plural(s.Incomplete, "object has", "objects have") + " too many findings to report all of them, fix these first"
	}
	if s.Ignored > 0 {
		text += "; " + wording.Count(s.Ignored, "ignored")
	}
	if s.Skipped > 0 {
		text += "; " + wording.Plural(s.Skipped, "object", "objects") + " of other kinds skipped"
	}
	if s.OtherFiles > 0 {
		text += "; " + wording.Plural(int64(s.OtherFiles), "file", "files") + " without Kubernetes objects skipped"
	}
	if s.Patches > 0 {
		text += "; " + wording.Plural(s.Patches, "patch", "patches") + " of kustomizations skipped, check the result: kubectl batchjob lint -k DIR"
	}
	return text
}
