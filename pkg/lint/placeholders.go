package lint

import (
	"fmt"
	"slices"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint/placeholder"
)

// TemplateID is the ID of the finding that an object is a template. It applies to the whole file: all other findings
// there may result from it.
const TemplateID = "template"

// placeholders adds findings about text that was not replaced. They replace other findings about the same fields, which
// determine whether the API server rejects the value.
func (d *decoder) placeholders(findings []Finding) []Finding {
	found := placeholder.Find(d.Object)
	if len(found) == 0 {
		return findings
	}
	template := false
	for _, p := range found {
		path := d.placed(p.Path)
		about := func(f Finding) bool { return isWithin(f.Field, path) }
		rejected := slices.ContainsFunc(findings, func(f Finding) bool { return about(f) && f.Rejected })
		if p.Kind == placeholder.Action && template {
			continue // once is enough
		}
		template = template || p.Kind == placeholder.Action
		findings = append(slices.DeleteFunc(findings, about), unreplaced(p, path, rejected))
	}
	return findings
}

// placed returns the path in the caller's object. A Job in a JobSet has the name of the JobSet.
func (d *decoder) placed(path string) string {
	if d.prefix == "" || path == "metadata.name" {
		return path
	}
	return d.prefix + "." + path
}

func unreplaced(p placeholder.Found, path string, rejected bool) Finding {
	f := Finding{ID: "placeholder", Severity: Warning, Rejected: rejected, Field: path, Message: fmt.Sprintf("%s contains %s, which nothing replaces", path, shorten(p.Text))}
	if rejected {
		f.Severity = Error
	}
	switch p.Kind {
	case placeholder.Variable:
		f.Fix = "write the value, or replace it first, as envsubst does"
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
