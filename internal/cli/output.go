package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// outputAPIVersion is the API group and version of our own JSON and YAML output.
const outputAPIVersion = "batchjob.dev/v1alpha1"

// writeDocument writes one of our own objects as JSON or YAML.
func writeDocument(w io.Writer, format string, object any) error {
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

// unknownOutput is the usage error for a value of -o.
func unknownOutput(got string, allowed []string) error {
	return usageErrorf("unknown output format %q; allowed are: %s", got, strings.Join(allowed, ", "))
}
