package cmdutil

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// OutputAPIVersion is the API group and version of our own JSON and YAML output.
const OutputAPIVersion = "batchjob.dev/v1alpha1"

// WriteDocument writes one of our own objects as JSON or YAML.
func WriteDocument(w io.Writer, format string, object any) error {
	var data []byte
	var err error
	if format == "yaml" {
		data, err = yaml.Marshal(object)
	} else {
		data, err = json.MarshalIndent(object, "", "    ")
		data = append(data, '\n')
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", format, err)
	}
	_, err = w.Write(data)
	return err
}

// UnknownOutput is the usage error for a value of -o.
func UnknownOutput(got string, allowed []string) error {
	return UsageErrorf("unknown output format %q; allowed are: %s", got, strings.Join(allowed, ", "))
}
