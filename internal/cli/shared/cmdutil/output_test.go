package cmdutil

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// document is an object of this program whose text comes from a cluster.
type document struct {
	Message string            `json:"message"`
	Labels  map[string]string `json:"labels"`
}

// unprintable are strings that terminals interpret or that YAML parsers reject.
var unprintable = []string{
	"", "plain", "\x7f", "\u0080\u0085\u009b31m", "\u2028 and \u2029", "\ufeff", "\ufffe\uffff", "a\x00b", "\x1b[31mred", "\r\n",
	" lead\n trail \n", "tab\t", "'\"\\", "\\u007f", "yes", "1e3", "null", "~", "# no", "- a\n- b\x7f", "😀\u200d\U000e0001", "\xff\xfe",
	"\n\n", "\u2028\n", "a\u0085\n b", "\ud7ff\ue000", "line\u2029\n  indented", strings.Repeat("long word ", 40) + "\x7f", "\U0001fffe\U0010ffff",
}

func FuzzDocumentsParseBackToWhatTheyWere(f *testing.F) {
	for _, text := range unprintable {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := string([]rune(text))                      // invalid UTF-8 becomes U+FFFD, as in encoding/json
		key := []rune(text)[:min(100, len([]rune(text)))] // YAML keys have at most 1,024 characters
		job := &batchv1.Job{
			TypeMeta:   metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
			ObjectMeta: metav1.ObjectMeta{Name: "train", Annotations: map[string]string{"message": text}},
		}
		for _, format := range []string{"json", "yaml"} {
			var out bytes.Buffer
			flag := DocumentFlag{}
			flag.options.Format = format
			assert.NoError(t, flag.Write(&out, document{Message: text, Labels: map[string]string{string(key): "v"}}), format, text)
			var got document
			parse(t, format, out.Bytes(), &got)
			if got.Message != want || got.Labels[string(key)] != "v" {
				t.Errorf("%s of %.300q parses back to %.300q", format, want, got)
			}
		}
		for _, format := range []string{"json", "yaml", "kyaml"} {
			checkJob(t, format, job, want)
		}
	})
}

// checkJob prints a Job as status and create do, and parses the output.
func checkJob(t *testing.T, format string, job *batchv1.Job, want string) {
	t.Helper()
	flags := NewPrintFlags()
	flags.options.Format = format
	printer, err := flags.Printer()
	assert.NoError(t, err)
	var out bytes.Buffer
	assert.NoError(t, printer.PrintObj(job, &out), format, want)
	if format == "kyaml" { // its encoder escapes twice in strings of several lines
		return
	}
	got := &batchv1.Job{}
	parse(t, format, out.Bytes(), got)
	assert.Equal(t, got.Annotations["message"], want, format, got.Annotations, out.String())
}

// parse reads a document, and reports any raw control character.
func parse(t *testing.T, format string, data []byte, into any) {
	t.Helper()
	if i := bytes.IndexFunc(data, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("%s has a raw control character: %q", format, data[i:])
	}
	read := yaml.UnmarshalStrict
	if format == "json" {
		read = func(data []byte, into any, _ ...yaml.JSONOpt) error { return json.Unmarshal(data, into) }
	}
	assert.NoError(t, read(data, into), data)
}

func TestYAMLDocumentsAreSeparated(t *testing.T) {
	flags := NewPrintFlags()
	flags.options.Format = "yaml"
	printer, err := flags.Printer()
	assert.NoError(t, err)
	var out bytes.Buffer
	for _, name := range []string{"a", "b"} {
		job := &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
		assert.NoError(t, printer.PrintObj(job, &out))
	}
	if strings.Count(out.String(), "\n---\n") != 1 || strings.HasPrefix(out.String(), "---") {
		t.Errorf("not two documents:\n%s", out.String())
	}
}
