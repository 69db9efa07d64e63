package lint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/placeholder"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/schema"
)

var (
	jobSchema     = sync.OnceValue(func() *schema.Schema { return schema.Of(reflect.TypeFor[batchv1.Job]()) })
	cronJobSchema = sync.OnceValue(func() *schema.Schema { return schema.Of(reflect.TypeFor[batchv1.CronJob]()) })
)

// decoder decodes the content of an object. Wrong names and values become findings; the rest is decoded nevertheless.
type decoder struct {
	Input
	// content is a copy of Object, as corrected by schema.Check.
	content map[string]any
	cronJob bool
	// kindWrong is set for a Job with the fields of a CronJob.
	kindWrong bool
	checked   schema.Result
}

// newDecoder returns nil for an object that is not a Job or CronJob.
func newDecoder(in Input) *decoder {
	d := &decoder{Input: in, content: runtime.DeepCopyJSON(in.Object)}
	version, _ := in.Object["apiVersion"].(string)
	kind, _ := in.Object["kind"].(string)
	of := jobSchema
	spec, _ := in.Object["spec"].(map[string]any)
	_, ofCronJob := spec["jobTemplate"].(map[string]any)
	_, hasTemplate := spec["template"]
	switch {
	case version != batchv1.SchemeGroupVersion.String() || kind != "Job" && kind != "CronJob":
		return nil
	case kind == "CronJob":
		of, d.cronJob = cronJobSchema, true
	case ofCronJob && !hasTemplate:
		d.content["kind"], of, d.cronJob, d.kindWrong = "CronJob", cronJobSchema, true, true
	}
	d.checked = schema.Check(schema.Input{Schema: of(), Content: d.content, Prefix: in.Path, Written: in.Written})
	return d
}

// problems returns the findings about names and types.
func (d *decoder) problems() []Finding {
	findings := make([]Finding, 0, len(d.checked.Problems)+1)
	if d.kindWrong {
		findings = append(findings, Finding{ID: "api-version-wrong", Severity: Error, Rejected: true, Field: "kind",
			Message: "this is a Job with a jobTemplate, which is a field of a CronJob", Fix: "write kind: CronJob"})
	}
	for _, p := range d.checked.Problems {
		severity := Error
		if p.Accepted {
			severity = Warning
		}
		findings = append(findings, Finding{ID: p.ID, Severity: severity, Rejected: !p.Accepted, Field: p.Path, Message: p.Message, Fix: p.Fix})
	}
	return findings
}

// findings decodes the content and runs the checks. If the intended field is uncertain, only the findings remain that
// occur with and without the guesses.
func (d *decoder) findings() []Finding {
	found := d.run()
	if len(d.checked.Guesses) > 0 {
		for _, guess := range d.checked.Guesses {
			guess.Make()
		}
		others := d.run()
		found = slices.DeleteFunc(found, func(f Finding) bool { return !slices.Contains(others, f) })
	}
	found = slices.DeleteFunc(found, func(f Finding) bool {
		return slices.ContainsFunc(d.checked.Removed, func(path string) bool { return dependsOn(f, path) })
	})
	for i := range found {
		found[i].Field = d.asWritten(found[i].Field)
	}
	return found
}

func (d *decoder) run() []Finding {
	r := &review{names: d.Names, incomplete: d.Incomplete, volumes: d.Volumes, rendered: d.Rendered}
	if d.Path != "" {
		r.path = field.NewPath(d.Path)
	}
	var into any
	if d.cronJob {
		r.cronJob, r.path = &batchv1.CronJob{}, field.NewPath("spec", "jobTemplate")
		r.meta, r.spec, into = &r.cronJob.Spec.JobTemplate.ObjectMeta, &r.cronJob.Spec.JobTemplate.Spec, r.cronJob
	} else {
		job := &batchv1.Job{}
		r.meta, r.spec, into = &job.ObjectMeta, &job.Spec, job
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.content, into); err != nil {
		r.reject("not-readable", nil, "", "not a Kubernetes object: %v", err)
		return r.findings
	}
	r.content, r.job = d.content, d.content
	if d.cronJob {
		spec, _ := d.content["spec"].(map[string]any)
		r.job, _ = spec["jobTemplate"].(map[string]any)
	}
	r.run()
	return r.findings
}

// dependsOn reports whether a finding may result from the removal of a value: it is at or below the removed path, or
// about a name missing there.
func dependsOn(f Finding, removed string) bool {
	return isWithin(f.Field, removed) || slices.Contains(referring[removed[strings.LastIndexByte(removed, '.')+1:]], f.ID)
}

// referring are the IDs of findings about names that are missing in a field.
var referring = map[string][]string{
	"containers": {"container-unknown"}, "initContainers": {"container-unknown"}, "volumes": {"mount-without-volume"},
}

// isWithin reports whether path is parent, or below it.
func isWithin(path, parent string) bool {
	rest, found := strings.CutPrefix(path, parent)
	return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// asWritten returns the path of a moved field in the manifest.
func (d *decoder) asWritten(path string) string {
	for end := range len(path) + 1 {
		if end == len(path) || path[end] == '.' || path[end] == '[' {
			if written, moved := d.checked.Moved[path[:end]]; moved {
				return written + path[end:]
			}
		}
	}
	return path
}

// TemplateID is the ID of the finding that an object is a template. It applies to the whole file: all other findings
// there may result from it.
const TemplateID = "template"

// placeholders adds findings about text that was not replaced. They replace other findings about the same fields, which
// determine whether the API server rejects the value.
func (d *decoder) placeholders(findings []Finding) []Finding {
	template := false
	for _, p := range placeholder.Find(d.Object) {
		if len(findings) >= MaxFindings {
			break
		}
		path := p.Path
		if d.Path != "" && path != "metadata.name" { // A Job in a JobSet has the name of the JobSet.
			path = d.Path + "." + path
		}
		about := func(f Finding) bool { return isWithin(f.Field, path) }
		rejected := slices.ContainsFunc(findings, func(f Finding) bool { return about(f) && f.Rejected })
		if p.Kind == placeholder.Action && template {
			continue // once is enough
		}
		template = template || p.Kind == placeholder.Action
		findings = append(slices.DeleteFunc(findings, about), placeholderFinding(p, path, rejected))
	}
	return findings
}

func placeholderFinding(p placeholder.Placeholder, path string, rejected bool) Finding {
	f := Finding{ID: "placeholder", Severity: Warning, Rejected: rejected, Field: path, Message: fmt.Sprintf("%s contains %s, which Kubernetes does not replace", path, shorten(p.Text))}
	if rejected {
		f.Severity = Error
	}
	switch p.Kind {
	case placeholder.Variable:
		f.Fix = "write the value, or replace it first, as envsubst, Flux and Argo CD do"
	case placeholder.Reference:
		f.Fix = "write the value: only command, args and the values of env may refer to variables"
	case placeholder.Word:
		f.Fix = "write the value"
	case placeholder.Action:
		f.ID, f.Severity = TemplateID, Error
		f.Message = fmt.Sprintf("this is a template, not a manifest: %s contains %s", path, shorten(p.Text))
		f.Fix = "render it first, and check the result"
	}
	return f
}
