package printer

import (
	"encoding/base64"
	"fmt"
	"io"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// goTemplate executes a template on the decoded JSON of an object, as kubectl does. Decoded JSON has no methods, so a
// template engine that cannot call methods gives the same output.
type goTemplate struct {
	text     string
	template *template.Template
}

func newGoTemplate(text string, allowMissingKeys bool) (*goTemplate, error) {
	missing := "missingkey=error"
	if allowMissingKeys {
		missing = "missingkey=default"
	}
	functions := template.FuncMap{"exists": exists, "base64decode": base64decode}
	parsed, err := template.New("output").Funcs(functions).Option(missing).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("error parsing template %s, %w", text, err)
	}
	return &goTemplate{text: text, template: parsed}, nil
}

// PrintObj implements printers.ResourcePrinter.
func (p *goTemplate) PrintObj(object runtime.Object, w io.Writer) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if err := p.template.Execute(w, fields); err != nil {
		fmt.Fprintf(w, "Error executing template: %v. Printing more information for debugging the template:\n"+
			"\ttemplate was:\n\t\t%v\n\traw data was:\n\t\t%s\n\tobject given to template engine was:\n\t\t%+v\n\n", err, p.text, data, fields)
		return fmt.Errorf("error executing template %q: %w", p.text, err)
	}
	return nil
}

// exists reports whether there is a value at the end of a path of field names and list indexes.
func exists(value any, path ...any) bool {
	for _, step := range path {
		switch parent := value.(type) {
		case map[string]any:
			name, _ := step.(string)
			value = parent[name]
		case []any:
			i, ok := step.(int)
			if !ok || i < 0 || i >= len(parent) {
				return false
			}
			value = parent[i]
		default:
			return false
		}
	}
	return value != nil
}

func base64decode(text string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", fmt.Errorf("base64 decode failed: %w", err)
	}
	return string(data), nil
}
