package printer_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/printer"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

func job() *batchv1.Job {
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "train", Annotations: map[string]string{"secret": "aGVsbG8="}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		},
		Spec: batchv1.JobSpec{Parallelism: ptr.To[int32](3), Completions: ptr.To[int32](10)},
		Status: batchv1.JobStatus{Succeeded: 2, Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobSuspended, Status: "True"}, {Type: batchv1.JobComplete, Status: "False"},
		}},
	}
}

// templates are printed by our printers and by kubectl's. Some refer to missing fields.
var templates = map[string][]string{
	"go-template": {
		"{{.metadata.name}}: {{.spec.parallelism}} of {{.spec.completions}}\n",
		"{{range $i, $c := .status.conditions}}{{if $i}}, {{end}}{{.type}}={{.status | printf \"%q\"}}{{else}}none{{end}}",
		"{{with .metadata.annotations}}{{base64decode .secret}}{{end}} {{len .status.conditions}} {{index .status.conditions 1 \"type\"}}",
		"{{if and (gt .status.succeeded 1) (not .status.failed)}}good{{else}}bad{{end}} {{html \"<a>\"}} {{slice .metadata.name 1 3}}",
		"{{exists . \"status\" \"conditions\" 0}} {{exists . \"status\" \"conditions\" 2}} {{exists . \"status\" \"x\" \"y\"}} {{exists .status \"succeeded\" 0}}",
		"{{.metadata.labels.app}} {{.nothing}}",
		"{{base64decode .metadata.name}}",
		"{{.metadata.name.first}}",
		"{{.metadata.name",
		"{{define \"x\"}}[{{.}}]{{end}}{{range .status.conditions}}{{template \"x\" .type}}{{end}}",
		"",
	},
	"jsonpath":         {"{.metadata.name}", "{range .status.conditions[*]}{.type}{'\\n'}{end}", "{.status.conditions[?(@.status==\"True\")].type}", "{.nothing}", "{.a", ""},
	"jsonpath-as-json": {"{.status.conditions}", "{.nothing}"},
}

func TestTemplatesPrintWhatKubectlPrints(t *testing.T) {
	for format, texts := range templates {
		for _, text := range texts {
			file := filepath.Join(t.TempDir(), "template")
			assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			for _, allow := range []bool{false, true} {
				compare(t, printer.Options{Format: format + "=" + text, AllowMissingKeys: allow})
				compare(t, printer.Options{Format: format, Template: text, AllowMissingKeys: allow})
				if format != "jsonpath-as-json" {
					compare(t, printer.Options{Format: format + "-file=" + file, AllowMissingKeys: allow})
				}
			}
		}
	}
	for _, format := range []string{"name", "Name", "template={{.kind}}", "templatefile=/does/not/exist", "go-template", "Go-Template={{.kind}}", "bogus", "bogus=x"} {
		compare(t, printer.Options{Format: format})
	}
}

// compare prints a Job with our printer and with kubectl's, and checks that both agree on the output and on whether there is
// an error.
func compare(t *testing.T, o printer.Options) {
	t.Helper()
	kubectl := genericclioptions.NewPrintFlags("")
	*kubectl.OutputFormat, *kubectl.TemplatePrinterFlags.TemplateArgument = o.Format, o.Template
	*kubectl.TemplatePrinterFlags.AllowMissingKeys = o.AllowMissingKeys
	kubectl.OutputFlagSpecified = func() bool { return true }
	var got, want bytes.Buffer
	theirs, wantErr := kubectl.ToPrinter()
	if wantErr == nil {
		wantErr = theirs.PrintObj(job(), &want)
	}
	ours, err := printer.New(o)
	if err == nil {
		err = ours.PrintObj(job(), &got)
	}
	if got.String() != want.String() || (err == nil) != (wantErr == nil) {
		t.Errorf("%+v prints %q, %v; kubectl prints %q, %v", o, got.String(), err, want.String(), wantErr)
	}
}

func TestFormatsAreThoseOfKubectl(t *testing.T) {
	want := genericclioptions.NewPrintFlags("").AllowedFormats()
	slices.Sort(want)
	assert.SlicesEqual(t, printer.Formats(), want, "formats")
}

func TestManagedFieldsAreLeftOut(t *testing.T) {
	for _, format := range []string{"json", "yaml", "kyaml", "JSON"} {
		for _, show := range []bool{false, true} {
			p, err := printer.New(printer.Options{Format: format, ShowManagedFields: show})
			assert.NoError(t, err)
			var out bytes.Buffer
			if err := p.PrintObj(job(), &out); err != nil || strings.Contains(out.String(), "managedFields") != show {
				t.Errorf("%s with managed fields %t: %v\n%s", format, show, err, out.String())
			}
		}
	}
}
