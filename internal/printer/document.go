package printer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"
	"sigs.k8s.io/yaml/kyaml"
)

// JSON returns object as indented JSON, with control characters escaped.
func JSON(object any) ([]byte, error) {
	data, err := json.MarshalIndent(object, "", "    ")
	if err != nil {
		return nil, err
	}
	return append(escapeUnprintable(data), '\n'), nil
}

// YAML returns object as YAML, with control characters escaped.
func YAML(object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(escapeUnprintable(data))
}

// escapeUnprintable escapes unprintable runes in JSON text. JSON does not require that for DEL, C1 controls, line separators,
// or U+FFFE, but terminals interpret some of them, and the YAML parser in JSONToYAML rejects others. Runes beyond U+FFFF
// stay, because YAML parsers do not support JSON's surrogate pairs.
func escapeUnprintable(text []byte) []byte {
	if !bytes.ContainsFunc(text, needsEscape) {
		return text
	}
	escaped := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		if needsEscape(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
			continue
		}
		escaped = utf8.AppendRune(escaped, r)
	}
	return escaped
}

func needsEscape(r rune) bool { return r != '\n' && r <= 0xffff && !unicode.IsPrint(r) }

// documentPrinter prints objects as JSON, YAML or KYAML that parses back to the same object. kubectl's printers fail for
// characters that YAML rejects.
type documentPrinter struct {
	json    printers.ResourcePrinter
	format  string
	printed int
}

// PrintObj writes one object, preceded by a separator if it is not the first YAML document.
func (p *documentPrinter) PrintObj(object runtime.Object, w io.Writer) error {
	var buffer bytes.Buffer
	if err := p.json.PrintObj(object, &buffer); err != nil {
		return err
	}
	data := escapeUnprintable(buffer.Bytes())
	switch p.format {
	case "kyaml":
		return new(kyaml.Encoder).FromYAML(bytes.NewReader(data), w)
	case "yaml":
		var err error
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
		if p.printed++; p.printed > 1 {
			data = append([]byte("---\n"), data...)
		}
	}
	_, err := w.Write(data)
	return err
}
